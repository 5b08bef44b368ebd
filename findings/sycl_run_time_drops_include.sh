#!/usr/bin/env bash
# Guess: build options of SYCL's run-time compiler (sycl_ext_oneapi_kernel_compiler) that it does not heed are an error, as -o and
#   -fsycl-targets are.
# Seen: `-include FILE` is dropped without a word, even where FILE does not exist. `-imacros FILE` and `-Xclang -include -Xclang FILE` work.
# Why it matters: a configuration header that a build passes with -include (as CMake's and autoconf's projects do) is silently missing on
#   the device side, so host and device can disagree about types.
# Seen with: intel-sycl-rt 2026.2.0, intel-opencl-rt 2026.2.0, g++ 12, x86_64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install intel-sycl-rt==2026.2.0 intel-opencl-rt==2026.2.0 2>/dev/null
echo '#define FROM_FILE 1' >"$work/settings.h"
cat >"$work/try.cpp" <<'END'
#include <sycl/sycl.hpp>
#include <cstdio>
#include <string>
#include <vector>
namespace experimental = sycl::ext::oneapi::experimental;

static bool builds(const sycl::queue& queue, const std::vector<std::string>& options) {
  const std::string source = R"(
#include <sycl/sycl.hpp>
#ifndef FROM_FILE
#error "the file was not included"
#endif
extern "C" SYCL_EXTERNAL SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void one(int* out) { *out = FROM_FILE; }
)";
  auto bundle = experimental::create_kernel_bundle_from_source(queue.get_context(), experimental::source_language::sycl, source);
  try {
    experimental::build(bundle, experimental::properties{experimental::build_options{options}});
    return true;
  } catch (const sycl::exception&) {
    return false;
  }
}

int main(int, char** words) {
  sycl::queue queue{sycl::cpu_selector_v};
  const std::string file = words[1], missing = file + ".missing";
  const bool dropped = !builds(queue, {"-include", file});
  const bool silent = builds(queue, {"-DFROM_FILE=2", "-include", missing});
  const bool macros = builds(queue, {"-imacros", file});
  const bool front = builds(queue, {"-Xclang", "-include", "-Xclang", file});
  std::printf("-include FILE: %s\n-include of a file that is missing: %s\n-imacros FILE: %s\n-Xclang -include -Xclang FILE: %s\n", dropped ? "not included" : "included",
              silent ? "no error" : "an error", macros ? "included" : "not included", front ? "included" : "not included");
  return dropped && silent && macros && front ? 0 : 1;
}
END
g++ -std=c++17 -isystem "$work/env/include" "$work/try.cpp" -o "$work/try" -L"$work/env/lib" -lsycl -Wl,-rpath,"$work/env/lib"
export LD_LIBRARY_PATH="$work/env/lib" OCL_ICD_FILENAMES="$work/env/lib/libintelocl.so" SYCL_CACHE_PERSISTENT=0
"$work/try" "$work/settings.h" || { echo "changed"; exit 1; }
