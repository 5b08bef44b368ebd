#pragma once
#include <asmjit/asmjit.h>
#define FBGEMM_STANDIN (1 + ASMJIT_STANDIN)
