// A library that is opened and closed; two of them have different kernels of one name.
#include <sycl/sycl.hpp>
class Add;
extern "C" __attribute__((visibility("default"))) int add(int value) {
  sycl::queue queue;
  int *here = sycl::malloc_shared<int>(1, queue);
  *here = value;
  queue.single_task<Add>([=] { *here += SUMMAND; }).wait();
  int result = *here;
  sycl::free(here, queue);
  return result;
}
