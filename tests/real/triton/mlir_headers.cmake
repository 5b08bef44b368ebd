# MLIR's headers, compiled once for all libraries of Triton: most of the time of each source is theirs.
# CMake includes this behind project(triton) (CMAKE_PROJECT_triton_INCLUDE). Triton's own headers are left out: where those
# come first, names in some of its sources get another meaning.
function(use_mlir_headers)
  set(headers
    mlir/IR/BuiltinTypes.h mlir/IR/BuiltinAttributes.h mlir/IR/BuiltinOps.h mlir/IR/Builders.h
    mlir/IR/DialectImplementation.h mlir/IR/IRMapping.h mlir/IR/ImplicitLocOpBuilder.h mlir/IR/Matchers.h
    mlir/IR/PatternMatch.h mlir/IR/TypeUtilities.h mlir/Pass/Pass.h mlir/Pass/PassManager.h
    mlir/Analysis/SliceAnalysis.h mlir/Analysis/DataFlowFramework.h mlir/Dialect/Arith/IR/Arith.h
    mlir/Dialect/Math/IR/Math.h mlir/Dialect/SCF/IR/SCF.h mlir/Dialect/ControlFlow/IR/ControlFlowOps.h
    mlir/Dialect/Func/IR/FuncOps.h mlir/Dialect/UB/IR/UBOps.h mlir/Dialect/LLVMIR/LLVMDialect.h
    mlir/Dialect/LLVMIR/NVVMDialect.h mlir/Dialect/GPU/IR/GPUDialect.h mlir/Dialect/Tensor/IR/Tensor.h
    mlir/Conversion/LLVMCommon/Pattern.h mlir/Conversion/LLVMCommon/TypeConverter.h
    mlir/Transforms/DialectConversion.h mlir/Transforms/GreedyPatternRewriteDriver.h mlir/Transforms/Passes.h
    mlir/Interfaces/InferTypeOpInterface.h llvm/ADT/TypeSwitch.h llvm/ADT/MapVector.h llvm/ADT/SetVector.h)
  list(TRANSFORM headers REPLACE "(.+)" "<\\1>")
  if(NOT EXISTS ${CMAKE_BINARY_DIR}/mlir_headers.cpp)
    file(WRITE ${CMAKE_BINARY_DIR}/mlir_headers.cpp "")
  endif()
  add_library(mlir_headers OBJECT ${CMAKE_BINARY_DIR}/mlir_headers.cpp)
  target_compile_options(mlir_headers PRIVATE ${TRITON_DISABLE_EH_RTTI_FLAGS})
  target_precompile_headers(mlir_headers PRIVATE ${headers})
  get_property(libraries GLOBAL PROPERTY TRITON_LIBS)
  foreach(name ${libraries})
    get_target_property(options ${name} COMPILE_OPTIONS)
    get_target_property(type ${name} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY" AND options MATCHES "-fno-rtti")
      target_precompile_headers(${name} REUSE_FROM mlir_headers)
    endif()
  endforeach()
  # It calls a join that LLVM has too, in a header that it does not include itself.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/lib/Tools/LinearLayout.cpp
    TARGET_DIRECTORY TritonTools PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL use_mlir_headers)
