#!/usr/bin/env bash
# Guess: PyTorch's device-generic tests (test/test_indexing.py and the like) run on XPU where torch has one, as they do on CUDA.
# Seen: instantiate_device_type_tests takes XPU only from a file that says allow_xpu=True, which few do. With the device asked for by
#   PYTORCH_TESTING_DEVICE_ONLY_FOR=xpu nothing is left, and pytest says that no tests ran.
# Why it matters: whoever counts failures alone takes that for a passed run. XPU's tests of these files are those of torch-xpu-ops,
#   in test/xpu, which import the classes and instantiate them for XPU.
# Seen with: torch 2.13.0+cpu, x86_64, Python 3.11; its sources of 2.6.0 have the same function.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install torch==2.13.0+cpu numpy==2.2.6 expecttest==0.3.0
PYTORCH_TESTING_DEVICE_ONLY_FOR=xpu "$work/env/bin/python" - <<'END'
import sys

from torch.testing._internal import common_device_type as generic

generic.TEST_XPU = True  # as where torch has XPU
usual, asked = (
    [base.device_type for base in generic.get_desired_device_type_test_bases(allow_xpu=allow)] for allow in (False, True)
)
print("tests are made for:", usual, "and with allow_xpu=True for:", asked)
sys.exit(0 if (usual, asked) == ([], ["xpu"]) else "changed: XPU is not left out, or cannot be asked for")
END
