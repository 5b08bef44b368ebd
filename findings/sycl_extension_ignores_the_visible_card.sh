#!/usr/bin/env bash
# Guess: SyclExtension builds for the cards that are visible during the build. Its documentation says so, and CUDAExtension does so.
# Seen: no card is asked for. The list is the one that torch itself was compiled for, less every name that starts with dg2. A build
#   on an Arc A770 has machine code for pvc and others, and none for the A770. Another name of the same GPU, acm-g10, stays.
# Why it matters: on an Arc A card the extension is compiled again from SPIR-V when it is first used, and the build spends its time on
#   GPUs that the machine does not have. TORCH_XPU_ARCH_LIST=dg2 cures both.
# Seen with: torch 2.13.0+cpu told what it was compiled for, Python 3.11. Nothing is compiled.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/env"
"$work/env/bin/python" -m pip --disable-pip-version-check -q install --no-compile torch==2.13.0+cpu setuptools numpy 2>/dev/null
cat >"$work/look.py" <<'END'
import sys
from unittest import mock
import torch
from torch.utils import cpp_extension as ext

promised = "archs of the cards visible" in " ".join(ext.SyclExtension.__doc__.split())

def flags(*compiled_for):
    """Give the device flags of an extension where torch is compiled for these, and whether any card was asked for."""
    with (mock.patch("torch.xpu.get_arch_list", return_value=list(compiled_for)),
          mock.patch("torch.xpu.device_count", return_value=1) as count,
          mock.patch("torch.xpu.get_device_properties") as properties, mock.patch("torch.xpu.get_device_capability") as capability):
        compile_flags = []
        ext._append_sycl_targets_if_missing(compile_flags)
        made = ext._get_sycl_device_flags(compile_flags)
    return " ".join(made), any(each.called for each in (count, properties, capability))

default, asked = flags("pvc", "bmg", "dg2", "dg2-g11", "arl-h")
alias, _ = flags("pvc", "acm-g10")
alone, _ = flags("dg2")
print(f"documentation promises the visible cards: {promised}; a card was asked for: {asked}")
print(f"torch for pvc,bmg,dg2,dg2-g11,arl-h: {default}\ntorch for pvc,acm-g10: {alias}\ntorch for dg2: {alone}")
both = "-fsycl-targets=spir64_gen,spir64 -Xs"
seen = (f'{both} "-device pvc,bmg,arl-h"', f'{both} "-device pvc,acm-g10"', "-fsycl-targets=spir64")
sys.exit(0 if promised and not asked and (default, alias, alone) == seen else "changed")
END
env -u TORCH_XPU_ARCH_LIST "$work/env/bin/python" "$work/look.py"
