// Launches the kernel that first.cpp launches too.
#include "shared_kernel.hpp"
#include <cstdio>
int main() {
  sycl::queue queue;
  int *value = sycl::malloc_shared<int>(1, queue);
  *value = 40;
  first(queue, value);
  queue.single_task(AddOne{value}).wait();
  std::printf("%d\n", *value);
}
