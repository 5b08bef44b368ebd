"""The host's compilers, the toolkit with its parts, and what setvars.sh leaves in the shell."""

import re

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from xpusetup.base.model import Level
from xpusetup.config.toolkit import ToolkitWanted
from xpusetup.doctor.pytorch import describe, driver_conflict
from xpusetup.doctor.question import CheckAnswer, Question, distribution, family, intel_gpus, is_xpu, variable
from xpusetup.machine.facts import NO_COMPILER, NOT_TOLD, PRELUDE, Toolkits, ToolkitSeen
from xpusetup.machine.gpus import hide_integrated
from xpusetup.machine.jobs import GIB
from xpusetup.machine.toolkits import find_refusal, found_toolkits, say_others, usable_toolkits
from xpusetup.machine.works import torch_works

# What the shell carries: setvars.sh and the traps that it sets for wheels, scripts and builds.


ONEAPI = re.compile(r"/oneapi/|/intel/oneapi|/inteloneapi/|/intel/(?:compiler|mkl|ccl|pti|tbb|dpcpp|deep-learning)\b")
COMPILER = re.compile(r"/compiler/(\d{4}\.\d+(?:\.\d+)?)/")
RUNTIMES = ("intel-sycl-rt", "intel-cmplr-lib-ur", "dpcpp-cpp-rt")
LISTS = ("LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH")


def check_with_wheel(question: Question) -> CheckAnswer | None:
    """Look for a toolkit on the library path before wheels that bring their own runtime."""
    torch = question.facts.torch
    if not is_xpu(question) or torch is None or question.facts.environment is None:
        return None
    brought = [f"{name} {version}" for name in RUNTIMES if (version := distribution(question, name))]
    brought = brought or ([f"torch {torch.version}"] if (torch.version or "").endswith("+xpu") else [])
    first = [folder for folder in variable(question, "LD_LIBRARY_PATH").split(":") if ONEAPI.search(folder)]
    if not brought:
        return None
    if not first:
        return CheckAnswer("ok", f"none; {brought[0]} is the environment's own")
    broken = torch.report is not None and (torch.report.error or torch.report.available is False)
    return CheckAnswer("fail" if broken else "warn", f"{first[0]} comes before {brought[0]}{torch.place}")


def check_nounset(question: Question) -> CheckAnswer | None:
    """Look for a shell whose scripts run under set -u."""
    if question.profile.toolkit is None or "nounset" not in variable(question, "SHELLOPTS").split(":"):
        return None
    return CheckAnswer("info", "SHELLOPTS is exported and holds nounset")


def check_versions(question: Question) -> CheckAnswer | None:
    """Look for several versions of the compiler in one search path."""
    if question.profile.toolkit is None or question.facts.environment is None:
        return None
    for name in LISTS:
        found = sorted(set(COMPILER.findall(variable(question, name))))
        if len(found) > 1:
            return CheckAnswer("warn", f"{name} holds {' and '.join(found)}")
    return CheckAnswer("ok", "at most one")


def check_foreign_libraries(question: Question) -> CheckAnswer | None:
    """Look for the libraries that all of setvars.sh brings and a build does not want."""
    if question.profile.toolkit is None or question.facts.environment is None:
        return None
    there = [name for name in ("DNNLROOT", "CCL_ROOT") if variable(question, name)]
    if not there:
        return None
    return CheckAnswer("info", ", ".join(f"{name}={variable(question, name)}" for name in there))


def check_libstdcxx(question: Question) -> CheckAnswer | None:
    """Hold the C++ library of a conda environment against what the driver asks for, else against the system's."""
    torch = question.facts.torch
    if torch is None or not is_xpu(question):
        return None
    proven = driver_conflict(torch)
    if proven is not None:
        return CheckAnswer("fail", describe([proven]), {"prefix": torch.prefix})
    if torch.glibcxx is None or torch.glibcxx_system is None:
        return None
    seen = f"GLIBCXX_3.4.{torch.glibcxx} in {torch.prefix}, 3.4.{torch.glibcxx_system} in the system"
    return CheckAnswer("fail" if torch.glibcxx < torch.glibcxx_system else "ok", seen, {"prefix": torch.prefix})


# Compilers, git and Python: what every build needs, whatever it builds for.


NOT_GCC = re.compile(r"(?:^|[/\s])(icpx|icx|dpcpp|clang)")
VERSION = re.compile(r"(\d+\.\d+(?:\.\d+)?)\s*(?:\d{8})?.*$")


def gcc_version(line: str) -> str | None:
    """Read GCC's version from the first line of `g++ --version`, which a distribution may have put words into."""
    found = re.findall(r"(?<![\d.~-])(\d+\.\d+\.\d+)(?![\d.])", line.rsplit(")", 1)[-1]) or VERSION.findall(line)
    return found[0] if found else None


def check_gcc(question: Question) -> CheckAnswer | None:
    if question.facts.tools is None or question.goal == "run":
        return None
    tool = question.facts.tool("g++")
    if tool is None:
        return CheckAnswer("fail", "no g++ on PATH")
    if "/" not in tool.path:
        return CheckAnswer("fail", f"the settings name {tool.path} as cxx, and it is not on PATH")
    if "clang" in (tool.version or "").lower() or "intel" in (tool.version or "").lower():
        return CheckAnswer("fail", f"{tool.path} is not GCC: {tool.version}")
    return CheckAnswer("ok", f"{tool.path}: {tool.version}")


def check_gcc_version(question: Question) -> CheckAnswer | None:
    tool, wanted = question.facts.tool("g++"), question.profile.gcc
    if question.facts.tools is None or question.goal == "run" or not wanted:
        return None
    version = gcc_version(tool.version or "") if tool else None
    if version is None:
        return CheckAnswer("warn", "its version cannot be read", {"gcc": wanted})
    fits = SpecifierSet(wanted).contains(version)
    return CheckAnswer("ok" if fits else "fail", f"{version} (needed: {wanted})", {"gcc": wanted})


def check_gcc_faults(question: Question) -> CheckAnswer | None:
    """Look for a version of GCC that fails on these sources, or that they treat too strictly."""
    return _check_faults(question, with_flags=False)


def check_gcc_warnings(question: Question) -> CheckAnswer | None:
    """Look for a version of GCC whose warnings these sources take for errors, where flags help."""
    return _check_faults(question, with_flags=True)


def _check_faults(question: Question, *, with_flags: bool) -> CheckAnswer | None:
    tool = question.facts.tool("g++")
    version = gcc_version(tool.version or "") if tool else None
    faults = [each for each in question.profile.gcc_faults if bool(each.flags) == with_flags]
    if question.goal == "run" or version is None or not faults:
        return None
    found = [each for each in faults if SpecifierSet(each.versions).contains(version)]
    if not found:
        return None
    worst = next((each for each in found if each.stops), found[0])
    words = {"why": worst.why, "flags": worst.flags, "profile": question.profile.name}
    return CheckAnswer("fail" if worst.stops else "warn", version, words)


def check_git(question: Question) -> CheckAnswer | None:
    if question.facts.tools is None or question.goal == "run":
        return None
    tool = question.facts.tool("git")
    return CheckAnswer("fail", "no git on PATH") if tool is None else CheckAnswer("ok", tool.version or tool.path)


def check_python(question: Question) -> CheckAnswer | None:
    python, wanted = question.facts.python, question.profile.python
    if python is None:
        return None
    fits = SpecifierSet(wanted).contains(python.version) and not python.free_threaded
    what = f"{python.version}, free-threaded," if python.free_threaded else python.version
    seen = f"{what} at {python.executable} (needed: {wanted})"
    words = {
        "means": f"This release supports Python {wanted}",
        "mend": "Name one that fits: --python 3.11 (or a path).",
    }
    return CheckAnswer("ok" if fits else _unless_served(question), seen, words)


def _unless_served(question: Question) -> Level:
    """Give how much it matters that no environment can be made: nothing where a PyTorch of another one works."""
    return "info" if question.goal == "run" and torch_works(question.facts) else "fail"


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def check_headers(question: Question) -> CheckAnswer | None:
    python = question.facts.python
    if python is None or question.goal == "run":
        return None
    words = {"minor": _minor(python.version)}
    return CheckAnswer("ok", "Python.h", words) if python.headers else CheckAnswer("fail", "no Python.h", words)


def check_venv(question: Question) -> CheckAnswer | None:
    python = question.facts.python
    if python is None or python.adopted is not None:
        return None
    words = {"minor": _minor(python.version)}
    lacks = CheckAnswer(_unless_served(question), "no venv or ensurepip", words)
    return CheckAnswer("ok", "venv, ensurepip", words) if python.venv else lacks


def check_environment(question: Question) -> CheckAnswer | None:
    """Say what the build installs into, and refuse an environment that is not there to be installed into."""
    python = question.facts.python
    if python is None or question.goal == "run":
        return None
    there = python.adopted
    if there is None:
        return CheckAnswer("ok", "a new one")
    if there.refused:
        return CheckAnswer("fail", f"{there.prefix}: {there.refused}", {"mend": there.fix})
    what = {"venv": "a venv", "conda": "a conda environment", "interpreter": "an interpreter"}[there.kind]
    if there.notes:
        return CheckAnswer("warn", f"{there.prefix}, {what}", {"mend": there.notes[0]})
    return CheckAnswer("ok", f"{there.prefix}, {what} of Python {python.version}, {len(there.installed)} distributions")


def check_compiler_variables(question: Question) -> CheckAnswer | None:
    """Look for a device compiler that the shell names for host code."""
    environment = question.facts.environment
    if environment is None or question.profile.toolkit is None:
        return None
    named = {name: environment[name] for name in ("CC", "CXX") if name in environment}
    other = [f"{name}={value}" for name, value in named.items() if NOT_GCC.search(value)]
    if other:
        return CheckAnswer("info", f"{', '.join(other)}: not passed on to a build")
    return CheckAnswer("ok", ", ".join(f"{name}={value}" for name, value in named.items()) or "not set")


def check_cmake(question: Question) -> CheckAnswer | None:
    """Say which CMake builds: the one of its own requirements, whatever is on PATH."""
    tool, wanted = question.facts.tool("cmake"), question.profile.cmake
    if question.facts.tools is None or not wanted:
        return None
    pins = (Requirement(pin) for pin in question.profile.build_requirements.pins)
    brought = next((str(pin.specifier).removeprefix("==") for pin in pins if pin.name == "cmake"), "")
    found = re.search(r"\d+\.\d+(\.\d+)?", tool.version or "") if tool else None
    here = found[0] if found else ""
    words = {"cmake": wanted}
    if brought:
        beside = f", and not the {here} on PATH" if here else ""
        return CheckAnswer("ok", f"the build brings {brought}{beside}", words)
    fits = bool(here) and SpecifierSet(wanted).contains(here)
    return CheckAnswer("ok" if fits else "fail", f"{here or 'none'} on PATH (needed: {wanted})", words)


def check_conda_cmake(question: Question) -> CheckAnswer | None:
    """Look for a conda environment that a CMake from elsewhere does not search."""
    environment, python = question.facts.environment, question.facts.python
    if environment is None or python is None or python.adopted is None or python.adopted.kind != "conda":
        return None
    prefix = python.adopted.prefix
    told = prefix in environment.get("CMAKE_PREFIX_PATH", "").split(":")
    return CheckAnswer("ok" if told else "info", f"CMAKE_PREFIX_PATH {'holds' if told else 'does not hold'} {prefix}")


def check_build_requirements(question: Question) -> CheckAnswer | None:
    """Say what a build would add to an environment that is there."""
    python = question.facts.python
    if python is None or python.adopted is None or python.adopted.refused:
        return None
    pins = [Requirement(pin) for pin in question.profile.build_requirements.pins]
    there = python.adopted.installed
    wanted = [pin for pin in pins if pin.marker is None or pin.marker.evaluate({"python_full_version": python.version})]
    new = [str(pin) for pin in wanted if not pin.specifier.contains(there.get(pin.name.lower(), "0"), prereleases=True)]
    return (
        CheckAnswer("info", f"the build installs {len(new)}, such as {new[0]}")
        if new
        else CheckAnswer("ok", "all are there")
    )


# The toolkit: whether a compiler is there that this profile can use, and setvars.sh is not in the way.


UNKNOWN_VERSION = "Other versions give compile errors, or wheels that need another libsycl than the one they find"
"""What is said where the profile has no reason of its own against a version."""


def words_of(wanted: ToolkitWanted, others: str = "") -> dict[str, str]:
    """Give what a toolkit's fix is made of: its name, packages and where they come from; what would serve besides."""
    packages = wanted.packages
    return {
        "toolkit": wanted.title,
        "others": others,
        "apt": " ".join(packages.apt),
        "apt_source": packages.apt_source,
        "rpm": " ".join(packages.rpm),
        "rpm_source": packages.rpm_source,
        "key": packages.key,
        "page": packages.page or wanted.source,
    }


def _by_site(seen: Toolkits, wanted: ToolkitWanted) -> dict[str, str]:
    """Give the words of a fix where the site switches the toolkit on: packages of the system would not be used."""
    if not seen.by_site:
        return {}
    mend = f"Correct {seen.by_site}, or what it loads: icpx of {wanted.title} has to be on PATH ({wanted.accepts})."
    return {"means": f"Nothing can compile for XPU without {wanted.title}", "mend": mend, "commands": ""}


def check_prelude(question: Question) -> CheckAnswer | None:
    """Look whether what the site switches its toolkit on with does so."""
    told = question.facts.notes.get(PRELUDE, "")
    if question.profile.toolkit is None or question.facts.toolkits is None or question.goal == "run":
        return None
    of_modules = "[toolkit] modules" in told or told.startswith("`module ")
    words = {} if of_modules else {"means": SWITCHES, "mend": "Correct that line.", "commands": ""}
    return CheckAnswer("fail", told, words) if told else None


SWITCHES = "This line is to switch the toolkit on, in a clean shell. Without it there is no compiler"


def check_compiler(question: Question) -> CheckAnswer | None:
    wanted, seen = question.profile.toolkit, question.facts.toolkits
    if wanted is None or wanted.kind != "oneapi" or seen is None or question.goal == "run":
        return None
    if not (found := found_toolkits(wanted, question.facts)):
        words = words_of(wanted, say_others(question.profile, question.facts)) | _by_site(seen, wanted)
        where = f"on PATH after {seen.by_site}" if seen.by_site else f"below {', '.join(seen.searched)}"
        return CheckAnswer("fail", f"no icpx {where}", words)
    return CheckAnswer("ok", ", ".join(f"{kit.compiler} ({kit.version or 'no version'})" for kit in found))


def check_version(question: Question) -> CheckAnswer | None:
    wanted, seen = question.profile.toolkit, question.facts.toolkits
    if wanted is None or wanted.kind != "oneapi" or seen is None or question.goal == "run":
        return None
    usable, found = usable_toolkits(wanted, question.facts), found_toolkits(wanted, question.facts)
    if usable:
        words = {**words_of(wanted, say_others(question.profile, question.facts)), "why": UNKNOWN_VERSION}
        return CheckAnswer("ok", f"{usable[0].version} (accepted: {wanted.accepts})", words)
    there = ", ".join(kit.version or "unknown" for kit in found) or "none"
    known = next(filter(None, (find_refusal(wanted, kit.version) for kit in found)), UNKNOWN_VERSION)
    words = {**words_of(wanted, say_others(question.profile, question.facts)), "why": known[:1].upper() + known[1:]}
    words |= _by_site(seen, wanted)
    return CheckAnswer("fail", f"here: {there}; accepted: {wanted.accepts}", words)


def check_open_compiler(question: Question) -> CheckAnswer | None:
    """Look for the open DPC++ where the profile is compiled with it, and hold its version against what is accepted."""
    wanted, seen = question.profile.toolkit, question.facts.toolkits
    if wanted is None or wanted.kind != "dpclang" or seen is None or question.goal == "run":
        return None
    found, usable = found_toolkits(wanted, question.facts), usable_toolkits(wanted, question.facts)
    packages = wanted.packages.own(question.facts.system.places if question.facts.system else ())
    words = {"packages": " ".join(packages), "page": wanted.packages.page}
    if usable:
        return CheckAnswer("ok", f"{usable[0].compiler} ({usable[0].version}; accepted: {wanted.accepts})", words)
    if not found:
        return CheckAnswer("fail", "no dpclang++ on PATH", words)
    why = next(filter(None, (find_refusal(wanted, kit.version) for kit in found)), "")
    there = ", ".join(kit.version or "unknown" for kit in found)
    return CheckAnswer("fail", f"here: {there}; accepted: {wanted.accepts}{f': {why}' if why else ''}", words)


def _is_about_torch(question: Question) -> bool:
    """Say whether a torch is here or asked about; in what was pasted none that works, nor other packages."""
    torch, facts = question.facts.torch, question.facts
    if torch is None or NOT_TOLD not in facts.notes.values():
        return torch is not None or facts.is_told("torch")
    named = any(name.startswith(("torch", "intel-extension-for")) for name in torch.distributions)
    return (named or bool(torch.version) or torch.report is not None) and not torch_works(facts)


def check_setvars(question: Question) -> CheckAnswer | None:
    """Look for setvars.sh in this shell: fine for building, wrong for running."""
    environment = question.facts.environment
    if question.profile.toolkit is None or environment is None:
        return None
    if environment.get("SETVARS_COMPLETED") == "1":
        level: Level = "warn" if question.goal == "run" and _is_about_torch(question) else "info"
        return CheckAnswer(level, "setvars.sh was sourced in this shell")
    return CheckAnswer("ok", "not sourced in this shell")


# The parts of a toolkit: device compiler, libraries that a profile's build asks for, and the compilers' caches.


ROOM = GIB


def _kit(question: Question) -> ToolkitSeen | None:
    """Give the toolkit that a build would take, where its parts were looked at."""
    wanted = question.profile.toolkit
    kits = (usable_toolkits(wanted, question.facts) or found_toolkits(wanted, question.facts)) if wanted else []
    return next((kit for kit in kits if kit.parts is not None), None)


def _wanted(question: Question) -> set[str]:
    """Give the components whose scripts the profile's build sources, and oneMKL where the wheels will require it."""
    toolkit, runtime = question.profile.toolkit, question.profile.runtime_requirements
    sourced = {script.partition("/")[0] for script in toolkit.scripts} if toolkit else set()
    required = any(pin.startswith("onemkl-sycl") for pin in (runtime.pins if runtime else []))
    return {*sourced, "mkl"} if required else sourced


def _check_part(question: Question, part: str, lacking: Level) -> CheckAnswer | None:
    """Look for a part. Its lack is no failure: the configure step stops at it within a minute, where it matters."""
    kit, toolkit = _kit(question), question.profile.toolkit
    if kit is None or toolkit is None or part not in _wanted(question):
        return None
    if part in (kit.parts or []):
        return CheckAnswer("ok", f"{kit.root}/{part}", words_of(toolkit))
    return CheckAnswer(lacking, f"no {kit.root}/{part}", words_of(toolkit))


def check_mkl(question: Question) -> CheckAnswer | None:
    return _check_part(question, "mkl", "warn")


def check_pti(question: Question) -> CheckAnswer | None:
    return _check_part(question, "pti", "warn")


def check_ccl(question: Question) -> CheckAnswer | None:
    """Look for oneCCL, without which there is no XCCL: several GPUs would not compute together."""
    kinds = [kind for gpu in intel_gpus(question) if (kind := family(question, gpu)) is not None]
    return _check_part(question, "ccl", "warn" if len(hide_integrated(kinds, lambda kind: kind)) > 1 else "info")


def _targets(question: Question) -> list[str]:
    return question.profile.arch.default if question.profile.arch else []


WITHOUT_COMPILER = {
    "means": "ocloc answers questions and compiles nothing without libigc.so.2, which its package need not bring: the"
    " link at the end of the build ends with 250",
    "mend": "Install the graphics compiler from the repository that ocloc is of (Debian, Ubuntu: libigc2, libigdfcl2).",
    "commands": "ldconfig -p | grep -E 'libigc|libigdfcl'",
}


def check_ocloc(question: Question) -> CheckAnswer | None:
    seen = question.facts.toolkits
    wanted = question.profile.toolkit
    if seen is None or wanted is None or _targets(question) in ([], ["none"]):
        return None
    kinds = ("dpclang", "wheels")
    if not any(kit.parts is not None or kit.kind in kinds for kit in found_toolkits(wanted, question.facts)):
        return None
    if not seen.ocloc and wanted.kind == "wheels" and question.profile.arch and question.profile.arch.none:
        return CheckAnswer("info", "no ocloc: --arch auto compiles SPIR-V alone, --arch LIST needs it")
    if seen.ocloc and question.facts.notes.get("toolkits.ocloc") == NO_COMPILER:
        return CheckAnswer("fail", f"{seen.ocloc}, and its graphics compiler is not here", WITHOUT_COMPILER)
    return CheckAnswer("ok", seen.ocloc) if seen.ocloc else CheckAnswer("fail", "no ocloc on PATH or in the toolkit")


def check_ocloc_targets(question: Question) -> CheckAnswer | None:
    seen = question.facts.toolkits
    if seen is None or not seen.targets or not _targets(question):
        return None
    strange = [target for target in _targets(question) if target not in seen.targets]
    words = {"targets": ",".join(target for target in _targets(question) if target not in strange)}
    return (
        CheckAnswer("warn", f"it does not know {', '.join(strange)}", words)
        if strange
        else CheckAnswer("ok", "all that are built for")
    )


def check_caches(question: Question) -> CheckAnswer | None:
    """Look for room and rights where drivers and compilers keep what they compiled."""
    caches = question.facts.caches
    if caches is None:
        return None
    closed = [cache.path for cache in caches if not cache.writable]
    full = [cache.path for cache in caches if cache.free is not None and cache.free < ROOM]
    if closed or full:
        return CheckAnswer("warn", f"{closed[0]} may not be written to" if closed else f"less than 1 GiB for {full[0]}")
    return CheckAnswer("ok", ", ".join(cache.path for cache in caches))
