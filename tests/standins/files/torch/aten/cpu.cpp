#include <c10/core.h>

namespace at {
std::string config() {
  return c10::describe("cpu");
}
}  // namespace at

extern "C" double torch_cpu_sum(const double* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += values[i];
  }
  return sum;
}
