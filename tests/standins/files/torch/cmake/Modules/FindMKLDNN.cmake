# Stand-in for the XPU half of PyTorch's FindMKLDNN.cmake, from its file: up to 2.6 the oneDNN of the submodule of a
# submodule (pytorch v2.6.0, in Debian's source), then a clone that ninja makes in the middle of the build, at a tag
# (2.7.1 as steleman/pytorch-cuda-2.7.1@7fc6b405 has it, 2.9 as scm-repo-mirror/pytorch_pytorch@7fbca1d6), on main at a
# commit (pytorch@016b8e3d). No variable says where it lies, and nothing of it is tried before the first compiler runs.
include(ExternalProject)
include(ProcessorCount)
if(NOT EXISTS "${PROJECT_SOURCE_DIR}/third_party/ideep/mkl-dnn/CMakeLists.txt")
  execute_process(COMMAND git submodule update --init mkl-dnn WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/third_party/ideep")
endif()
ProcessorCount(_processors)
set(_make cmake --build .)
if(DEFINED ENV{MAX_JOBS} AND "$ENV{MAX_JOBS}" LESS_EQUAL ${_processors})
  list(APPEND _make -j "$ENV{MAX_JOBS}" -- -l "$ENV{MAX_JOBS}")
endif()
set(_c icx)
set(_cxx icpx)
if(@SYCL_OPEN@ AND "$ENV{XPU_SYCL_COMPILER}" MATCHES "dpclang")
  set(_c dpclang)  # as a FindMKLDNN.cmake with the oneDNN of 2.14 has it; that of 2.13 was not to be seen
  set(_cxx dpclang++)
endif()
ExternalProject_Add(xpu_mkldnn_proj
  @ONEDNN_SOURCE@
  PREFIX ${XPU_MKLDNN_DIR_PREFIX}
  BUILD_IN_SOURCE 0
  CMAKE_ARGS -DCMAKE_C_COMPILER=${_c} -DCMAKE_CXX_COMPILER=${_cxx} -DDNNL_GPU_RUNTIME=SYCL
             -DDNNL_CPU_RUNTIME=@ONEDNN_CPU_RUNTIME@ -DDNNL_BUILD_TESTS=OFF -DDNNL_BUILD_EXAMPLES=OFF
             -DONEDNN_BUILD_GRAPH=ON -DDNNL_LIBRARY_TYPE=STATIC -DDNNL_DPCPP_HOST_COMPILER=g++ -G ${CMAKE_GENERATOR}
  BUILD_COMMAND ${_make}
  BUILD_BYPRODUCTS "xpu_mkldnn_proj-prefix/src/xpu_mkldnn_proj-build/src/libdnnl.a"
  INSTALL_COMMAND "")
ExternalProject_Get_Property(xpu_mkldnn_proj SOURCE_DIR BINARY_DIR)
add_library(xpu_mkldnn INTERFACE)
add_dependencies(xpu_mkldnn xpu_mkldnn_proj)
target_link_libraries(xpu_mkldnn INTERFACE "${BINARY_DIR}/src/libdnnl.a")
target_include_directories(xpu_mkldnn INTERFACE "${SOURCE_DIR}/include" "${BINARY_DIR}/include")
