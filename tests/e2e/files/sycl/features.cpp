// printf, a stream, inline assembly of the processor, a static device global, a function of another source.
#include <cstdio>
#include <sycl/ext/oneapi/device_global/device_global.hpp>
#include <sycl/sycl.hpp>
namespace oneapi = sycl::ext::oneapi::experimental;
static oneapi::device_global<int> counter;
SYCL_EXTERNAL int thrice(int);
int count_elsewhere(sycl::queue &);
class Prints;
class Streams;
class Counts;
class Calls;
class Assembles;
int main() {
  sycl::queue queue;
  int *value = sycl::malloc_shared<int>(1, queue);
  queue.single_task<Prints>([=] { oneapi::printf("printed %d\n", 42); }).wait();
  queue.submit([&](sycl::handler &handler) {
    sycl::stream out(1024, 256, handler);
    handler.single_task<Streams>([=] { out << "streamed " << 7 << sycl::endl; });
  }).wait();
  int start = 40;
  queue.copy(&start, counter).wait();
  queue.single_task<Counts>([=] { counter = counter + 2; }).wait();
  queue.copy(counter, value).wait();
  std::printf("counted %d, elsewhere %d\n", *value, count_elsewhere(queue));
  *value = 14;
  queue.single_task<Calls>([=] { *value = thrice(*value); }).wait();
  std::printf("called %d\n", *value);
  queue.single_task<Assembles>([=] {
    int here = *value;
#ifdef __SYCL_DEVICE_ONLY__
    asm("addl $1, %0" : "=r"(here) : "0"(here));
#endif
    *value = here;
  }).wait();
  std::printf("assembled %d\n", *value);
}
