"""Whether a wheel, or what is installed, works with a torch: judged from what helpers/inspect_fit.py read. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from xpusetup.base.model import Misfit
from xpusetup.machine.companions import TRITONS, TorchThere, index_of, install_beside, triton_of, version_beside
from xpusetup.machine.fit_read import FitLibrary, FitProblem, InspectedFit, Inspection, in_words

Answer: TypeAlias = Literal["fits", "does_not_fit", "unknown"]
Binding: TypeAlias = Literal["none", "torch-stable", "torch-c++"]
Compiled: TypeAlias = Literal["none", "loads", "does_not_load", "unknown"]


@dataclass(frozen=True, kw_only=True)
class FittedWheel:
    """Whether a wheel works with that torch: the answer, the first reason, and what would fit, where it is known.

    `compiled` says whether its compiled part can be loaded: a package that goes on without it fits all the same.
    `binds` says to what of torch it is bound; `notes` are what does not decide, as a requirement of another torch.
    """

    file: str
    name: str
    version: str
    answer: Answer
    reason: str
    instead: str | None
    compiled: Compiled
    binds: Binding
    notes: list[str]
    libraries: list[FitLibrary]


@dataclass(frozen=True, kw_only=True)
class FitTorch:
    """The torch: its version, where it was found, whether its libraries were read, the Python it is for (or empty)."""

    version: str
    where: str
    read: bool
    python: str


@dataclass(frozen=True)
class FitVerdict:
    """An answer with its reason; `of_torch`: it is torch that lacks something, or what comes with it.

    `damaged`: what was installed is no whole library.
    """

    answer: Answer
    reason: str
    of_torch: bool = False
    damaged: bool = False


@dataclass(frozen=True, kw_only=True)
class FitTarget:
    """What a wheel is judged for: the torch, the tags that its Python takes (None: not known), versions known to fit.

    `known` gives for a distribution the version that belongs to this torch, `gpus` for a GPU here the names of those
    whose code it runs.
    """

    torch: FitTorch
    tags: Collection[Tag] | None
    known: Mapping[str, str]
    gpus: Mapping[str, Collection[str]] = field(default_factory=dict)


def judge_fit(wheel: InspectedFit, target: FitTarget) -> FittedWheel:
    """Judge a wheel: what is certain and against it decides, then what is missing to know it."""
    verdicts = list(_verdicts(wheel, target))
    against = next((one for one in verdicts if one.answer == "does_not_fit"), None)
    verdict = against or next((one for one in verdicts if one.answer == "unknown"), None) or _well(wheel)
    return FittedWheel(
        file=wheel.file,
        name=wheel.name,
        version=wheel.version,
        answer=verdict.answer,
        reason=verdict.reason,
        instead=_instead(wheel, target) if verdict.answer == "does_not_fit" else None,
        compiled=_judge_compiled(wheel, target.torch),
        binds=binding(wheel),
        notes=list(_notes(wheel, target)),
        libraries=wheel.libraries,
    )


def judge_installed(one: InspectedFit, torch: FitTorch) -> FitVerdict:
    """Judge what lies beside a torch: pip took it for this Python, so that its libraries alone decide."""
    found = [*_judge_libraries(one, torch), *_judge_troubles(one)]
    against = next((each for each in found if each.answer == "does_not_fit"), None)
    return against or next(iter(found), None) or _well(one)


def name_misfits(inspection: Inspection, python: str) -> list[Misfit]:
    """Return the installed packages that cannot load with this torch. What cannot be judged is left out."""
    torch = FitTorch(version=inspection.torch.version, where="", read=True, python=python)
    judged = ((each, judge_installed(in_words(each, inspection.plain), torch)) for each in inspection.wheels)
    bad = ((each, one) for each, one in judged if one.answer == "does_not_fit")
    return [Misfit(each.name, each.version, _told(one), damaged=one.damaged) for each, one in bad]


def _told(verdict: FitVerdict) -> str:
    return f"{'was made for another torch' if verdict.of_torch else 'cannot be loaded here'}: {verdict.reason}"


def mend_command(misfit: Misfit, python: str, torch: TorchThere) -> str:
    """Give the command that puts a misfit right: the version that belongs to that torch, else it has to go.

    What is damaged comes anew, from the index of its build. What CANN's script switches on is not missing.
    """
    name, pip = canonicalize_name(misfit.name), f"{python} -m pip"
    if misfit.damaged:
        index = index_of(misfit.version.partition("+")[2])
        line = f"{pip} install --no-deps --force-reinstall {misfit.name}=={misfit.version}"
        return f"{line} --index-url {index}" if index else line
    belongs = version_beside(name, torch)
    if belongs and not SpecifierSet(f"=={belongs}").contains(misfit.version, prereleases=True):
        return install_beside([name], torch, pip)[0]
    if name == "torch-npu" and OF_CANN.search(misfit.reason):
        return f"source {CANN_SCRIPT}"
    if lost := OF_SYSTEM.search(misfit.reason):
        return f"# install this system's package with {lost[1]}: apt-file search {lost[1]}, dnf provides '*/{lost[1]}'"
    return f"{pip} uninstall --yes {misfit.name}"


OF_CANN = re.compile(r"needs (?!lib(?:torch|c10))lib\S+\.so\S*, which is found nowhere")
"""What torch_npu lacks where nobody has switched CANN on: of others' libraries it has those of torch and CANN alone."""
CANN_SCRIPT = "/usr/local/Ascend/ascend-toolkit/set_env.sh"
OF_DEVICES = (
    r"torch|c10|cu[a-z]+\.|cud|nv|nccl|sycl|ur_|mkl|ccl|mpi|pti|umf|tbb|imf|svml|intlc|irng|iomp|amdhip|roc|hip|hsa"
)
OF_SYSTEM = re.compile(rf"needs (?!lib(?:{OF_DEVICES}))(lib\S+\.so\S*), which is found nowhere")
"""A library that is neither torch's nor an accelerator's: the system lacks a package, the one that asks is well."""


def binding(wheel: InspectedFit) -> Binding:
    """Say to what of torch the libraries of a wheel are bound."""
    if any(one.torch for one in wheel.libraries):
        return "torch-c++"
    return "torch-stable" if any(one.stable for one in wheel.libraries) else "none"


def _verdicts(wheel: InspectedFit, target: FitTarget) -> Iterator[FitVerdict]:
    if wheel.broken:
        yield FitVerdict("does_not_fit", wheel.broken)
        return
    yield from _judge_tags(wheel, target)
    yield from _judge_python(wheel, target)
    if target.torch.read:
        yield from _judge_libraries(wheel, target.torch)
    elif wheel.compiled:
        yield FitVerdict("unknown", f"it is compiled, and the libraries of torch {target.torch.version} are not here")
    yield from _judge_device(wheel, target)
    yield from _judge_owners(wheel)
    if not wheel.compiled:
        yield from _judge_requirement(wheel, target)
    yield from _judge_troubles(wheel)
    yield from _judge_hollow(wheel)


def _judge_hollow(wheel: InspectedFit) -> Iterator[FitVerdict]:
    """Promise nothing for a wheel that only requires others, or holds a name's place."""
    asked = [line.partition(";")[0].strip() for line in wheel.requires if "extra ==" not in line]
    if wheel.hollow == "meta":
        told = f"what it requires decides: {', '.join(asked[:3])}" if asked else "and it requires nothing"
        yield FitVerdict("unknown", f"it has no file of its own, {told}")
    if wheel.hollow == "placeholder":
        yield FitVerdict("unknown", "it is a placeholder: its code does nothing")


def _judge_troubles(wheel: InspectedFit) -> Iterator[FitVerdict]:
    for trouble in wheel.troubles:
        yield FitVerdict("unknown", f"a library cannot be read: {trouble}")


def _judge_device(wheel: InspectedFit, target: FitTarget) -> Iterator[FitVerdict]:
    """Refuse a wheel whose code was compiled for other GPUs alone; parts for an accelerator may be left over."""
    code = wheel.device
    if code.generic or any(one.foreign and one.problems for one in wheel.libraries):
        return
    lost = [gpu for gpu, names in target.gpus.items() if not {*names} & {*code.names}]
    if code.gpus and lost:
        yield FitVerdict("does_not_fit", f"its device code is for {', '.join(code.gpus)}, and none of it for {lost[0]}")
    elif code.trouble and target.gpus:
        yield FitVerdict("unknown", f"its device code cannot be read: {code.trouble}")


def _judge_tags(wheel: InspectedFit, target: FitTarget) -> Iterator[FitVerdict]:
    try:
        tags = parse_wheel_filename(wheel.file)[3]
    except (InvalidWheelFilename, InvalidVersion) as error:
        yield FitVerdict("does_not_fit", str(error))
        return
    if target.tags is not None and not tags & frozenset(target.tags):
        told = ", ".join(sorted(map(str, tags))[:2])
        yield FitVerdict("does_not_fit", f"it is for {told}, and that torch for Python {target.torch.python}, here")


def _judge_python(wheel: InspectedFit, target: FitTarget) -> Iterator[FitVerdict]:
    python = target.torch.python
    try:
        fits = not wheel.python or not python or SpecifierSet(wheel.python).contains(f"{python.rstrip('t')}.99")
    except InvalidSpecifier:
        return
    if not fits:
        yield FitVerdict("does_not_fit", f"it requires Python {wheel.python}, and that torch is for {python}")


def _judge_owners(wheel: InspectedFit) -> Iterator[FitVerdict]:
    """Refuse a wheel that overwrites torch or its Triton: it breaks that torch, whatever it is itself."""
    for owner, count in wheel.overwrites.items():
        if re.match(r"(?:torch|triton|triton-xpu|pytorch-triton[\w-]*) ", owner.lower()):
            yield FitVerdict("does_not_fit", f"it would overwrite {count} files of {owner}")


def required_torch(wheel: InspectedFit) -> Requirement | None:
    """Give what a wheel requires of torch; None where it does not."""
    for line in wheel.requires:
        try:
            found = Requirement(line)
        except InvalidRequirement:
            continue
        if found.name.lower() == "torch" and found.specifier and not (found.marker and "extra" in str(found.marker)):
            return found
    return None


def _refuses(wheel: InspectedFit, version: str) -> Requirement | None:
    wanted = required_torch(wheel)
    try:
        return (
            wanted if wanted and version and not wanted.specifier.contains(Version(version), prereleases=True) else None
        )
    except InvalidVersion:
        return None


def _judge_requirement(wheel: InspectedFit, target: FitTarget) -> Iterator[FitVerdict]:
    wanted = _refuses(wheel, target.torch.version)
    if wanted is not None:
        yield FitVerdict("does_not_fit", f"it requires {wanted}, and that is torch {target.torch.version}")


# The libraries: those of one group stand for each other, and one of them is enough.


ORDER = ("file", "machine", "version", "major", "library", "abi", "torch", "symbol")


def _judge_libraries(wheel: InspectedFit, torch: FitTorch) -> Iterator[FitVerdict]:
    """Judge the libraries of what is installed, or of a wheel.

    Parts for another accelerator without which its code goes on are nothing amiss: torchao from the index has some.
    """
    libraries = [one for one in _for_python(wheel.libraries, torch.python) if not one.is_spare]
    yield from _judge_variants(libraries, torch.version)
    yield from _judge_groups(libraries)


def _judge_compiled(wheel: InspectedFit, torch: FitTorch) -> Compiled:
    if not wheel.compiled:
        return "none"
    if wheel.broken or wheel.troubles or not torch.read:
        return "unknown"
    answers = {one.answer for one in _judge_libraries(wheel, torch)}
    if "does_not_fit" in answers or _is_all_spare(wheel):
        return "does_not_load"
    return "unknown" if answers else "loads"


def _is_all_spare(wheel: InspectedFit) -> bool:
    return bool(wheel.libraries) and all(one.is_spare for one in wheel.libraries)


def _for_python(libraries: list[FitLibrary], python: str) -> list[FitLibrary]:
    """Leave out modules of another Python, which no import finds, where there are others."""
    own = f".cpython-{python.replace('.', '')}-"
    kept = [one for one in libraries if not python or ".cpython-" not in one.path or own in one.path]
    return kept or libraries


NAMED = re.compile(r"torch(\d)(\d{1,2})(?!\d)")
"""A release of torch in the name of a library: torch24, torch210."""


def _judge_variants(libraries: list[FitLibrary], version: str) -> Iterator[FitVerdict]:
    """Refuse where all variants of a library are called after other releases of torch: none of them is opened."""
    for those in _groups(libraries).values():
        named = [NAMED.search(_file(one.path)) for one in those]
        releases = dict.fromkeys(f"{found[1]}.{found[2]}" for found in named if found)
        if len(releases) > 1 and all(named) and ".".join(version.split(".")[:2]) not in releases:
            told = f"it has libraries for torch {', '.join(releases)}, and none for {version}"
            yield FitVerdict("does_not_fit", told, of_torch=True)


def _groups(libraries: Sequence[FitLibrary]) -> dict[str, list[FitLibrary]]:
    found: dict[str, list[FitLibrary]] = {}
    for one in libraries:
        found.setdefault(one.group, []).append(one)
    return found


def _judge_groups(libraries: list[FitLibrary]) -> Iterator[FitVerdict]:
    groups = _groups(libraries)
    loads = [name for name, those in groups.items() if any(not one.problems for one in those)]
    # What stops the package itself comes before a plug-in for an accelerator or framework that is not here.
    for name, those in sorted(groups.items(), key=lambda each: _is_plugin(each[1])):
        if name in loads or (loads and all(one.foreign for one in those)):
            continue
        if all(one.foreign and _is_lost(one) for one in those) and any(map(_may_load, libraries)):
            continue
        one = min(those, key=_weight)
        certain = [each for each in _sorted(one.problems) if each.certain]
        known = bool(certain) and all(any(each.certain for each in other.problems) for other in those)
        problem = certain[0] if known else next(each for each in _sorted(one.problems) if not each.certain)
        of_torch = problem.kind in ("torch", "abi", "major") or is_of_torch(problem)
        answer: Answer = "does_not_fit" if known else "unknown"
        yield FitVerdict(answer, describe(problem), of_torch, damaged=problem.kind == "file")


def _is_plugin(those: Sequence[FitLibrary]) -> tuple[bool, bool]:
    """Put last what is for another accelerator, and of that what Python does not import by its name."""
    modules = any(re.search(r"\.(?:cpython-[\w-]+|abi3)\.so$", one.path) for one in those)
    return all(one.foreign for one in those), not modules


def _is_lost(one: FitLibrary) -> bool:
    return any(each.certain for each in one.problems)


def _may_load(one: FitLibrary) -> bool:
    """Say whether a library that is not linked to torch loads once what the package requires is installed."""
    return not one.torch and not _is_lost(one)


def is_of_torch(problem: FitProblem) -> bool:
    """Say whether it is a library of torch that is found nowhere."""
    return problem.kind == "library" and re.match(r"lib(?:torch(?!_npu)|c10)", problem.names[0]) is not None


def _weight(one: FitLibrary) -> tuple[bool, bool, int]:
    """Put the library first whose problems are the fewest, and not certain."""
    return any(each.certain for each in one.problems), one.foreign, len(one.problems)


def _sorted(problems: Sequence[FitProblem]) -> list[FitProblem]:
    return sorted(problems, key=lambda one: ORDER.index(one.kind))


SAID = {
    "file": "{who}: {name}",
    "machine": "{who} is for {name}, and that torch for {first}",
    "version": "{who} needs {name} of {first}, which that one has not",
    "major": "{who} needs {name}, and {first} is what that torch has",
    "library": "{who} needs {name}, which {lost}",
    "abi": "{who} was built with the other C++ ABI: it needs {name}{more}",
    "torch": "{who} needs {name}{more}, which that torch has not{near}",
    "symbol": "{who} needs {name}{more}, which nothing here has",
}


def describe(problem: FitProblem) -> str:
    name = problem.names[0]
    return SAID["torch" if is_of_torch(problem) else problem.kind].format(
        who=_file(problem.library),
        name=name,
        more=f" and {problem.count - 1} more" if problem.count > 1 else "",
        first=_file(problem.first),
        near=f"; it has {problem.near[0]}" if problem.near else "",
        lost=_describe_lost(name, _file(problem.first)),
    )


def _describe_lost(name: str, beside: str) -> str:
    """Say where a library is not; `beside` is the one of that name, or of another version, that the environment has."""
    if beside == name:
        return "lies in the environment, and no search path leads to it"
    return f"is found nowhere{f'; {beside} is here' if beside else ''}"


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def _well(wheel: InspectedFit) -> FitVerdict:
    if _is_all_spare(wheel):
        lost = _sorted([each for one in wheel.libraries for each in one.problems])
        return FitVerdict("fits", f"its Python works, and its compiled part does not load: {describe(lost[0])}")
    used = [one for one in wheel.libraries if not (one.foreign and one.problems)]
    wheel = replace(wheel, libraries=used)
    bound = binding(wheel)
    if not wheel.compiled:
        return FitVerdict("fits", "it is Python alone")
    if bound == "none":
        return FitVerdict("fits", "its libraries ask nothing of torch, and find all that they need")
    count = sum(one.torch + one.stable for one in wheel.libraries)
    how = "through the stable interface alone" if bound == "torch-stable" else "of its C++ interface"
    names = f"all {count} names that it asks torch for are" if count > 1 else "the one name that it asks torch for is"
    return FitVerdict("fits", f"{names} there, {how}")


def _notes(wheel: InspectedFit, target: FitTarget) -> Iterator[str]:
    wanted = _refuses(wheel, target.torch.version)
    if wanted is not None and wheel.compiled:
        yield f"it requires {wanted}: pip would replace torch {target.torch.version}, unless --no-deps is given"
    if wanted is not None and binding(wheel) == "torch-c++":
        yield "only names were compared, not the layout of the classes behind them"
    if off := list(dict.fromkeys(name for one in wheel.libraries for name in one.off)):
        more = f" and {len(off) - 1} more" if len(off) > 1 else ""
        yield f"{off[0]}{more} of CANN are not switched on in this shell: source {CANN_SCRIPT} before it is imported"
    idle = [one for one in wheel.libraries if one.foreign and one.problems]
    if idle and len(idle) < len(wheel.libraries):
        lacks = dict.fromkeys(_sorted(one.problems)[0].names[0] for one in idle)
        yield f"unused without {', '.join([*lacks][:3])}: {', '.join(_file(one.path) for one in idle[:3])}"
    native = not wheel.device.gpus or any({*names} & {*wheel.device.names} for names in target.gpus.values())
    if target.gpus and wheel.device.generic and not native:
        yield f"its device code is for {', '.join(wheel.device.gpus)}: here it is compiled when it is first used"
    for owner, count in wheel.overwrites.items():
        yield f"{count} of its files are also of {owner}"


def _instead(wheel: InspectedFit, target: FitTarget) -> str | None:
    """Name the version that belongs to this torch, else the torch that the wheel was made for; None: not known."""
    known = instead_of(wheel.name, wheel.version, target.torch.version, target.known)
    if known:
        return known
    wanted = required_torch(wheel)
    refused = wanted is not None and _refuses(wheel, target.torch.version) is not None
    return str(wanted) if refused else None


def instead_of(name: str, version: str, torch: str, known: Mapping[str, str]) -> str:
    """Give the requirement of the version that belongs to a torch, of the build that goes with it; empty: not known."""
    name, there = canonicalize_name(name), TorchThere(torch, known)
    if name not in known or (name in TRITONS and triton_of(there) != name):
        return ""
    belongs = version_beside(name, there)
    return f"{name}=={belongs}" if belongs not in ("", version) else ""
