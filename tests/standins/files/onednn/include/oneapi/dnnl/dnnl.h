#pragma once
#include <oneapi/dnnl/dnnl_config.h>

extern "C" const char* dnnl_version_hash();
