#pragma once
#include <sycl/sycl.hpp>
struct AddOne {
  int *value;
  void operator()() const { *value += 1; }
};
int first(sycl::queue &, int *);
