"""What upstream's own files say of a release: one rule a file, each a pure function of its text.

Words: a *reading* is one value with the file and line that says it. A rule that finds nothing in a file that is there
gives no reading: upstream has changed its words, and the pin stays unconfirmed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from xpusetup.base.values import Confidence, TomlError, parse_toml
from xpusetup.config.cmake import commands_of, find_tag


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What one place says of one pin. `source` names that place: file, line and commit, or a wheel and its hash."""

    pin: str
    value: str
    source: str
    confidence: Confidence = "confirmed"


@dataclass(frozen=True)
class FoundPin:
    """What a rule found: a pin, its value, and the number of the line."""

    pin: str
    value: str
    line: int


@dataclass(frozen=True)
class UpstreamFile:
    """A file of upstream's, the places where it has stood, newest first; the pins that it tells, and how it is read."""

    paths: tuple[str, ...]
    tells: tuple[str, ...]
    read: Callable[[str], Iterator[FoundPin]]


OPS = "third_party/torch-xpu-ops"
"""Where the torch tree has torch-xpu-ops; its files are named from there."""
COMMIT = re.compile(r"\b[0-9a-f]{40}\b")
LINUX = {
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "os_name": "posix",
    "extra": "",
}
"""The machine whose wheels are meant."""
ONEDNN = ("https://github.com/uxlfoundation/oneDNN", "https://github.com/oneapi-src/oneDNN")
SYCL_TLA = ("https://github.com/intel/sycl-tla", "https://github.com/codeplaysoftware/cutlass-sycl")


def _at(text: str, found: str, start: int = 0) -> int:
    """Give the number of the first line from a place on that holds some words; 1 where none does."""
    return text[: max(0, text.find(found, start))].count("\n") + 1


# One rule a file.


def read_ops(text: str) -> Iterator[FoundPin]:
    """Read the commit of torch-xpu-ops."""
    if found := COMMIT.search(text):
        yield FoundPin("torch-xpu-ops.rev", found[0], _at(text, found[0]))


def read_triton(text: str) -> Iterator[FoundPin]:
    """Read the version of Triton's wheel."""
    try:
        yield FoundPin("triton.version", str(Version(text.strip())), 1)
    except InvalidVersion:
        return


def read_onednn(text: str) -> Iterator[FoundPin]:
    """Read the tag or commit at which the build clones oneDNN."""
    named = find_tag(text, ONEDNN)
    if named and "${" not in named:
        yield FoundPin("onednn.rev" if COMMIT.fullmatch(named) else "onednn.tag", named, _at(text, named))


def read_sycl_tla(text: str) -> Iterator[FoundPin]:
    """Read the tag at which configure clones SYCL-TLA."""
    named = find_tag(text, SYCL_TLA)
    if named and "${" not in named:
        yield FoundPin("sycl-tla.tag", named, _at(text, named))


def read_matrix(text: str) -> Iterator[FoundPin]:
    """Read what the wheel for Intel GPUs requires, and the Pythons that wheels are made for."""
    tables = _tables(text)
    extra = tables.get("PYTORCH_EXTRA_INSTALL_REQUIREMENTS")
    if isinstance(extra, ast.Dict):
        for key, value in zip(extra.keys, extra.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "xpu":
                yield from _requirements(text, value)
    pythons = tables.get("FULL_PYTHON_VERSIONS")
    if isinstance(pythons, ast.List):
        named = [each.value for each in pythons.elts if isinstance(each, ast.Constant)]
        yield from _newest_python([str(each) for each in named], pythons.lineno)


def _tables(text: str) -> dict[str, ast.expr]:
    """Give what the names at the top of a Python file are set to, as it is written; nothing of it runs."""
    found: dict[str, ast.expr] = {}
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    for node in body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.expr):
            found[target.id] = value
    return found


def _requirements(text: str, value: ast.expr) -> Iterator[FoundPin]:
    try:
        written = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return
    start = sum(len(each) for each in text.splitlines(keepends=True)[: value.lineno - 1])
    for name, version in exact_pins(str(written).split("|")):
        line = _at(text, f"{name}==", start)
        yield FoundPin(f"runtime.{name}", version, line)
        if name == "intel-sycl-rt":
            yield FoundPin("toolkit.preferred", ".".join(version.split(".")[:2]), line)


OWN = {"filelock", "fsspec", "jinja2", "networkx", "setuptools", "sympy", "typing-extensions"}
"""What every wheel of torch requires, on whatever device."""


def exact_pins(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give name and version of the requirements that hold on Linux and name one version."""
    for line in lines:
        try:
            wanted = Requirement(line.strip())
        except InvalidRequirement:
            continue
        one = [each.version for each in wanted.specifier if each.operator == "=="]
        name, here = canonicalize_name(wanted.name), wanted.marker is None or wanted.marker.evaluate(LINUX)
        if here and name not in OWN and len(one) == 1 and "*" not in one[0]:
            yield name, one[0]


def _newest_python(named: Sequence[str], line: int) -> Iterator[FoundPin]:
    versions = [tuple(map(int, each.split("."))) for each in named if re.fullmatch(r"\d+\.\d+", each)]
    if versions:
        newest = max(versions)
        yield FoundPin("python.before", f"<{newest[0]}.{newest[1] + 1}", line)


ESSENTIALS = re.compile(r"intel-deep-learning-essentials-(\d{4}\.\d+)")


def read_toolkit(text: str) -> Iterator[FoundPin]:
    """Read the newest oneAPI that the CI installs."""
    found = sorted(ESSENTIALS.findall(text), key=Version)
    if found:
        yield FoundPin("toolkit.preferred", found[-1], _at(text, f"essentials-{found[-1]}"))


SCRIPT = re.compile(r"/opt/intel/oneapi/([\w.-]+/(?:latest|[\d.]+)/env/vars\.sh)")
EXPORT = re.compile(r"^\s*export (USE_\w+)=(\w+)", re.MULTILINE)


def read_wheel_build(text: str) -> Iterator[FoundPin]:
    """Read what the build of the published wheel sources and exports, in shell or in Python."""
    scripts = list(dict.fromkeys(SCRIPT.findall(text)))
    if scripts:
        yield FoundPin("toolkit.scripts", ", ".join(scripts), _at(text, scripts[0]))
    switches = _tables(text).get("XPU_BUILD_ENV")
    told = dict(EXPORT.findall(text)) if not isinstance(switches, ast.Dict) else {}
    if isinstance(switches, ast.Dict):
        pairs = zip(switches.keys, switches.values, strict=True)
        told = {
            str(key.value): str(value.value)
            for key, value in pairs
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
        }
    place = text.find("XPU_BUILD_ENV") if isinstance(switches, ast.Dict) else 0
    for name, value in told.items():
        yield FoundPin(f"torch.environment.{name}", value, _at(text, name, place))


BACKENDS = {"setuptools": "setup.py", "bdist_wheel": "setup.py", "scikit_build_core": "build"}
"""What a build back end is to a profile: `setup.py` is called itself, any other one by PEP 517."""


def read_project(text: str) -> Iterator[FoundPin]:
    """Read the build back end and the oldest Python."""
    try:
        table = parse_toml(text)
    except TomlError:
        return
    build, project = table.get("build-system"), table.get("project")
    backend = str(build.get("build-backend", "")) if isinstance(build, dict) else ""
    if front := BACKENDS.get(backend.partition(".")[0]):
        yield FoundPin("torch.frontend", front, _at(text, "build-backend"))
    oldest = str(project.get("requires-python", "")) if isinstance(project, dict) else ""
    yield from _oldest_python(oldest, _at(text, "requires-python"))


def _oldest_python(text: str, line: int) -> Iterator[FoundPin]:
    found = re.search(r">=\s*(\d+\.\d+)", text)
    if found:
        yield FoundPin("python.from", f">={found[1]}", line)


def read_cmake(text: str) -> Iterator[FoundPin]:
    """Read the oldest CMake."""
    found = re.search(r"^\s*cmake_minimum_required\(\s*VERSION\s+(\d+\.\d+)", text, re.MULTILINE | re.IGNORECASE)
    if found:
        yield FoundPin("cmake", f">={found[1]}", _at(text, found[0].strip()))


def read_readme(text: str) -> Iterator[FoundPin]:
    """Read the oldest GCC: the sources say it in the README alone."""
    found = re.search(r"gcc (\d+\.\d+)[\d.]* or newer", text)
    if found:
        yield FoundPin("gcc", f">={found[1]}", _at(text, found[0]))


def read_targets(text: str) -> Iterator[FoundPin]:
    """Read the default device targets of Linux: the list that is set where Windows has another one, or the only one."""
    branches: list[bool] = []
    for name, words in commands_of(text):
        if name in {"if", "elseif", "else", "endif"}:
            branches = _enter(branches, name, words)
        literal = len(words) > 1 and words[0] == "AOT_TARGETS" and re.fullmatch(r"[\w.,-]+", words[1])
        if name == "set" and literal and not any(branches) and words[1] != "none":
            yield FoundPin("arch.default", ", ".join(words[1].split(",")), _at(text, words[1]))
            return


def _enter(branches: list[bool], name: str, words: Sequence[str]) -> list[bool]:
    """Follow CMake's branches: whether each that is open holds on Windows alone."""
    if name == "if":
        return [*branches, list(words) == ["WIN32"]]
    return branches[:-1] if name == "endif" else [*branches[:-1], False]


RULES = (
    UpstreamFile(("third_party/xpu.txt",), ("torch-xpu-ops.rev",), read_ops),
    UpstreamFile((".ci/docker/triton_xpu_version.txt",), ("triton.version",), read_triton),
    UpstreamFile(("cmake/Modules/FindMKLDNN.cmake",), ("onednn",), read_onednn),
    UpstreamFile(
        (".github/scripts/generate_binary_build_matrix.py",),
        ("runtime", "toolkit.preferred", "python.before"),
        read_matrix,
    ),
    UpstreamFile((".ci/docker/common/install_xpu.sh",), ("toolkit.preferred",), read_toolkit),
    UpstreamFile(
        (".ci/wheel/linux/build_env_setup.py", ".ci/manywheel/build_env_setup.py", ".ci/manywheel/build_xpu.sh"),
        ("toolkit.scripts", "torch.environment"),
        read_wheel_build,
    ),
    UpstreamFile(("pyproject.toml",), ("torch.frontend", "python.from"), read_project),
    UpstreamFile(("CMakeLists.txt",), ("cmake",), read_cmake),
    UpstreamFile(("README.md",), ("gcc",), read_readme),
    UpstreamFile((f"{OPS}/cmake/BuildFlags.cmake",), ("arch.default",), read_targets),
    UpstreamFile((f"{OPS}/cmake/SYCLTLA.cmake",), ("sycl-tla.tag",), read_sycl_tla),
)
"""Which file tells which pin. Where several tell one they have to agree, else it is not confirmed."""
NEEDED = "third_party/xpu.txt"
"""Without this one a tree says nothing of Intel GPUs."""
VERSION_FILE = "version.txt"
BESIDE = (VERSION_FILE, "requirements-build.txt", "requirements.txt")
"""Files that tell no pin, and are held against those of the profile."""


def paths_of_torch() -> tuple[str, ...]:
    """Give the files of the torch tree that are read."""
    return (*BESIDE, *(path for rule in RULES for path in rule.paths if not path.startswith(OPS)))


def paths_of_ops() -> tuple[str, ...]:
    """Give the files of torch-xpu-ops that are read, from its own root."""
    return tuple(path.removeprefix(f"{OPS}/") for rule in RULES for path in rule.paths if path.startswith(OPS))


def read_tree(files: Mapping[str, str | None], where: str) -> Iterator[Reading]:
    """Read what the files of a torch tree say; `where` names the tree, in the source of each reading."""
    for rule in RULES:
        for path in rule.paths:
            text = files.get(path)
            if text is None:
                continue
            for said in rule.read(text):
                yield Reading(pin=said.pin, value=said.value, source=f"{path}:{said.line} of {where}")
            break


def places_of(pin: str) -> tuple[str, ...]:
    """Give the files that tell a pin, as upstream has them now."""
    told = [rule for rule in RULES if any(pin == each or pin.startswith(f"{each}.") for each in rule.tells)]
    return tuple(rule.paths[0] for rule in told)


def places_lacking(files: Mapping[str, str | None]) -> tuple[str, ...]:
    """Give the files that a tree has in none of the places where they have stood, by the newest place."""
    return tuple(rule.paths[0] for rule in RULES if all(files.get(path) is None for path in rule.paths))


# What published wheels say: their metadata, and the commit that is in their version file.


@dataclass(frozen=True, kw_only=True)
class IndexWheel:
    """A wheel that an index has, and what was read in it.

    `pythons` are the versions that the index has files of this release for, `commit` that of its version file, `gcc`
    the oldest that the README in its metadata asks for, `generator` the build back end that made it.
    """

    name: str
    version: str
    file: str
    sha256: str = ""
    requires_python: str = ""
    requires: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    commit: str = ""
    gcc: str = ""
    generator: str = ""

    @property
    def place(self) -> str:
        """How the wheel is named as a source."""
        return f"{self.file} (sha256 {self.sha256[:12]})" if self.sha256 else self.file

    @property
    def for_xpu(self) -> bool:
        """Whether it is the build for Intel GPUs."""
        return Version(self.version).local == "xpu"


def read_torch_wheel(wheel: IndexWheel) -> Iterator[Reading]:
    """Read what the wheel of torch says: Pythons and commit; that for Intel GPUs also what it requires.

    A tag may be one commit past that of the wheel, so the wheel's is likely.
    """

    def give(pin: str, value: str, confidence: Confidence = "confirmed") -> Reading:
        return Reading(pin=pin, value=value, source=wheel.place, confidence=confidence)

    yield give("torch.version", f"{Version(wheel.version).public}+xpu")
    if wheel.commit:
        yield give("torch.rev", wheel.commit, "likely")
    said = [*_oldest_python(wheel.requires_python, 0), *_newest_python(wheel.pythons, 0)]
    yield from (give(each.pin, each.value) for each in said)
    if front := BACKENDS.get(wheel.generator.partition(" ")[0].replace("-", "_")):
        yield give("torch.frontend", front)
    if wheel.gcc:
        yield give("gcc", f">={wheel.gcc}")
    if wheel.for_xpu:
        for name, version in exact_pins(wheel.requires):
            yield give("triton.version" if name.endswith("triton-xpu") else f"runtime.{name}", version)
            if name == "intel-sycl-rt":
                yield give("toolkit.preferred", ".".join(version.split(".")[:2]))


def read_partner(part: str, wheels: Sequence[IndexWheel], torch: str) -> Iterator[Reading]:
    """Read which torchvision or torchaudio goes with a torch: the one that requires just that, else the newest.

    `torch` is the public version. Only a wheel that requires this very torch is surely the one.
    """
    ranked = sorted(wheels, key=lambda each: Version(each.version), reverse=True)
    judged = [(each, _admits(each, torch)) for each in ranked]
    chosen = next(((each, how) for each, how in judged if how == "exact"), None)
    chosen = chosen or next(((each, how) for each, how in judged if how), None)
    if chosen is None:
        return
    wheel, how = chosen
    confidence: Confidence = "confirmed" if how == "exact" else "likely"
    version = f"{Version(wheel.version).public}+xpu"
    yield Reading(pin=f"{part}.version", value=version, source=wheel.place, confidence=confidence)
    if wheel.commit:
        yield Reading(pin=f"{part}.rev", value=wheel.commit, source=wheel.place, confidence=confidence)
    excluded = ", ".join(re.findall(r"!=\s*[\d.]+", wheel.requires_python)).replace(" ", "")
    if excluded and part == "vision":
        yield Reading(pin="python.not", value=excluded, source=wheel.place, confidence=confidence)


def _admits(wheel: IndexWheel, torch: str) -> str:
    """Say how a wheel goes with a torch: `exact`, `open` where it admits others too, or not at all, which is empty."""
    for line in wheel.requires:
        try:
            wanted = Requirement(line)
        except InvalidRequirement:
            continue
        if canonicalize_name(wanted.name) == "torch":
            exact = any(each.operator == "==" for each in wanted.specifier)
            return ("exact" if exact else "open") if wanted.specifier.contains(torch, prereleases=True) else ""
    return "open"
