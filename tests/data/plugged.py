"""Environments with extensions as the helper writes them down, by what is the matter with them."""

from __future__ import annotations

from typing import Any

from xpusetup.base.document import read_as
from xpusetup.machine.accelerators import Extensions, Presence

PREFIX = "/home/me/envs/train"
RULE = {"enabling": ["1"], "unset": True}
TORCH = {"version": "2.13.0+cpu", "said": {"__version__": "2.13.0+cpu"}, "place": f"{PREFIX}/torch/__init__.py"}
WELL = {"imported": True, "switch": RULE, "seconds": 1.25, "version": "2.13.0+cpu"}
NPU = {
    "name": "torch_npu",
    "value": "torch_npu:_autoload",
    "distribution": "torch-npu",
    "version": "2.13.0",
    "requires": ["torch==2.13.0.*"],
}
SIM = {"name": "simxpu", "value": "simxpu:_autoload", "distribution": "simxpu", "version": "1.0.0"}
STRANGE = {"name": "acme", "value": "acme.torch:load", "distribution": "acme-torch", "version": "0.3"}
FAILED = "RuntimeError: Failed to load the backend extension: {0}. You can disable it.; because {1}"
LIBRARY = "ImportError: libhccl.so: cannot open shared object file: No such file or directory"
TWO = "RuntimeError: Two accelerators cannot be used at the same time in PyTorch: npu and simxpu"
CARDS = {
    "npu": Presence(
        cards=("Ascend 910B at 0000:c1:00.0",), nodes=("/dev/davinci0",), script="/opt/set_env.sh", ready=False
    )
}


def failed(error: str) -> dict[str, Any]:
    return {"imported": False, "error": error, "seconds": 0.5}


def plugged(*entries: dict[str, Any], **more: Any) -> Extensions:
    """Give an environment with these entries."""
    base = {"python": f"{PREFIX}/bin/python", "prefix": PREFIX, "torch": TORCH, "entries": list(entries)}
    return read_as(Extensions, {**base, **more})


def loads(
    *each: dict[str, Any], together: dict[str, Any] | None = None, torch: dict[str, Any] = WELL
) -> dict[str, Any]:
    """Give what loading did; together it went as its first failure, unless something else is said."""
    bad = next((load for load in each if not load["imported"]), WELL)
    return {"torch": torch, "each": list(each), "together": together or bad}


UNFIT = {**NPU, "version": "2.14.0", "requires": ["torch==2.14.0.*"]}
BROKEN = failed(FAILED.format("torch_npu", LIBRARY))
MISSING = {**SIM, "found": False}
NO_MODULE = failed(FAILED.format("simxpu", "ModuleNotFoundError: No module named 'simxpu'"))
OLD = {"version": "2.4.0", "said": {}, "place": TORCH["place"]}
XPU = {"version": "2.13.0+xpu", "said": {"__version__": "2.13.0+xpu", "xpu": "20260100"}, "place": TORCH["place"]}
NIGHT = {**NPU, "requires": []}

CASES: dict[str, Extensions] = {
    "listed": plugged(SIM, STRANGE, compilers=[{**NPU, "name": "npugraphs", "value": "torch_npu.npu:graphs"}]),
    "no-torch": plugged(SIM, torch=None),
    "well": plugged(SIM, loads=loads(WELL)),
    "none": plugged(loads=loads(torch=WELL)),
    "broken": plugged(NPU, STRANGE, loads=loads(BROKEN, WELL)),
    "segfault": plugged(STRANGE, loads=loads(failed("the process was ended by SIGSEGV, at /x/acme/torch.py:3"))),
    "missing": plugged(MISSING, loads=loads(NO_MODULE)),
    "missing-listed": plugged(MISSING),
    "unfit": plugged(UNFIT, loads=loads(failed(LIBRARY))),
    "unfit-by-file": plugged({**UNFIT, "requires": []}, loads=loads(WELL)),
    "not-together": plugged(NPU, SIM, loads=loads(WELL, WELL, together=failed(TWO))),
    "beside-xpu": plugged(NIGHT, torch=XPU, loads=loads(WELL)),
    "beside-torchs-own": plugged(SIM, torch=XPU, loads=loads(WELL)),
    "two-well": plugged(SIM, STRANGE, loads=loads(WELL, WELL)),
    "torch-broken": plugged(SIM, loads={"torch": failed("ImportError: libc10.so"), "each": [], "together": None}),
    "off": plugged(SIM, switch="0", loads=loads(WELL)),
    "true": plugged(SIM, switch="true", loads=loads(WELL)),
    "empty": plugged(SIM, switch=""),
    "other-rule": plugged(SIM, loads=loads(WELL, torch={**WELL, "switch": {"enabling": ["1", "true"], "unset": True}})),
    "before-2.5": plugged(SIM, torch=OLD, loads=loads(WELL, torch={**WELL, "switch": None, "version": "2.4.0"})),
    "broken-before-2.5": plugged(
        SIM, torch=OLD, loads=loads(failed(LIBRARY), torch={**WELL, "switch": None, "version": "2.4.0"})
    ),
    "later": plugged(SIM, loads=loads({**WELL, "error": "the process was ended by SIGABRT"})),
}
