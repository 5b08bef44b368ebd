find_package(SYCLToolkit)
if(NOT SYCL_FOUND)
  message(WARNING
    "Could NOT find SYCL: ${SYCL_REASON_FAILURE}. Not compiling with XPU. "
    "Suppress this warning with -DUSE_XPU=OFF.")
  set(USE_XPU OFF CACHE BOOL "Use XPU" FORCE)
endif()
