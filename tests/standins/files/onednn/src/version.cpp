#include <oneapi/dnnl/dnnl.h>

const char* dnnl_version_hash() {
  return DNNL_VERSION_HASH;
}
