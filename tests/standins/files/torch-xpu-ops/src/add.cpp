#include <sycl/sycl.hpp>

#if !defined(SYCL_LANGUAGE_VERSION)
#error "SYCL code wants the SYCL compiler"
#endif

#ifdef STANDIN_SYCL
// The section in which a real link leaves its device images.
__attribute__((section("__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen"), used)) static const char image[] = "device code";

extern "C" int torch_xpu_kernel_add() {
  return standin_sycl_submit("add");
}
#else
struct Add {
  int* sum;
  void operator()() const { *sum += 1; }
};

extern "C" int torch_xpu_kernel_add() {
  sycl::queue queue;
  int* sum = sycl::malloc_shared<int>(1, queue);
  *sum = 1;
  queue.single_task<Add>(Add{sum}).wait();
  int found = *sum;
  sycl::free(sum, queue);
  return found;
}
#endif
