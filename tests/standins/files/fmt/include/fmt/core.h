#pragma once
#define FMT_STANDIN 1
