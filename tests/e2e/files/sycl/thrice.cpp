#include <sycl/sycl.hpp>
SYCL_EXTERNAL int thrice(int value) { return 3 * value; }
