"""What a check has to be told before it may answer: facts that nobody told of are neither well nor amiss."""

from xpusetup.doctor.question import CheckAnswer
from xpusetup.machine.facts import Facts

GPUS, DRIVER, NODES = "hardware.gpus", "hardware.driver", "hardware.nodes"
ACCESS, GROUPS = "hardware.access", "system.groups"
MESSAGES, KERNEL = "kernel.messages", "kernel"
PACKAGES, LIBRARIES, LADDER = "userland.packages", "userland.libraries", "userland.level_zero"
TELLS: dict[str, tuple[str, ...]] = {
    "hw.intel_gpu_present": (GPUS,),
    "hw.gpu_supported_by_driver": (GPUS,),
    "hw.release_has_code": (GPUS,),
    "hw.small_bar": ("hardware.bar",),
    "fw.guc_missing": (MESSAGES,),
    "fw.gpu_hang": (MESSAGES,),
    "fw.gpu_wedged": (MESSAGES,),
    "kmd.force_probe": (KERNEL, GPUS, DRIVER),
    "kmd.blacklisted": ("kernel.cmdline", DRIVER),
    "kmd.bound": (GPUS, DRIVER),
    "kmd.compute_runtime_vs_kernel": (KERNEL, PACKAGES),
    "container.no_device": ("container", NODES),
    "perm.dri_nodes": (NODES,),
    "perm.container_gid": (ACCESS,),
    "perm.session": (ACCESS,),
    "perm.render_group": (ACCESS,),
    "umd.ze_intel_gpu": (LIBRARIES,),
    "umd.ze_loader": (LIBRARIES,),
    "umd.stock_ubuntu_too_old": (PACKAGES,),
    "umd.older_than_gpu": (PACKAGES, GPUS),
    "umd.mixed_driver_packages": (PACKAGES,),
    "umd.igc_incompatible": (LIBRARIES, LADDER),
    "umd.device_filter_env": ("environment",),
    "umd.ending_variables": ("environment",),
    "umd.ze_init": (LADDER,),
    "umd.opencl_icd": ("userland.opencl",),
    "umd.only_opencl_gpu": ("userland.sycl",),
    "runtime.ur_mixed": ("torch.conflicts",),
    "setvars.with_wheel": ("environment", "torch.distributions"),
    "setvars.completed": ("environment",),
    "setvars.conda_libstdcxx": ("torch.conflicts",),
    "runtime.libraries": ("torch.conflicts",),
    "runtime.packages": ("torch.conflicts",),
    "runtime.files": ("torch.conflicts",),
    "runtime.gone": ("torch.conflicts",),
    "known.bad": (KERNEL, GPUS, PACKAGES, "torch"),
    "torch.fits": ("torch.misfits",),
    "torch.is_xpu_build": ("torch", "torch.build"),
    "torch.import": ("torch.report",),
    "torch.available": ("torch.report",),
    "torch.ipex": ("torch.distributions",),
    "torch.fallback_env": ("environment",),
    "triton.package": ("torch.distributions",),
    "triton.compiler": ("tools",),
    "triton.ze_headers": ("userland.headers",),
}
"""The parts of facts without which a check knows nothing; without one of them it is well only where that is proven."""
FROM_ABSENCE: dict[str, tuple[str, ...]] = {
    "hw.intel_gpu_present": (GPUS,),
    "hw.multi_bmg_enum": (GPUS, LADDER),
    "kmd.bound": (DRIVER,),
    "perm.dri_nodes": (NODES,),
    "umd.opencl_icd": ("userland.opencl",),
    "torch.fits": ("torch.misfits",),
    "torch.is_xpu_build": ("torch", "torch.build"),
    "triton.compiler": ("tools",),
    "triton.ze_headers": ("userland.headers",),
    "hpu.modules": ("kernel.modules",),
    "npu.cann_env": ("environment",),
    "py.headers": ("python",),
    "py.venv": ("python",),
}
"""What a check calls amiss because it is not there, where that it is not there was not told."""
PROVEN = frozenset(
    (
        *("hw.intel_gpu_present", "kmd.force_probe", "kmd.blacklisted", "kmd.bound", "container.no_device"),
        *("perm.dri_nodes", "perm.container_gid", "perm.session", "perm.render_group", "fw.guc_missing"),
        *("umd.ze_intel_gpu", "umd.ze_loader", "umd.igc_incompatible"),
    )
)
"""What is well where Level Zero lists a GPU: it got there through all of these."""
OF_CONTAINERS = ("container.no_device", "perm.container_gid")
"""Of these: what is only asked in a container, of which a post may say nothing."""


def untold_parts(name: str, facts: Facts) -> tuple[str, ...]:
    """Give the parts of facts that a check wants and nobody told of."""
    return tuple(part for part in TELLS.get(name, ()) if not facts.is_told(part))


WHENCE = (
    *("hardware.gpus", NODES, ACCESS, PACKAGES, LIBRARIES, MESSAGES, KERNEL, "environment", "userland.opencl"),
    "userland.sycl",
)
"""From what the cause of a failure would be known."""
SYMPTOMS = ("umd.ze_init", "torch.available")


def _is_message(name: str, facts: Facts) -> bool:
    """Say whether a symptom is all that was told."""
    return name in SYMPTOMS and not any(facts.is_told(part) for part in WHENCE)


def judge_untold(name: str, facts: Facts, answer: CheckAnswer | None, *, whole: bool) -> CheckAnswer | None:
    """Give a check's answer as far as it follows from what was told; else that it is not known, and of what.

    `whole`: Level Zero lists every GPU that is told of.
    """
    if any(not facts.is_told(part) for part in FROM_ABSENCE.get(name, ())) and answer is not None:
        answer = None if answer.level in ("warn", "fail", "info") else answer
    if answer is not None and answer.level == "fail" and _is_message(name, facts):
        return CheckAnswer("unknown", f"{answer.seen}; nothing was told from which it follows")
    if answer is not None and answer.level not in ("ok", "info"):
        return answer
    missing = untold_parts(name, facts)
    if not missing or (answer is not None and answer.level == "info"):
        return answer
    if name in PROVEN and whole:
        return None if name in OF_CONTAINERS and answer is None else CheckAnswer("ok", "Level Zero lists a GPU")
    return CheckAnswer("unknown", f"not told: {', '.join(missing)}")
