// A kernel that divides floats: its result is that of the host, to the last bit.
#include <cstdio>
#include <sycl/detail/core.hpp>
#include <sycl/usm.hpp>

struct Divide {
  float *at;
  void operator()(sycl::item<1> item) const { at[item] = at[item] / 3.0f; }
};

int main() {
  sycl::queue queue{sycl::cpu_selector_v};
  float *at = sycl::malloc_shared<float>(64, queue);
  for (int i = 0; i < 64; i++)
    at[i] = i;
  queue.parallel_for(sycl::range<1>(64), Divide{at}).wait();
  int wrong = 0;
  for (int i = 0; i < 64; i++)
    wrong += at[i] != i / 3.0f;
  std::puts(wrong ? "other than on the host" : "as on the host");
  sycl::free(at, queue);
}
