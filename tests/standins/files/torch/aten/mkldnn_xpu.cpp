#include <oneapi/dnnl/dnnl.h>

extern "C" const char* torch_xpu_onednn() {
  return dnnl_version_hash();
}
