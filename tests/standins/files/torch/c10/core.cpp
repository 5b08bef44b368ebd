#include <c10/core.h>
#include <fbgemm/fbgemm.h>
#include <fmt/core.h>

namespace c10 {
std::string describe(const std::string& what) {
  return what + ":" + std::to_string(FMT_STANDIN + FBGEMM_STANDIN);
}
const char* compiled_from() {
  return __FILE__;
}
}  // namespace c10
