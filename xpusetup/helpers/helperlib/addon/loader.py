"""XPU for a torch that was built without it: the `__init__.py` of an add-on's package, which torch loads by itself.

`about.json` beside it says for which torch the libraries were compiled. Nothing is loaded into any other torch, nor
into one that has XPU. What is in the way is said as a warning: an error here would make `import torch` fail.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def load() -> None:
    """Give the torch that is being imported XPU, or say why not."""
    torch: Any = sys.modules["torch"]
    about: dict[str, Any] = json.loads((HERE / "about.json").read_text(encoding="utf-8"))
    why = refuse(torch, about)
    if not why:
        prepare(about)
        try:
            bindings = importlib.import_module(f"{__name__}._bindings")
            bindings.redirect(str(Path(torch.__file__).parent / "lib/libtorch_cpu.so"))
            bindings.bind(torch._C)
        except (ImportError, RuntimeError) as error:
            why = str(error)
    if why:
        warnings.warn(f"{about['name']} is not loaded: {why}", stacklevel=2)
        return
    torch._C._has_xpu = True
    torch.version.xpu = about["xpu"]
    renew(torch)


def refuse(torch: Any, about: dict[str, Any]) -> str:
    """Say why the libraries must not be loaded into a torch; empty where they may."""
    if torch._C._has_xpu:
        return f"torch {torch.__version__} has XPU of its own"
    if (torch.__version__, torch.version.git_version) != (about["torch"], about["torch_git"]):
        return f"it was built for torch {about['torch']}, and this is {torch.__version__}; build it for this one"
    return ""


def prepare(about: dict[str, Any]) -> None:
    """Set the variables that are read when the libraries are loaded."""
    # What has no kernel here runs on the CPU; torch-xpu-ops has that off by default.
    os.environ.setdefault("PYTORCH_ENABLE_XPU_FALLBACK", "1")
    if about["device"] == "processor":
        # OpenCL finds no processor by itself: the wheel of its run time registers it nowhere.
        os.environ.setdefault("OCL_ICD_FILENAMES", str(HERE.parents[2] / "libintelocl.so"))


def renew(torch: Any) -> None:
    """Run the modules of torch.xpu again: when they were imported, they made dummies of what was not there."""
    for name in [*(name for name in sys.modules if name.startswith("torch.xpu.")), "torch.xpu"]:
        importlib.reload(sys.modules[name])
    if torch.cuda._is_compiled():
        # torch.compile asks this, and a torch with CUDA asserts there that it has no XPU.
        mode = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode
        mode.avoid_device_init = property(lambda _mode: not (torch.xpu.is_available() or torch.cuda.is_available()))
