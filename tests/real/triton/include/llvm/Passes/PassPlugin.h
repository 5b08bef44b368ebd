// LLVM 22.1 moved this header; Triton 3.7.0 and the translator of its time include it from here.
#include "llvm/Plugins/PassPlugin.h"
