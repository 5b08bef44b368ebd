// One source, kernels that ask for different aspects of a device, float, fp64 and fp16; and one that converts bfloat16.
#include <cstdio>
#include <sycl/sycl.hpp>
template <typename T> struct Scale {
  T *values, factor;
  void operator()(sycl::id<1> i) const { values[i] = values[i] * factor; }
};
template <typename T> void scale(sycl::queue &queue, const char *name) {
  T *values = sycl::malloc_shared<T>(64, queue);
  for (int i = 0; i < 64; i++) values[i] = T(i);
  queue.parallel_for(sycl::range<1>(64), Scale<T>{values, T(2)}).wait();
  double sum = 0;
  for (int i = 0; i < 64; i++) sum += double(values[i]);
  sycl::free(values, queue);
  std::printf("%s %g\n", name, sum);
}
int main() {
  sycl::queue queue;
  scale<float>(queue, "float");
  scale<sycl::ext::oneapi::bfloat16>(queue, "bfloat16");
  if (queue.get_device().has(sycl::aspect::fp64)) scale<double>(queue, "double");
  if (queue.get_device().has(sycl::aspect::fp16)) scale<sycl::half>(queue, "half");
}
