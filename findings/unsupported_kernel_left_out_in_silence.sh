#!/usr/bin/env bash
# Guess: building SYCL source at run time for a device throws, or says something in the log, where the device cannot take a kernel.
# Seen: the build succeeds with an empty log, and the bundle has no such kernel. has_kernel says no, and get_kernel says "not found", as
#   for a name that is spelt wrong. The other kernels of the source are there.
# Why it matters: sub-group sizes differ between Intel's GPUs. Whoever asks for one that this GPU lacks looks for a wrong name.
# Seen with: intel-sycl-rt 2026.2.0, intel-opencl-rt 2026.2.0 (a CPU with sub-groups of 4 to 64), g++ 12, x86_64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install intel-sycl-rt==2026.2.0 intel-opencl-rt==2026.2.0 2>/dev/null
cat >"$work/try.cpp" <<'END'
#include <sycl/sycl.hpp>
#include <cstdio>
#include <string>
namespace experimental = sycl::ext::oneapi::experimental;

int main() {
  sycl::queue queue{sycl::cpu_selector_v};
  const std::string source = R"(
#include <sycl/sycl.hpp>
namespace experimental = sycl::ext::oneapi::experimental;
#define KERNEL(size) extern "C" SYCL_EXTERNAL SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((experimental::nd_range_kernel<1>)) \
  SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((experimental::sub_group_size<size>)) void
KERNEL(16) fits(int* out) { *out = 1; }
KERNEL(128) too_wide(int* out) { *out = 2; }
)";
  std::string log, reason, nonsense;
  auto bundle = experimental::create_kernel_bundle_from_source(queue.get_context(), experimental::source_language::sycl, source);
  auto built = experimental::build(bundle, experimental::properties{experimental::save_log{&log}});
  auto get = [&](const std::string& name) -> std::string {
    try { built.ext_oneapi_get_kernel(name); return "got"; } catch (const sycl::exception& error) { return error.what(); }
  };
  bool listed = false;
  for (auto size : queue.get_device().get_info<sycl::info::device::sub_group_sizes>()) listed |= size == 128;
  std::printf("the device has sub-groups of 128: %d\nlog of the build: '%s'\nfits: %d, %s\ntoo_wide: %d, %s\nnonsense: %s\n", listed, log.c_str(), built.ext_oneapi_has_kernel("fits"),
              get("fits").c_str(), built.ext_oneapi_has_kernel("too_wide"), get("too_wide").c_str(), get("nonsense").c_str());
  return !listed && log.empty() && get("fits") == "got" && get("too_wide") == "kernel 'too_wide' not found in kernel_bundle" && get("nonsense") == "kernel 'nonsense' not found in kernel_bundle" ? 0 : 1;
}
END
g++ -std=c++17 -isystem "$work/env/include" "$work/try.cpp" -o "$work/try" -L"$work/env/lib" -lsycl -Wl,-rpath,"$work/env/lib"
export LD_LIBRARY_PATH="$work/env/lib" OCL_ICD_FILENAMES="$work/env/lib/libintelocl.so" SYCL_CACHE_PERSISTENT=0
"$work/try" || { echo "changed"; exit 1; }
