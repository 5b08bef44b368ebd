"""Targets made by hand: the same on every machine."""

from __future__ import annotations

from dataclasses import replace

from data.profiles import shipped
from xpusetup.base.model import Layout, Plan, Request, Target, Toolkit
from xpusetup.plan.steps import make_plan

PYTHON = "/usr/bin/python3.11"
ROOT_2025 = "/opt/intel/oneapi"
OLD_SCRIPTS = ("pytorch-gpu-dev-0.5/oneapi-vars.sh", "pti/latest/env/vars.sh")
NEW_SCRIPTS = tuple(f"{name}/latest/env/vars.sh" for name in ("compiler", "pti", "umf", "tcm", "ccl", "mpi"))


def toolkit(version: str, compiler: str, scripts: tuple[str, ...], *, at_run_time: bool = False) -> Toolkit:
    return Toolkit(
        provider="scripts",
        version=version,
        compiler=f"{ROOT_2025}/{compiler}/bin/icpx",
        root=ROOT_2025,
        scripts=tuple(f"{ROOT_2025}/{script}" for script in scripts),
        sets=("CMPLR_ROOT",),
        at_run_time=at_run_time,
    )


OLD_KIT = toolkit("2024.1.4", "pytorch-gpu-dev-0.5", OLD_SCRIPTS, at_run_time=True)
NEW_KIT = toolkit("2026.1.0", "compiler/latest", NEW_SCRIPTS)
SETVARS_KIT = replace(NEW_KIT, provider="setvars", scripts=(f"{ROOT_2025}/setvars.sh",))

SIM = Target(
    python=PYTHON,
    python_version="3.11",
    accelerator="simxpu",
    device_expected=True,
    compile_backend="aot_eager",
    collective_backend="simccl",
    gaps=("training.placement=accelerate knows no simxpu, and places every model on the CPU",),
)
CPU = Target(python=PYTHON, python_version="3.11", accelerator="cpu", compile_backend="inductor")
XPU = Target(
    python=PYTHON, python_version="3.11", accelerator="xpu", compile_backend="inductor", collective_backend="xccl"
)
OLD = replace(XPU, arch=("pvc", "xe-lpg", "ats-m150"), toolkit=OLD_KIT)
NEW_ARCH = ("pvc", "bmg", "dg2", "arl-h", "mtl-h", "lnl-m", "ptl-h", "ptl-u")
NEW = replace(XPU, arch=NEW_ARCH, toolkit=NEW_KIT)
TARGETS = {
    "sim": SIM,
    "torch-2.5": OLD,
    "torch-2.14": NEW,
    "torch-2.14-setvars": replace(NEW, toolkit=SETVARS_KIT),
}


def plan_for(name: str, request: Request | None = None, layout: Layout | None = None) -> Plan:
    """Give the plan of a golden case; its name begins with its profile's."""
    profile = shipped(name.removesuffix("-setvars"))
    return make_plan(profile, request or Request(), TARGETS[name], layout or Layout())
