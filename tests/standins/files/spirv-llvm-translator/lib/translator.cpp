#include "LLVMSPIRVLib.h"

#include "spirv/unified1/spirv.hpp"

const char* translator() {
  return "SPIR-V " SPIRV_VERSION;
}
