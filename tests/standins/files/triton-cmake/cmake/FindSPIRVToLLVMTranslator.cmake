# As cmake/FindSPIRVToLLVMTranslator.cmake of 3.0 and 3.1: it clones beside the build, and looks for headers just there.
include(FetchContent)
include(FindPackageHandleStandardArgs)
if(NOT SPIRVToLLVMTranslator_FOUND)
  set(SPIRVToLLVMTranslator_SOURCE_DIR "${CMAKE_CURRENT_BINARY_DIR}/SPIRVToLLVMTranslator")
  file(READ spirv-llvm-translator.conf SPIRVToLLVMTranslator_TAG)
  string(STRIP "${SPIRVToLLVMTranslator_TAG}" SPIRVToLLVMTranslator_TAG)
  FetchContent_Declare(
    spirv-llvm-translator
    GIT_REPOSITORY https://github.com/KhronosGroup/SPIRV-LLVM-Translator.git
    GIT_TAG ${SPIRVToLLVMTranslator_TAG}
    SOURCE_DIR ${SPIRVToLLVMTranslator_SOURCE_DIR})
  FetchContent_MakeAvailable(spirv-llvm-translator)
  set(SPIRVToLLVMTranslator_INCLUDE_DIR "${SPIRVToLLVMTranslator_SOURCE_DIR}/include" CACHE INTERNAL "")
  find_package_handle_standard_args(
    SPIRVToLLVMTranslator FOUND_VAR SPIRVToLLVMTranslator_FOUND REQUIRED_VARS SPIRVToLLVMTranslator_SOURCE_DIR)
endif()
