#include <sycl/ext/oneapi/device_global/device_global.hpp>
#include <sycl/sycl.hpp>
namespace oneapi = sycl::ext::oneapi::experimental;
static oneapi::device_global<int> counter;
class CountsElsewhere;
int count_elsewhere(sycl::queue &queue) {
  int *value = sycl::malloc_shared<int>(1, queue);
  queue.single_task<CountsElsewhere>([=] { counter = counter + 7; }).wait();
  queue.copy(counter, value).wait();
  return *value;
}
