"""fits: whether wheels work with a torch, judged from the files of both; nothing is loaded."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.tags import Tag, compatible_tags, cpython_tags, platform_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from xpusetup.base.document import read_as
from xpusetup.base.errors import NotReadyError, UsageError, WorkFailedError
from xpusetup.commands.env import choose_python
from xpusetup.commands.result import Result
from xpusetup.config.shipped import versions_beside
from xpusetup.machine.fit import FitTarget, FittedWheel, FitTorch, judge_fit
from xpusetup.machine.fit_read import Inspection, in_words
from xpusetup.machine.probe import probe
from xpusetup.machine.probe_devices import active_python
from xpusetup.machine.probe_fit import read_version, site_packages
from xpusetup.machine.tables import gpu_table
from xpusetup.plan.target import used_devices
from xpusetup.run.root import find_roots
from xpusetup.run.workspace import Where, load_settings, roots_folder
from xpusetup.system import files
from xpusetup.system.environment import from_home
from xpusetup.system.files import Sysroot
from xpusetup.system.process import run_process

HELPER = "helpers/inspect_fit.py"
TIMEOUT_S = 900.0
"""Seconds for all wheels: each library of a wheel is unpacked once, and some have gigabytes."""


@dataclass(frozen=True, kw_only=True)
class FitResult:
    """Whether wheels work with a torch."""

    torch: FitTorch
    wheels: list[FittedWheel]


@dataclass(frozen=True)
class TorchPlace:
    """Where a torch is: the helper's words for it, the place for people, the Python it is for (empty: not known)."""

    words: tuple[str, ...]
    where: str
    python: str = ""
    version: str = ""


def judge_wheels(wheels: Sequence[str], where: Where, torch: str = "") -> Result[FitResult]:
    """Judge wheels. Ends with 1 where one does not fit, else with 3 where one is not known to.

    Raises UsageError where there is no such wheel or torch, NotReadyError where no environment is named or active.
    """
    paths = [files.find_wheel(name) for name in wheels]
    place = _find_torch(torch) if torch else _find_environment(where)
    found = _inspect(paths, place)
    version = found.torch.version or place.version
    if not found.torch.libraries and "--no-torch" not in place.words:
        raise NotReadyError(f"there is no torch in {place.where}", fix="name another: --into ENV, or --torch FILE")
    seen = FitTorch(version=version, where=place.where, read=bool(found.torch.libraries), python=place.python)
    target = FitTarget(torch=seen, tags=_tags(place.python), known=versions_beside(version), gpus=_gpus())
    judged = [judge_fit(in_words(one, found.plain), target) for one in found.wheels]
    if "--no-torch" in place.words:
        get = f"pip download --no-deps torch=={place.version}, then --torch FILE"
        judged = [replace(one, notes=[*one.notes, get]) if one.answer == "unknown" else one for one in judged]
    answers = {one.answer for one in judged}
    code = WorkFailedError.code if "does_not_fit" in answers else NotReadyError.code if "unknown" in answers else 0
    return Result("wheel fits", FitResult(torch=seen, wheels=judged), code=code)


def _gpus() -> dict[str, list[str]]:
    """Give the Intel GPUs of this machine that PyTorch would use, each with its name among images."""
    seen = used_devices(probe(["hardware"]), gpu_table(), "xpu")
    return {each.title(): [each.family.device] for each in seen if each.family.targets}


# Where the torch is.


def _find_environment(where: Where) -> TorchPlace:
    chosen = choose_python(where)
    if not chosen.python:
        fix = "name the torch: --into ENV, --profile NAME, or --torch FILE"
        raise NotReadyError("no torch is named, and no Python environment is active here", fix=fix)
    return _environment(Path(chosen.python).parent.parent, chosen.by)


def _environment(prefix: Path, by: str) -> TorchPlace:
    places = list(site_packages(prefix))
    found = re.search(r"python(3\.\d+t?)/", f"{places[0]}/") if places else None
    words = ("--prefix", str(prefix), *(word for each in places for word in ("--place", str(each))))
    return TorchPlace(words, f"{prefix} ({by})", found[1] if found else "")


def _find_torch(name: str) -> TorchPlace:
    """Find what --torch names: a wheel, a folder with torch's libraries, or a version that is here."""
    path = from_home(name)
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return TorchPlace(("--torch-wheel", str(path)), str(path), _python_of(path))
    try:
        wanted = Version(name)
    except InvalidVersion:
        fix = "name a wheel of torch, the folder of its libraries, or a version such as 2.13.0"
        raise UsageError(f"--torch {name} is neither a wheel or folder that is there, nor a version", fix=fix) from None
    for prefix in _prefixes():
        place = _environment(prefix, f"torch {name} is here")
        version = read_version(list(site_packages(prefix)))
        if version and wanted in (Version(version), Version(Version(version).public)):
            return place
    return TorchPlace(("--no-torch",), "nowhere here", version=name)


def _folder(path: Path) -> TorchPlace:
    inside = [path / below for below in ("", "torch/lib", "lib") if (path / below / "libtorch_cpu.so").is_file()]
    if not inside:
        raise UsageError(f"{path} holds no libtorch_cpu.so", fix="name the folder torch/lib of an installed torch")
    modules = [each.name for each in inside[0].parent.glob("_C.*.so")]
    found = re.search(r"_C\.cpython-3(\d+t?)-", modules[0]) if modules else None
    return TorchPlace(("--torch-folder", str(inside[0])), str(inside[0]), f"3.{found[1]}" if found else "")


def _python_of(wheel: Path) -> str:
    try:
        name, _, _, tags = parse_wheel_filename(wheel.name)
    except (InvalidWheelFilename, InvalidVersion) as error:
        raise UsageError(f"--torch {wheel} is no wheel: {error}", fix="name a wheel of torch") from None
    if name != "torch":
        raise UsageError(f"--torch {wheel} is a wheel of {name}", fix="name a wheel of torch")
    found = next((re.fullmatch(r"cp3(\d+t?)", each.abi) for each in tags), None)
    return f"3.{found[1]}" if found else ""


def _prefixes() -> Iterator[Path]:
    """Give the environments at hand: the active one, then those that this program built."""
    python, _ = active_python()
    if python:
        yield Path(python).parent.parent
    for root in find_roots(roots_folder(load_settings())):
        yield root / "venv"


def _tags(python: str) -> frozenset[Tag] | None:
    """Give the tags of wheels that a Python takes on this machine; None where the Python is not known."""
    if not python:
        return None
    version = (3, int(python.removeprefix("3.").rstrip("t")))
    abi = f"cp3{version[1]}{'t' if python.endswith('t') else ''}"
    platforms = list(platform_tags())
    own = cpython_tags(version, [abi], platforms)
    return frozenset((*own, *compatible_tags(version, f"cp3{version[1]}", platforms)))


# What the helper says.


def _inspect(paths: Sequence[Path], place: TorchPlace) -> Inspection:
    sysroot = Sysroot.from_environment()
    words = (*(map(str, paths)), *place.words, *(("--sysroot", sysroot.text) if sysroot.text else ()))
    output = run_process((sys.executable, "-B", str(files.package_file(HELPER)), *words), seconds=TIMEOUT_S)
    last = next(reversed(output.err.strip().splitlines()), "") or output.why
    if output.code == UsageError.code:
        raise UsageError(last or "the torch cannot be read", command="xpusetup wheel fits --help")
    try:
        return read_as(Inspection, json.loads(output.out))
    except ValueError:
        raise WorkFailedError(f"the wheels were not read to their end: {last or 'no word'}", fix="try again") from None
