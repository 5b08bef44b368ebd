"""Facts of Python: interpreters, environments, the torch in them, and source trees."""

from dataclasses import dataclass, field
from typing import Literal

from xpusetup.base.model import Misfit
from xpusetup.base.values import Table


@dataclass(frozen=True, kw_only=True)
class ForeignEnvironment(Table):
    """An environment that someone else made, into which a build installs.

    `refused` says why it can't, `fix` what to do then; `installed` holds versions by normalised name.
    """

    prefix: str
    kind: Literal["venv", "conda", "interpreter"]
    refused: str = ""
    fix: str = ""
    pip: bool
    installed: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Python(Table):
    """An interpreter that carries the environment. `headers`: Python.h; `venv`: ensurepip is there."""

    executable: str
    version: str
    headers: bool
    venv: bool
    free_threaded: bool = False
    adopted: ForeignEnvironment | None = None


@dataclass(frozen=True, kw_only=True)
class EntryPoint(Table):
    """A `torch.backends` entry: what `import torch` loads by itself, and the distribution that brings it."""

    name: str
    value: str
    distribution: str
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class ImportReport(Table):
    """What happened when torch was imported in its own process; seconds of the clock.

    `error` is its last line where it failed, `messages` what it warned of. What was not reached is None. The name of a
    device that is no GPU ends with "(processor)".
    """

    error: str = ""
    messages: list[str] = field(default_factory=list)
    seconds: float
    version: str | None = None
    xpu: str | None = None
    cuda: str | None = None
    compiled: bool | None = None
    available: bool | None = None
    count: int | None = None
    devices: list[str] = field(default_factory=list)
    cxx11_abi: bool | None = None


@dataclass(frozen=True, kw_only=True)
class LibraryConflict(Table):
    """Two files that cannot work together in one process, read from the files alone.

    `library` asks for `names` (`count` of them) and gets `first`, which lacks them; `has` is another that has them.
    `kind`: "symbol", "version" (a version node), "abi" (the other C++ ABI), "torch" (built for another one), "majors"
    (two of a library of which there may be one), "missing", "hidden" (by LD_LIBRARY_PATH), "offered" (another major,
    there), "files" (two packages wrote the same ones) or "gone" (files that a package lists and are not there).
    `owners`: whose `library`, `first` and `has` are.
    """

    kind: Literal["symbol", "version", "abi", "torch", "majors", "missing", "hidden", "offered", "files", "gone"]
    level: Literal["warn", "fail"]
    library: str = ""
    names: list[str] = field(default_factory=list)
    count: int = 0
    first: str = ""
    has: str = ""
    owners: dict[Literal["library", "first", "has"], str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class InstalledTorch(Table):
    """The torch of an environment, read from its files; nothing is imported for that.

    `python` is the interpreter, `prefix` its environment, empty where that was not told. `distributions` are the
    watched ones by normalised name, `doubled` those with several versions in one place; `requires` is what torch asks
    for with an exact version, `asked` what torchvision and torchaudio require of torch, by their metadata. `xpu` and
    `cuda` are those of torch/version.py: the toolkit's version, empty for none. `sycl` are the sonames of libsycl that
    torch asks for, `libraries` {soname: path} the watched ones that the environment itself holds, `conflicts` what
    cannot work together, `misfits` what is compiled against another torch. `glibcxx` is the highest version in the
    environment's own libstdc++, `glibcxx_system` that in the system's: 30 stands for GLIBCXX_3.4.30. `replaced` is the
    build for XPU that was there before, where an installer was seen to take it away.
    """

    python: str
    prefix: str
    kind: Literal["venv", "conda", "interpreter"]
    distributions: dict[str, str] = field(default_factory=dict)
    doubled: list[str] = field(default_factory=list)
    requires: list[str] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)
    entry_points: list[EntryPoint] = field(default_factory=list)
    version: str | None = None
    xpu: str | None = None
    cuda: str | None = None
    sycl: list[str] = field(default_factory=list)
    libraries: dict[str, str] = field(default_factory=dict)
    conflicts: list[LibraryConflict] | None = None
    misfits: list[Misfit] | None = None
    glibcxx: int | None = None
    glibcxx_system: int | None = None
    replaced: str = ""
    report: ImportReport | None = None

    @property
    def place(self) -> str:
        """Where it is, as the end of a phrase; empty where a post does not tell."""
        return f" in {self.prefix}" if self.prefix else ""


@dataclass(frozen=True, kw_only=True)
class TorchTree(Table):
    """A PyTorch source tree: the one that is built from, or the one in which this was started.

    `submodules` are those whose folder is empty. `cache` holds a few entries of its build/CMakeCache.txt. `in_use`:
    this was started inside of it, so that its torch folder hides the installed one.
    """

    path: str
    version: str | None = None
    git: bool
    in_use: bool
    submodules: list[str] = field(default_factory=list)
    cache: dict[str, str] | None = None
    setup_py: bool = False
