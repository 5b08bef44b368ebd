#!/usr/bin/env bash
# Guess: ONEAPI_DEVICE_SELECTOR=opencl:cpu shows the CPU wherever *:cpu or no selector shows it.
# Seen: the list is empty. SYCL needs OpenCL alone then, and the wheel's libOpenCL.so.1 needs libsvml.so beside it without a RUNPATH. With
#   another selector the Level Zero adapter comes first, whether a GPU is there or not, and brings libsvml.so into the process.
# Why it matters: whoever checks kernels on the CPU, in CI or where no GPU is, names that very device and is told that there is none.
#   LD_LIBRARY_PATH=ENV/lib cures it, and so does "opencl:cpu;level_zero:gpu".
# Seen with: intel-sycl-rt 2026.2.0, intel-opencl-rt 2026.2.0, g++ 12, x86_64. Not with 2026.1.2.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install intel-sycl-rt==2026.2.0 intel-opencl-rt==2026.2.0 2>/dev/null
cat >"$work/count.cpp" <<'END'
#include <sycl/sycl.hpp>
#include <cstdio>
int main() { std::printf("%zu\n", sycl::device::get_devices(sycl::info::device_type::cpu).size()); }
END
g++ -std=c++17 -isystem "$work/env/include" "$work/count.cpp" -o "$work/count" -L"$work/env/lib" -lsycl -Wl,-rpath,"$work/env/lib"
export OCL_ICD_FILENAMES="$work/env/lib/libintelocl.so"
unset LD_LIBRARY_PATH ONEAPI_DEVICE_SELECTOR
count() { env "$@" "$work/count" 2>/dev/null; }
needs=$(readelf -d "$work/env/lib/libOpenCL.so.1" | grep -oE 'libsvml\.so|R(UN)?PATH' | xargs)
none=$(count) any=$(count ONEAPI_DEVICE_SELECTOR='*:cpu') alone=$(count ONEAPI_DEVICE_SELECTOR=opencl:cpu)
both=$(count ONEAPI_DEVICE_SELECTOR='opencl:cpu;level_zero:gpu') path=$(count ONEAPI_DEVICE_SELECTOR=opencl:cpu LD_LIBRARY_PATH="$work/env/lib")
printf '%s\n' "CPUs without a selector: $none" "*:cpu: $any" "opencl:cpu: $alone" "opencl:cpu;level_zero:gpu: $both" "opencl:cpu with LD_LIBRARY_PATH: $path" "libOpenCL.so.1 has: $needs"
[ "$none $any $alone $both $path $needs" = "1 1 0 1 1 libsvml.so" ] || { echo "changed"; exit 1; }
