set(TORCH_SYCL_DEFAULT_ROOTS /opt/intel/oneapi/compiler/latest)
find_package(SYCLToolkit)
if(NOT SYCL_FOUND)
  if(_USE_XPU_EXPLICITLY_SET)
    message(FATAL_ERROR
      "PyTorch: XPU was explicitly requested (USE_XPU=1), but the SYCL compiler "
      "cannot be found: ${SYCL_REASON_FAILURE}. Set USE_XPU=0 to build without XPU.")
  endif()
  message(WARNING
    "Could NOT find SYCL: ${SYCL_REASON_FAILURE}. Not compiling with XPU. "
    "Suppress this warning with -DUSE_XPU=OFF.")
  set(USE_XPU OFF CACHE BOOL "Use XPU" FORCE)
endif()
