"""The PyTorch of an environment: the right build, its Triton, and libraries that cannot share a process."""

from __future__ import annotations

import re
from datetime import date
from posixpath import basename
from typing import TYPE_CHECKING

from xpusetup.doctor.question import (
    CheckAnswer,
    Question,
    distribution,
    intel_gpus,
    is_xpu,
    kept_torch,
    numbers,
    variable,
)
from xpusetup.machine.companions import install_beside, triton_of
from xpusetup.machine.fit import mend_command
from xpusetup.machine.pairs import takes
from xpusetup.machine.works import computes_on_processor, lists_gpu, torch_works

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xpusetup.base.model import Level
    from xpusetup.machine.environments import ImportReport, InstalledTorch, LibraryConflict


# Libraries that cannot work together in one process: which symbol is missing, in which file, who needs it.


SYCL = re.compile(r"lib(sycl|ur_|umf|ze_|pi_)")
OTHER_RUNTIME = re.compile(
    r"version [`'\"]?LIBUR_LOADER_[\d.]+|libur_loader\S*: (?:undefined symbol|version)"
    r"|libsycl\S*: undefined symbol: ur\w"
)
"""Errors of a loader that was taken from another release than the runtime that asks it."""
CXX = re.compile(r"lib(stdc\+\+|gcc_s)\.so")
HEADLINE: dict[str, str] = {
    "symbol": "{library} needs {names}",
    "version": "{library} needs {names}",
    "abi": "{library} is built for the other C++ ABI: it needs {names}",
    "torch": "{library} is built for another torch: it needs {names}",
    "majors": "{library} needs {names}, and another major of it is here",
    "missing": "{library} needs {names}, which is nowhere",
    "hidden": "the library path hides the {file} of the environment: the other lacks {names}",
    "offered": "the library path offers {names} beside {has}",
    "files": "{library} and {first} both wrote {names}",
}
OF_LISTS = ("files", "gone")
"""Kinds that packages' lists of files tell, not libraries."""


def check_runtime(question: Question) -> CheckAnswer | None:
    """Look for another SYCL runtime, from outside, before what the environment brings or beside it."""
    if not is_xpu(question):
        return None
    torch = question.facts.torch
    said = torch.report.error if torch is not None and torch.report is not None else ""
    if torch is not None and OTHER_RUNTIME.search(said):
        return CheckAnswer("fail", said, {"python": torch.python})
    return _answer(question, _is_runtime)


def check_outside(question: Question) -> CheckAnswer | None:
    """Look for any other library from outside that takes the place of the one that is needed."""
    return _answer(question, lambda one, torch: _is_outside(one, torch) and not _is_runtime(one, torch))


def check_packages(question: Question) -> CheckAnswer | None:
    """Look for packages of the environment itself that do not fit together."""
    return _answer(question, _is_inside)


def check_fits(question: Question) -> CheckAnswer | None:
    torch = question.facts.torch
    if torch is None or torch.version is None or torch.misfits is None:
        return None
    if not torch.misfits:
        return CheckAnswer("ok", f"all that is linked with torch {torch.version} can be loaded")
    first, *others = torch.misfits
    seen = [f"{first.name} {first.version} {first.reason}", *(f"{one.name} {one.version} too" for one in others)]
    return CheckAnswer("fail", "\n".join(seen), {"mend": _mend(question, torch)})


def _mend(question: Question, torch: InstalledTorch) -> str:
    """Give the commands that mend all of it."""
    kept = kept_torch(question)
    return " && ".join(mend_command(one, torch.python, kept) for one in torch.misfits or ()) if kept else ""


def _is_misfit(one: LibraryConflict, torch: InstalledTorch) -> bool:
    titles = {f"{each.name} {each.version}" for each in torch.misfits or ()}
    return one.owners.get("library", "") in titles


def check_files(question: Question) -> CheckAnswer | None:
    return _answer(question, lambda one, _: one.kind == "files")


def driver_conflict(torch: InstalledTorch) -> LibraryConflict | None:
    """Give the conflict of the system's driver with the C++ library that an environment brings."""
    return next((one for one in torch.conflicts or () if _is_cxx(one, torch)), None)


def _is_runtime(one: LibraryConflict, torch: InstalledTorch) -> bool:
    return _is_outside(one, torch) and bool(SYCL.match(basename(one.first)))


def _is_outside(one: LibraryConflict, torch: InstalledTorch) -> bool:
    return one.kind not in OF_LISTS and bool(one.first) and not _is_of(one.first, torch)


def _is_inside(one: LibraryConflict, torch: InstalledTorch) -> bool:
    known = _is_outside(one, torch) or _is_cxx(one, torch) or _is_misfit(one, torch)
    return one.kind not in OF_LISTS and not known


def _is_cxx(one: LibraryConflict, torch: InstalledTorch) -> bool:
    mine = _is_of(one.first, torch) and (torch.kind == "conda" or not _is_of(one.library, torch))
    return one.kind == "version" and mine and bool(CXX.match(basename(one.first)))


def _is_of(path: str, torch: InstalledTorch) -> bool:
    return path.startswith(f"{torch.prefix}/")


def _answer(question: Question, wanted: Callable[[LibraryConflict, InstalledTorch], bool]) -> CheckAnswer | None:
    torch = question.facts.torch
    if torch is None or torch.conflicts is None:
        return None
    found = sorted((one for one in torch.conflicts if wanted(one, torch)), key=_weight)
    if not found:
        return CheckAnswer("ok", "they fit together")
    words = {"python": torch.python, "wanted": wanted_packages(found[0], torch)}
    return CheckAnswer(found[0].level, describe(found), words)


def _weight(one: LibraryConflict) -> tuple[bool, bool, int, str]:
    """Put first what fails, and of that what other files prove; libsycl.so.9 before libsycl-preview.so.9."""
    return one.level != "fail", not one.has, len(basename(one.library)), one.library


def describe(found: Sequence[LibraryConflict]) -> str:
    """Give the first conflict line by line, and how many more there are."""
    one = found[0]
    lines = [HEADLINE[one.kind].format(**_words(one))]
    if one.first and one.kind not in ("hidden", "offered", "files"):
        lacks = "" if one.kind == "majors" else ", which lacks it" if one.count == 1 else ", which lacks them"
        lines.append(f"found first: {one.first}{_owner(one, 'first')}{lacks}")
    if one.kind in ("hidden", "offered"):
        lines.append(f"found first: {one.first}{_owner(one, 'first')}")
    if one.has and one.kind != "majors":
        lines.append(
            f"{'of the environment' if one.kind == 'offered' else 'exported by'}: {one.has}{_owner(one, 'has')}"
        )
    elif one.has:
        lines.append(f"and {one.has}{_owner(one, 'has')}")
    if len(found) > 1:
        lines.append(f"and {len(found) - 1} more like it")
    return "\n".join(lines)


def _words(one: LibraryConflict) -> dict[str, str]:
    more = one.count - 1
    names = one.names[0] if one.names else ""
    told = f"{names} and {more} more" if more > 0 else names
    if one.kind == "files":
        return {"library": one.owners.get("library", ""), "first": one.owners.get("first", ""), "names": told}
    library = f"{basename(one.library)}{_owner(one, 'library')}"
    return {"library": library, "names": told, "file": basename(one.first), "has": basename(one.has)}


def _owner(one: LibraryConflict, part: str) -> str:
    owner = {str(name): value for name, value in one.owners.items()}.get(part)
    return f" ({owner})" if owner else ""


def wanted_packages(one: LibraryConflict, torch: InstalledTorch) -> str:
    """Give what pip is to install so that two packages agree.

    What torch pins comes in that version, of both; else the other one in the version of the one that needs it, where
    both are Intel's. A package that was made for another library is the same when it comes again: a newer one may fit.
    """
    needer, _, version = one.owners.get("library", "").partition(" ")
    brings = (one.owners.get("first") or "").partition(" ")[0]
    pins = [pin for pin in torch.requires if pin.partition("==")[0] in (needer, brings)]
    lost = [pin for pin in pins if torch.distributions.get(pin.partition("==")[0]) != pin.partition("==")[2]]
    if lost:
        return f"--no-deps {' '.join(lost)}"
    if one.kind in ("symbol", "version") and brings.startswith("intel-") and needer.startswith("intel-"):
        return f"{brings}=={version}"
    if not needer:
        return "--force-reinstall torch"
    return f"--upgrade {needer}" if one.kind == "majors" else f"--force-reinstall --no-deps {needer}=={version}"


# The PyTorch of an environment: the right build, with the libraries it asks for, and what importing it said.


RUNTIME = re.compile(r"intel-|onemkl-|dpcpp-|mkl$|tcmlib|umf|tbb|impi|oneccl|onecl")
FIRST_WHEEL = (2, 5, 1)
"""The first release whose wheels are on PyTorch's own index for XPU."""
FALLBACK = ("PYTORCH_ENABLE_XPU_FALLBACK", "PYTORCH_DEBUG_XPU_FALLBACK")
ZERO_DEVICES = r"XPU device count is zero|Failed to initialize XPU devices"


def installed(question: Question) -> InstalledTorch | None:
    """Give the environment's torch, where this is about Intel GPUs and there is one."""
    torch = question.facts.torch
    return torch if torch is not None and torch.version is not None and is_xpu(question) else None


def report(question: Question) -> ImportReport | None:
    """Give what importing it said."""
    torch = installed(question)
    return torch.report if torch else None


def check_numpy(question: Question) -> CheckAnswer | None:
    """Look for a NumPy that is newer than torch was built for."""
    torch, numpy = question.facts.torch, distribution(question, "numpy")
    if torch is None or torch.version is None or not numpy:
        return None
    late = numbers(numpy) >= (2,) and numbers(torch.version) < (2, 3)
    return CheckAnswer("warn" if late else "ok", f"numpy {numpy}, torch {torch.version}", {"python": torch.python})


def check_build(question: Question) -> CheckAnswer | None:
    """Look whether the installed torch was built for XPU."""
    torch = question.facts.torch
    if torch is None or not is_xpu(question):
        return None
    if torch.version is None:
        return CheckAnswer("info", f"no torch{torch.place}")
    if torch.xpu or (torch.report is not None and torch.report.compiled):
        numbered = torch.xpu and torch.xpu != "yes"  # a post may tell no number
        with_xpu = f"XPU {torch.xpu}" if numbered else "with XPU"  # its own, or that of an add-on
        return CheckAnswer("ok", f"{torch.version}{torch.place}, {with_xpu}")
    cuda = "" if torch.cuda == "yes" else f"{torch.cuda} "
    other = f"a CUDA {cuda}build" if torch.cuda else "a CPU build"
    release, local = torch.version.split("+")[0], torch.version.partition("+")[2]
    same = numbers(release, 3) >= FIRST_WHEEL and not re.search(r"dev|a0|rc|post", release) and local[:3] != "xpu"
    words = {"python": torch.python, "torch": f"torch=={release}" if same else "torch"}
    named = torch.version if numbers(release) else "the torch"
    if torch.cuda and _is_of_nvidia(question):
        return CheckAnswer("info", f"{named}{torch.place} is {other}, as the NVIDIA GPU here wants it")
    if local[:3] == "xpu":
        words |= {
            "means": "It is named for XPU, and what is in it was not compiled for it: a broken build of that night"
        }
        words |= {"mend": "Take a release, or a nightly of another day."}
    if torch.replaced:
        words |= {"means": f"It was put in the place of {torch.replaced}: what was installed last asked for torch, and"}
        words["means"] += " its installer took the one of another index"
        words |= {
            "mend": "So that it stays: install that package with --no-deps, or with the same --index-url for torch"
        }
    plugin = next((name for name in PLUGINS if distribution(question, name)), "")
    if plugin and not torch.cuda and not intel_gpus(question):
        return CheckAnswer("info", f"{named}{torch.place} is {other}, as {plugin} wants it")
    aside = (torch.report is None and _lists_none(question)) or _is_broken(torch)
    return CheckAnswer("warn" if aside else "fail", f"{named}{torch.place} is {other}", words)


PLUGINS = ("torch-npu", "habana-torch-plugin")
"""Extensions of other makers, which go beside a torch for the CPU."""
NVIDIA = "10de"


def _is_of_nvidia(question: Question) -> bool:
    """Say whether NVIDIA's are the only GPUs here, as far as is known: a torch for CUDA is the right one then."""
    seen = question.facts.hardware.gpus if question.facts.hardware else []
    return bool(seen) and not intel_gpus(question) and any(gpu.vendor == NVIDIA for gpu in seen)


OWN_LIBRARY = re.compile(r"/torch/lib/libtorch\w*\.so: undefined symbol: iJIT_\w+")


def _is_broken(torch: InstalledTorch) -> bool:
    """Say whether torch's own library ends the import by what it meets: that comes before what torch was built for."""
    return torch.report is not None and OWN_LIBRARY.search(torch.report.error) is not None


def _lists_none(question: Question) -> bool:
    """Say whether Level Zero was asked, and lists no GPU: a list of packages beside that is not about torch."""
    userland = question.facts.userland
    return userland is not None and userland.level_zero is not None and not lists_gpu(question.facts)


def check_companions(question: Question) -> CheckAnswer | None:
    """Hold torchvision and torchaudio against torch: the release that they take, and one build."""
    torch = question.facts.torch
    local = (torch.version or "").partition("+")[2] if torch else ""
    if torch is None or not is_xpu(question) or not numbers(torch.version or ""):
        return None
    there = {name: version for name in ("torchvision", "torchaudio") if (version := distribution(question, name))}
    late = [
        f"{name} {each}"
        for name, each in there.items()
        if _is_of_another(name, each, torch.version or "", torch.asked.get(name, ""))
    ]
    other = [f"{name} {each}" for name, each in there.items() if _is_other_build(local, each.partition("+")[2])]
    if not late and not other:
        return CheckAnswer("ok", ", ".join(there)) if there else None
    error = torch.report.error if torch.report else ""
    other_failure = bool(question.facts.refused) and not re.search(r"torchvision|torchaudio", error)
    asked = (torch.report is not None and not error) or other_failure
    seen = f"{', '.join(dict.fromkeys([*late, *other]))} beside torch {torch.version}"
    kept, names = kept_torch(question), [each.partition(" ")[0] for each in (*late, *other)]
    mend = install_beside(list(dict.fromkeys(names)), kept, f"{torch.python} -m pip") if kept else []
    return CheckAnswer("fail" if late and not asked else "warn", seen, {"mend": " && ".join(mend)})


NIGHTLY = re.compile(r"\.dev(20[2-9]\d)(\d\d)(\d\d)\b")
NIGHTS = 14
"""Nightlies so many days apart are still tried together."""


def _night_of(version: str) -> date | None:
    """Give the day of a nightly; None for a release, and for a day that no calendar has."""
    found = NIGHTLY.search(version)
    try:
        return date(int(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:
        return None


def _is_of_another(name: str, version: str, torch: str, asked: str = "") -> bool:
    """Say whether a companion is for another release of torch; `asked` is what its metadata requires.

    Of two nightlies the numbers tell nothing, since a repository counts on when it likes; their days do.
    """
    one, other = map(_night_of, (version, torch))
    if one and other:
        return abs((one - other).days) > NIGHTS
    return not takes(name, version, torch, asked)


def _is_other_build(one: str, other: str) -> bool:
    """Say whether two are built for different devices, where both say for which."""
    kinds = [re.match(r"xpu|cpu|cu\d|rocm|cxx11", each) for each in (one, other)]
    return all(kinds) and len({each[0][:2] for each in kinds if each}) > 1


def check_pins(question: Question) -> CheckAnswer | None:
    """Hold the runtime libraries in the environment against what torch asks for."""
    torch = installed(question)
    if torch is None or not torch.requires:
        return None
    pins = (pin.partition("==") for pin in torch.requires)
    named = {re.sub(r"[-_.]+", "-", name).lower(): version for name, _, version in pins}
    wanted = {name: version for name, version in named.items() if RUNTIME.match(name)}
    wrong = [
        f"{name} {distribution(question, name) or 'missing'} instead of {version}"
        for name, version in wanted.items()
        if distribution(question, name) != version
    ]
    words = {"python": torch.python, "version": torch.version or ""}
    return CheckAnswer("fail", ", ".join(wrong[:3]), words) if wrong else CheckAnswer("ok", f"{len(wanted)} as pinned")


def check_libsycl(question: Question) -> CheckAnswer | None:
    """Look for the one libsycl that torch asks for: in the environment, else on the library path."""
    torch, userland = installed(question), question.facts.userland
    if torch is None or not torch.sycl:
        return None
    if len(torch.sycl) > 1:
        return CheckAnswer("fail", f"torch asks for {' and '.join(torch.sycl)}")
    name = torch.sycl[0]
    place = torch.libraries.get(name) or (userland.libraries or {}).get(name) if userland else torch.libraries.get(name)
    return (
        CheckAnswer("ok", place)
        if place
        else CheckAnswer("fail", f"{name} is neither in {torch.prefix} nor on the library path")
    )


def check_ipex(question: Question) -> CheckAnswer | None:
    """Look for the extension whose kernels register themselves again."""
    torch, version = installed(question), distribution(question, "intel-extension-for-pytorch")
    if torch is None or not version:
        return None
    fits = numbers(version) == numbers(torch.version or "") or not numbers(torch.version or "")
    broken = torch.report is None or bool(torch.report.error) or torch.report.available is False
    level: Level = "info" if fits else "fail" if broken and not torch_works(question.facts) else "warn"
    return CheckAnswer(level, f"{version} beside torch {torch.version}", {"python": torch.python})


def check_abi(question: Question) -> CheckAnswer | None:
    """Look for a torch with the C++ ABI that XPU does not have."""
    seen, asked = report(question), variable(question, "_GLIBCXX_USE_CXX11_ABI")
    if asked == "0" and is_xpu(question):
        return CheckAnswer("warn", "_GLIBCXX_USE_CXX11_ABI=0 is set in this shell")
    if seen is None or seen.cxx11_abi is None:
        return None
    return CheckAnswer("ok" if seen.cxx11_abi else "warn", "C++11 ABI" if seen.cxx11_abi else "the old C++ ABI")


def check_fallback(question: Question) -> CheckAnswer | None:
    """Look for values that torch cannot read as a number: it ends while it loads."""
    values = {name: value for name in FALLBACK if (value := variable(question, name))}
    if not is_xpu(question) or not values:
        return None
    wrong = [f"{name}={value}" for name, value in values.items() if not re.match(r"\s*[+-]?\d", value)]
    if wrong:
        return CheckAnswer("fail", ", ".join(wrong))
    return CheckAnswer("info", ", ".join(f"{name}={value}" for name, value in values.items()))


OWN_MODULE = re.compile(r"named 'torch['.]")


def check_import(question: Question) -> CheckAnswer | None:
    torch = question.facts.torch
    seen = torch.report if torch else None
    if seen is None:
        return None
    name = f"torch {seen.version}" if seen.version else "torch"
    if seen.count and seen.error.startswith("ModuleNotFoundError") and not OWN_MODULE.search(seen.error):
        return CheckAnswer("info", f"{name} imports and lists a device; another module does not: {seen.error}")
    if seen.available is False and not seen.error:
        return CheckAnswer("info", f"{name} imports, and finds no device", {"means": "Importing it goes well"})
    return CheckAnswer("fail", seen.error) if seen.error else CheckAnswer("ok", f"{name} imports")


def check_available(question: Question) -> CheckAnswer | None:
    seen = report(question)
    if seen is None or seen.available is None or not seen.compiled:
        return None
    if computes_on_processor(question.facts):
        return CheckAnswer("info", f"no GPU: what it calls XPU is the processor here ({', '.join(seen.devices)})")
    if seen.available and seen.count:
        return CheckAnswer("ok", ", ".join(seen.devices) or f"{seen.count} device(s)")
    said = [line for line in seen.messages if re.search(ZERO_DEVICES, line)]
    return CheckAnswer("fail", f"no device: {said[0]}" if said else "torch.xpu.is_available() is False")


# Triton: one package of it, and what it compiles its drivers with.


NAMES = ("triton", "triton-xpu", "pytorch-triton-xpu", "pytorch-triton")


def _there(question: Question) -> dict[str, str]:
    return {name: version for name in NAMES if (version := distribution(question, name))}


def check_package(question: Question) -> CheckAnswer | None:
    """Look for several packages that bring the same folder, or for the wrong one."""
    torch, there = installed(question), _there(question)
    if torch is None or not there:
        return None
    seen = ", ".join(f"{name} {version}" for name, version in there.items())
    kept = kept_torch(question)
    wanted = (triton_of(kept) if kept else "") or "triton-xpu"
    words = {"python": torch.python, "wanted": wanted, "names": " ".join(there)}
    if len(there) > 1:
        return CheckAnswer("fail", seen, words)
    if torch.xpu and wanted not in there:
        return CheckAnswer("warn", f"{seen}, wanted: {wanted}", words)
    return CheckAnswer("ok", seen, words)


def _compiles(question: Question) -> bool:
    return installed(question) is not None and any("xpu" in name for name in _there(question))


def check_compiler(question: Question) -> CheckAnswer | None:
    """Look for a compiler with which Triton can build its driver at run time."""
    tools = question.facts.tools
    if tools is None or not _compiles(question):
        return None
    found = next((tool.path for name in ("g++", "clang++") if (tool := question.facts.tool(name))), "")
    kits = question.facts.toolkits
    found = found or (kits.found[0].compiler if kits and kits.found else "")
    return CheckAnswer("ok", found) if found else CheckAnswer("fail", "neither g++ nor clang++ nor icpx is here")


def check_headers(question: Question) -> CheckAnswer | None:
    """Look for Level Zero's header, which Triton's driver includes."""
    userland = question.facts.userland
    if userland is None or not _compiles(question):
        return None
    return CheckAnswer("ok", userland.headers[0]) if userland.headers else CheckAnswer("warn", "no level_zero/ze_api.h")
