// Kernels in which each word for device code changes something: float, double and integers.
#include <cmath>
#include <cstddef>
#include <sycl/builtins.hpp>
#include <sycl/detail/core.hpp>

struct Floats {
  float *to;
  const float *from;
  int unused;
  void operator()(sycl::nd_item<1> item) const {
    std::size_t i = item.get_global_linear_id();
    float a = to[i], b = from[i], known = std::isnan(a) ? 1.f : std::isinf(b) ? 2.f : 0.f;
    float product = a * b;
    float sum = ((a + b) + a) + b + (a - a) + a * 0.0f;
    to[i] = product + a / b + std::sqrt(a) + sycl::exp(b) + sycl::sin(a) + known + sum;
  }
};

struct Doubles {
  double *to;
  const float *from;
  void operator()(sycl::nd_item<1> item) const {
    std::size_t i = item.get_global_linear_id();
    to[i] = to[i] * 3.0 + from[i] / 3.0;
  }
};

struct Whole {
  int *to;
  int count;
  void operator()(sycl::nd_item<1> item) const {
    int sum = 0;
    for (int k = 0; k < count; k++)
      sum += to[k] * k;
#ifdef OTHER
    sum += 7;
#endif
    to[item.get_global_id(0)] = sum;
  }
};

void launch(sycl::queue &queue, float *f, double *d, int *i) {
  sycl::nd_range<1> range(64, 16);
  queue.parallel_for<Floats>(range, Floats{f, f, 3});
  queue.parallel_for<Doubles>(range, Doubles{d, f});
  queue.parallel_for<Whole>(range, Whole{i, 8});
}
