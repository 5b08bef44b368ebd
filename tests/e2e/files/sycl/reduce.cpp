// Local memory, sub-groups of a size that is asked for, and atomics.
#include <cstdio>
#include <sycl/sycl.hpp>
class Reduce;
int main() {
  sycl::queue queue;
  const int count = 1024;
  int *in = sycl::malloc_shared<int>(count, queue), *out = sycl::malloc_shared<int>(1, queue);
  *out = 0;
  for (int i = 0; i < count; i++) in[i] = i;
  queue.submit([&](sycl::handler &handler) {
    sycl::local_accessor<int> parts(16, handler);
    handler.parallel_for<Reduce>(
        sycl::nd_range<1>(count, 256), [=](sycl::nd_item<1> item) [[sycl::reqd_sub_group_size(16)]] {
          auto group = item.get_sub_group();
          int sum = sycl::reduce_over_group(group, in[item.get_global_id(0)], sycl::plus<>());
          if (group.leader()) parts[group.get_group_linear_id()] = sum;
          sycl::group_barrier(item.get_group());
          if (item.get_local_id(0) != 0) return;
          int all = 0;
          for (int i = 0; i < 16; i++) all += parts[i];
          sycl::atomic_ref<int, sycl::memory_order::relaxed, sycl::memory_scope::device>(*out) += all;
        });
  }).wait();
  std::printf("%d\n", *out);
}
