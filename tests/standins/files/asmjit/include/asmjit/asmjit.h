#pragma once
#define ASMJIT_STANDIN 1
