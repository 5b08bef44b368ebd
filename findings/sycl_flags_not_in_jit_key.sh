#!/usr/bin/env bash
# Guess: torch.utils.cpp_extension.load() compiles again when any flag changes, as it does for extra_cflags and extra_cuda_cflags.
# Seen: extra_sycl_cflags is not part of what the versioner hashes. With a changed SYCL flag the version stays the same and the old
#   library is loaded.
# Why it matters: whoever tries -O0, -g or another -fsycl-device-code-split on a kernel measures the old binary and sees no error.
# Seen with: torch 2.13.0+cpu, Python 3.11. The versioner alone is asked; nothing is compiled.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install torch==2.13.0+cpu setuptools numpy 2>/dev/null
echo 'int one() { return 1; }' >"$work/one.sycl"
cat >"$work/look.py" <<'END'
import sys
from unittest import mock
from torch.utils import cpp_extension

source, folder = sys.argv[1:]

def version(**changed):
    """Ask which version of the extension these flags make; stop before anything is compiled."""
    lists = ("extra_cflags", "extra_cuda_cflags", "extra_sycl_cflags", "extra_ldflags", "extra_include_paths")
    words = {name: changed.get(name, []) for name in lists}
    with mock.patch.object(cpp_extension, "_write_ninja_file_and_build_library"), mock.patch.object(cpp_extension, "_import_module_from_library"):
        cpp_extension._jit_compile("one", [source], *words.values(), build_directory=folder, verbose=False, with_cuda=False,
                                   with_sycl=False, is_python_module=True, is_standalone=False)
    return cpp_extension.JIT_EXTENSION_VERSIONER.get_version("one")

first = version()
sycl = version(extra_sycl_cflags=["-O0"])
cxx = version(extra_cflags=["-O0"])
print(f"first {first}, with another extra_sycl_cflags {sycl}, with another extra_cflags {cxx}")
sys.exit(0 if first == sycl != cxx else "changed: SYCL flags count now, or others do not")
END
"$work/env/bin/python" "$work/look.py" "$work/one.sycl" "$work"
