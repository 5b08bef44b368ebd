#pragma once
#define STANDIN_SYCL 1
// Stand-in for SYCL: one call into the run-time library, so that the wheel really needs it.
extern "C" int standin_sycl_submit(const char* kernel);
