#include "shared_kernel.hpp"
int first(sycl::queue &queue, int *value) {
  queue.single_task(AddOne{value}).wait();
  return *value;
}
