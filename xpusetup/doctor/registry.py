"""All checks in the order in which they are shown, and the one function that asks them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import get_args

from xpusetup.base.command import Advice, Command
from xpusetup.base.model import Finding, Fix, Goal
from xpusetup.doctor import (
    access,
    ages,
    combinations,
    extensions,
    firmware,
    gone,
    hardware,
    pytorch,
    resources,
    toolkit,
    userland,
    variables,
)
from xpusetup.doctor.known import judge_untold
from xpusetup.doctor.question import Check, CheckAnswer, CheckText, Question, kept_torch, lists_all
from xpusetup.machine.facts import Section
from xpusetup.machine.installs import keep_torch_all

BUILD: tuple[Goal, ...] = ("build",)
RUN: tuple[Goal, ...] = ("run",)


CHECKS: tuple[Check, ...] = (
    Check("hw.intel_gpu_present", hardware.check_gpu_present, ("hardware", "container")),
    Check("hw.legacy_gpu", ages.check_legacy, ("hardware",), RUN),
    Check("hw.gpu_supported_by_driver", hardware.check_supported, ("hardware",)),
    Check("hw.no_native_fp64", hardware.check_fp64, ("hardware",), RUN),
    Check("hw.small_bar", hardware.check_small_bar, ("hardware", "userland", "environment"), RUN),
    Check("hw.multi_bmg_enum", hardware.check_several_battlemage, ("hardware", "userland"), RUN),
    Check("fw.guc_missing", firmware.check_firmware, ("hardware", "kernel", "container", "userland"), RUN),
    Check("fw.gpu_wedged", firmware.check_wedged, ("hardware", "kernel", "container", "userland"), RUN),
    Check("fw.gpu_hang", firmware.check_hang, ("hardware", "kernel", "container"), RUN),
    Check("fw.bus_errors", firmware.check_bus, ("hardware", "kernel", "userland", "torch"), RUN),
    Check("kmd.pvc_needs_backports", hardware.check_max_driver, ("hardware", "kernel", "container"), RUN),
    Check("kmd.force_probe", hardware.check_known, ("system", "hardware", "kernel", "container"), RUN),
    Check("sys.glibc", ages.check_libc, ("system",)),
    Check(
        "sys.older_than_gpu",
        ages.check_system_for_gpu,
        ("system", "hardware", "kernel", "container", "userland", "torch"),
        RUN,
    ),
    Check("kmd.blacklisted", hardware.check_blacklist, ("hardware", "kernel", "container"), RUN),
    Check("kmd.bound", hardware.check_bound, ("hardware", "kernel", "container"), RUN),
    Check("kmd.xe_on_dg2_old_kernel", hardware.check_xe_on_alchemist, ("hardware", "kernel", "container"), RUN),
    Check(
        "kmd.compute_runtime_vs_kernel", hardware.check_driver_age, ("hardware", "kernel", "container", "userland"), RUN
    ),
    Check("wsl.dxg", access.check_wsl, ("container",), RUN),
    Check("container.no_device", access.check_container_device, ("hardware", "container"), RUN),
    Check("container.older_than_gpu", ages.check_image, ("hardware", "container", "userland", "torch"), RUN),
    Check("wsl.neo_old", access.check_wsl_driver, ("container", "userland"), RUN),
    Check("wsl.alloc_limit", access.check_wsl_limit, ("container",), RUN),
    Check("perm.not_a_device", access.check_fake_node, ("hardware",), RUN),
    Check("perm.dri_nodes", access.check_render_node, ("hardware", "container")),
    Check("perm.container_gid", access.check_container_group, ("hardware", "container"), RUN),
    Check("perm.session", access.check_session, ("system", "hardware", "container"), RUN),
    Check("perm.render_group", access.check_render_group, ("system", "hardware", "container")),
    Check("perm.sysman_perfmon", access.check_free_memory, ("torch",), RUN),
    Check("umd.ze_intel_gpu", userland.check_driver, ("userland",), RUN),
    Check("umd.ze_loader", userland.check_loader, ("userland",), RUN),
    Check("umd.stock_ubuntu_too_old", userland.check_stock, ("userland", "hardware"), RUN),
    Check("umd.older_than_gpu", ages.check_driver_for_gpu, ("userland", "hardware", "torch"), RUN),
    Check("umd.mixed_driver_packages", userland.check_mixed, ("userland",), RUN),
    Check("umd.igc_incompatible", userland.check_graphics_compiler, ("userland", "torch"), RUN),
    Check("umd.device_filter_env", userland.check_filters, ("userland", "environment", "torch"), RUN),
    Check("umd.ending_variables", variables.check_endings, ("environment",), RUN),
    Check(
        "known.bad",
        combinations.check_combinations,
        ("hardware", "kernel", "system", "container", "userland", "toolkits", "torch", "environment"),
        RUN,
    ),
    Check("umd.older_than_sycl", ages.check_driver_for_sycl, ("userland", "hardware", "torch"), RUN),
    Check("umd.not_listed", userland.check_every_gpu, ("hardware", "userland"), RUN),
    Check("umd.only_opencl_gpu", userland.check_only_opencl, ("userland",), RUN),
    Check("umd.ze_init", userland.check_ladder, ("userland",), RUN),
    Check("umd.opencl_icd", userland.check_opencl, ("userland", "environment"), RUN),
    Check("umd.loader_version", userland.check_loader_version, ("userland",), RUN),
    Check("umd.igpu_dgpu_mix", userland.check_both_kinds, ("hardware", "userland", "torch"), RUN),
    Check("oneapi.prelude", toolkit.check_prelude, ("toolkits",), BUILD),
    Check("oneapi.compiler", toolkit.check_compiler, ("toolkits",), BUILD),
    Check("oneapi.version_vs_torch", toolkit.check_version, ("toolkits",), BUILD),
    Check("dpclang.compiler", toolkit.check_open_compiler, ("toolkits", "system"), BUILD),
    Check("oneapi.mkl", toolkit.check_mkl, ("toolkits",), BUILD),
    Check("oneapi.pti", toolkit.check_pti, ("toolkits",), BUILD),
    Check("oneapi.ccl", toolkit.check_ccl, ("toolkits", "hardware"), BUILD),
    Check("oneapi.ocloc", toolkit.check_ocloc, ("toolkits",), BUILD),
    Check("oneapi.ocloc_knows_arch", toolkit.check_ocloc_targets, ("toolkits",), BUILD),
    Check("oneapi.no_space_left_cache", toolkit.check_caches, ("caches",), RUN),
    Check("runtime.ur_mixed", pytorch.check_runtime, ("torch",), RUN),
    Check("setvars.with_wheel", toolkit.check_with_wheel, ("environment", "torch"), RUN),
    Check("setvars.completed", toolkit.check_setvars, ("environment",)),
    Check("setvars.set_u", toolkit.check_nounset, ("environment",), BUILD),
    Check("setvars.ld_duplicates", toolkit.check_versions, ("environment",)),
    Check("setvars.preinstalled_onednn", toolkit.check_foreign_libraries, ("environment",), BUILD),
    Check("setvars.conda_libstdcxx", toolkit.check_libstdcxx, ("torch",), RUN),
    Check("runtime.libraries", pytorch.check_outside, ("torch",), RUN),
    Check("cc.gcc", toolkit.check_gcc, ("tools",), BUILD),
    Check("cc.gcc_version", toolkit.check_gcc_version, ("tools",), BUILD),
    Check("cc.gcc_fault", toolkit.check_gcc_faults, ("tools",), BUILD),
    Check("cc.gcc_warning", toolkit.check_gcc_warnings, ("tools",), BUILD),
    Check("cc.libstdcxx_dev", toolkit.check_compiler_variables, ("environment",), BUILD),
    Check("git.present", toolkit.check_git, ("tools",), BUILD),
    Check("cmake.version", toolkit.check_cmake, ("tools",), BUILD),
    Check("cmake.pip_vs_conda", toolkit.check_conda_cmake, ("environment", "python"), BUILD),
    Check("py.version", toolkit.check_python, ("python",)),
    Check("py.headers", toolkit.check_headers, ("python",), BUILD),
    Check("py.venv", toolkit.check_venv, ("python",)),
    Check("py.environment", toolkit.check_environment, ("python",), BUILD),
    Check("py.build_deps", toolkit.check_build_requirements, ("python",), BUILD),
    Check("py.numpy_abi", pytorch.check_numpy, ("torch",), RUN),
    Check("res.wheels_disk", resources.check_wheels_disk, ("resources", "hardware", "torch"), RUN),
    Check("res.disk", resources.check_disk, ("resources",), BUILD),
    Check("res.filesystem", resources.check_filesystem, ("resources",), BUILD),
    Check("res.memory_jobs", resources.check_memory, ("resources",), BUILD),
    Check("res.cgroup", resources.check_cgroup, ("resources",), BUILD),
    Check("net.git_reach", resources.check_reach, ("network",), BUILD),
    Check("net.wheels_reach", resources.check_downloads, ("network", "hardware", "torch"), RUN),
    Check("net.proxy", resources.check_proxy, ("network",), BUILD),
    Check("net.credentials", resources.check_credentials, ("network",), BUILD),
    Check("net.redirects", resources.check_redirects, ("network",), BUILD),
    Check("net.submodules", resources.check_submodules, ("tree",), BUILD),
    Check("net.tarball_checkout", resources.check_tarball, ("tree",), BUILD),
    Check("cmake.stale_cache", resources.check_cmake_cache, ("tree",), BUILD),
    Check("src.path", resources.check_path, ("resources",), BUILD),
    Check("src.dir_name", resources.check_folder_name, ("tree",), BUILD),
    Check("src.frontend", resources.check_frontend, ("tree",), BUILD),
    Check("src.torch_dir_shadow", resources.check_shadow, ("tree",), RUN),
    Check("hpu.present", extensions.check_gaudi, ("hardware",)),
    Check("hpu.modules", extensions.check_gaudi_modules, ("hardware", "kernel", "gaudi"), RUN),
    Check("hpu.release", extensions.check_gaudi_release, ("hardware", "gaudi", "torch"), RUN),
    Check("hpu.acquire", extensions.check_gaudi_free, ("hardware", "torch"), RUN),
    Check("hpu.lazy_mode", extensions.check_lazy_mode, ("hardware", "environment", "torch"), RUN),
    Check("hpu.torch_fork", extensions.check_gaudi_torch, ("torch",), RUN),
    Check("npu.present", extensions.check_ascend, ("hardware",)),
    Check("npu.cann_env", extensions.check_cann, ("hardware", "ascend", "environment"), RUN),
    Check("npu.torch", extensions.check_npu_torch, ("torch",), RUN),
    Check("npu.two_accelerators", extensions.check_two_accelerators, ("torch", "environment"), RUN),
    Check("autoload.entry_points", extensions.check_entries, ("torch", "hardware", "environment"), RUN),
    Check("autoload.build_time", extensions.check_autoload_builds, ("torch",), RUN),
    Check("hw.release_has_code", hardware.check_release, ("hardware",), RUN),
    Check("torch.ipex", pytorch.check_ipex, ("torch", "userland"), RUN),
    Check("torch.is_xpu_build", pytorch.check_build, ("torch", "userland"), RUN),
    Check("torch.companions", pytorch.check_companions, ("torch",), RUN),
    Check("torch.older_than_gpu", ages.check_torch_for_gpu, ("hardware", "userland", "torch"), RUN),
    Check("torch.pip_sycl_wheels", pytorch.check_pins, ("torch",), RUN),
    Check("torch.fits", pytorch.check_fits, ("torch",), RUN),
    Check("runtime.packages", pytorch.check_packages, ("torch",), RUN),
    Check("torch.libsycl_links", pytorch.check_libsycl, ("torch", "userland"), RUN),
    Check("torch.abi", pytorch.check_abi, ("torch", "environment"), RUN),
    Check("torch.fallback_env", pytorch.check_fallback, ("environment",), RUN),
    Check("runtime.gone", gone.check_gone, ("torch",), RUN),
    Check("torch.import", pytorch.check_import, ("torch",), RUN),
    Check("torch.available", pytorch.check_available, ("torch",), RUN),
    Check("triton.package", pytorch.check_package, ("torch",), RUN),
    Check("runtime.files", pytorch.check_files, ("torch",), RUN),
    Check("triton.compiler", pytorch.check_compiler, ("torch", "tools", "toolkits"), RUN),
    Check("triton.ze_headers", pytorch.check_headers, ("torch", "userland"), RUN),
)
SYMPTOMS = ("umd.ze_init", "umd.only_opencl_gpu", "torch.import", "torch.available")
"""What only says that nothing works: whatever else fails comes before it."""
OF_AN_AGE = ("hw.legacy_gpu", "umd.older_than_sycl")
"""What is true of a version whatever else fails, and often works: another cause comes before."""
DECIDED = ("sys.glibc",)
"""What is proven by itself: it comes before what follows from versions, or from what is not there."""
LOOKED = "looked"
"""The gap in the text of a check for what is known of its causes."""
BAD = ("fail", "crash")
WEIGHT = {"warn": 1, "fail": 2, "crash": 2}


def examine(
    question: Question, texts: Mapping[str, CheckText], *, only: Iterable[str] = (), skip: Iterable[str] = ()
) -> tuple[Finding, ...]:
    """Ask every check that applies. What follows from a cause that failed is skipped and names it."""
    asked = (set(only) or {check.id for check in CHECKS}) - set(skip)
    found: dict[str, Finding] = {}
    for check in CHECKS:
        if check.id in asked:
            text = texts[check.id]
            finding = _examine_one(check, question, text, found, whole=asked.issuperset(text.follows))
            if finding is not None:
                found[check.id] = finding
    return tuple(found.values())


def _examine_one(
    check: Check, question: Question, text: CheckText, found: Mapping[str, Finding], *, whole: bool
) -> Finding | None:
    answer = _ask(check, question)
    if answer is None:
        return None
    if LOOKED in answer.words and (said := _doubt(text, found, whole=whole)):
        answer = replace(answer, words={**answer.words, LOOKED: said})
    cause = next((name for name in text.follows if _outweighs(found, name, answer)), "")
    if cause:
        answer = CheckAnswer("skip", f"waits for {cause}", answer.words)
    quiet = answer.level in ("ok", "skip", "unknown")
    return Finding(
        id=check.id,
        area=text.area,
        level=answer.level,
        title=text.title,
        seen=answer.seen,
        why="" if quiet else _reason(text, answer),
        fix=Fix() if quiet else _keeping(_fix(text, answer), question),
        source=text.source,
        caused_by=(found[cause].caused_by or cause) if answer.level == "skip" else "",
    )


def _doubt(text: CheckText, found: Mapping[str, Finding], *, whole: bool) -> str:
    """Say what keeps the checks that one follows from from being well; empty where all were asked and are."""
    if not whole:
        return "The causes that it can have were not all looked at: <xpusetup doctor --for run>"
    unsure = [found[name].title for name in text.follows if name in found and found[name].level == "warn"]
    return f"Nothing that was looked at fails. There are warnings: {', '.join(unsure)}." if unsure else ""


def _reason(text: CheckText, answer: CheckAnswer) -> str:
    """Give why it matters: what a line was known to mean says more than the check's own words."""
    means = answer.words.get("means", "")
    return f"{means}." if means and "<means>" not in text.why else text.reason(answer.words)


def _fix(text: CheckText, answer: CheckAnswer) -> Fix:
    """Give what mends it, in the words of the line that told of it where it has some."""
    fix = text.fix(answer.words)
    own = Advice.read(answer.words.get("mend", "")) if answer.words.get("means") else ""
    if "commands" in answer.words:
        lines = tuple(map(Command, answer.words["commands"].splitlines()))
        return Fix(say=own, commands=(("any", lines),) if lines else ())
    return replace(fix, say=own) if own and "<mend>" not in text.say else fix


def _keeping(fix: Fix, question: Question) -> Fix:
    """Give a fix whose commands leave the torch that is there as it is."""
    torch = kept_torch(question)
    rows = ((family, tuple(keep_torch_all(lines, torch))) for family, lines in fix.commands)
    return replace(fix, commands=tuple((family, lines) for family, lines in rows if lines))


def _outweighs(found: Mapping[str, Finding], name: str, answer: CheckAnswer) -> bool:
    """Say whether an answer may be folded into a finding: never something that fails into what only warns."""
    if name not in found:
        return False
    root = found.get(found[name].caused_by, found[name])
    return 0 < WEIGHT.get(answer.level, 0) <= WEIGHT.get(root.level, 0)


def _ask(check: Check, question: Question) -> CheckAnswer | None:
    if question.goal not in check.goals:
        return None
    try:
        return judge_untold(check.id, question.facts, check.ask(question), whole=lists_all(question))
    except Exception as error:  # noqa: BLE001 - a check cannot kill the doctor, whatever the facts hold
        return CheckAnswer("crash", f"the check itself failed: {type(error).__name__}: {error}")


def sections_for(goals: Iterable[Goal], only: Iterable[str] = ()) -> tuple[Section, ...]:
    """Give the sections of the facts that the checks for these goals read, in their usual order."""
    wanted, asked = set(goals), set(only)
    checks = [check for check in CHECKS if wanted & set(check.goals) and (not asked or check.id in asked)]
    read = {section for check in checks for section in check.reads}
    return tuple(section for section in get_args(Section) if section in read)


def all_checks() -> tuple[str, ...]:
    return tuple(check.id for check in CHECKS)


def about_machine() -> tuple[str, ...]:
    """Give the checks that are about the machine and not about an environment on it, which can be left or made anew."""
    return tuple(check.id for check in CHECKS if "torch" not in check.reads)


def root_causes(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Give the ids of what fails by itself: first what is proven, last what may follow from anything."""
    causes = [finding.id for finding in findings if finding.level in BAD and not finding.caused_by]
    return tuple(sorted(causes, key=lambda name: (name in SYMPTOMS, name in OF_AN_AGE, name not in DECIDED)))
