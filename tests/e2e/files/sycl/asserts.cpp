#include <cassert>
#include <sycl/sycl.hpp>
class Asserts;
int main() {
  sycl::queue queue;
  int *value = sycl::malloc_shared<int>(1, queue);
  *value = 3;
  queue.single_task<Asserts>([=] { assert(*value == 4 && "the sum is four"); }).wait();
}
