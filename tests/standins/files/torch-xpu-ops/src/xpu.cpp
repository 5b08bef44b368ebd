#include <c10/core.h>

extern "C" int torch_xpu_kernel_add();
extern "C" int torch_xpu_kernel_nms();

extern "C" const char* torch_xpu_arch_flags() {
  return XPU_ARCH_FLAGS;
}

namespace at::xpu {
std::string launch() {
  return c10::describe(std::to_string(torch_xpu_kernel_add() + torch_xpu_kernel_nms()));
}
}  // namespace at::xpu
