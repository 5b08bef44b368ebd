#!/usr/bin/env bash
# Guess: a link named icpx that points to ccache, its documented way of standing in for a compiler, changes nothing but the speed of
#   building a SYCL extension of torch.
# Seen: torch takes SYCL_HOME from where the link ends, and /usr/bin/ccache makes it /usr. SYCL's own headers are not on the path, and
#   cpp_extension.load() passes -isystem /usr/include, with which g++ does not find <math.h> from <cmath> any more.
# Why it matters: the build ends with an error about a header of the C library, and nothing in it points to ccache.
# Seen with: torch 2.13.0+cpu told that it has XPU, intel-sycl-rt 2026.2.0, Python 3.11, g++ 12, x86_64. /usr/bin/env stands for ccache
#   here, since only its place counts.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install --no-compile torch==2.13.0+cpu setuptools numpy intel-sycl-rt==2026.2.0 2>/dev/null
mkdir "$work/links"
ln -s /usr/bin/env "$work/links/icpx"
cat >"$work/look.py" <<'END'
import sys
from unittest import mock
import torch

torch.xpu._is_compiled = lambda: True  # before cpp_extension asks
from torch.utils import cpp_extension as ext

rules = sys.argv[1]
with mock.patch.object(ext, "_get_icpx_version", return_value="20260200"), mock.patch("torch.xpu.get_arch_list", return_value=["pvc"]):
    ext._write_ninja_file_to_build_library(rules, "one", ["one.cpp", "two.sycl"], [], [], [], [], [], False, True, False)
print("SYCL_HOME", ext.SYCL_HOME)
END
printf '#include <cmath>\nint main() {}\n' >"$work/one.cpp"
look() { "$work/env/bin/python" "$work/look.py" "$work/build.ninja" 2>/dev/null | tail -1; }
compiles() {
  local words
  read -ra words < <(sed -n 's/^cflags = //p' "$work/build.ninja" | grep -oE -- '-isystem [^ ]+' | xargs)
  g++ "${words[@]}" -fsyntax-only "$work/one.cpp" 2>"$work/said" && echo compiles || grep -m 1 -oE '[a-z]+\.h: No such file.*' "$work/said"
}
plain=$(look); plain_says=$(compiles)
linked=$(PATH="$work/links:$PATH" look); linked_says=$(compiles)
printf '%s\n' "without the link: ${plain//$work/...}; #include <cmath>: $plain_says" "with it: $linked; #include <cmath>: $linked_says"
[[ $plain == "SYCL_HOME $work/env" && $plain_says == compiles && $linked == "SYCL_HOME /usr" && $linked_says == "math.h: No such file"* ]] || { echo "changed"; exit 1; }
