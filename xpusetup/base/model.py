"""The nouns that packages hand to each other: frozen, plain, without inheritance; and the events of a build."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from xpusetup.base.command import Command

# What happens while a plan runs, as values: show draws them, `--events` writes them, tests read them.


Kind = Literal["plan", "note", "progress", "start", "output", "end"]
"""A note warns, or says what else is to be known; progress says what is done now."""
State = Literal["done", "ran", "failed", "no-device", "interrupted", ""]
PROGRESS = re.compile(r"^ *\[(\d+)/(\d+)\] ?")
SUMMARY = "= "
"""How a line begins in which a step says what it found; the last such line counts."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened. `time` is in seconds since the epoch, `seconds` how long a step took.

    `text` of an end is what the step said it found; `count` of `total` is how far a step or a plan has come; `jobs`
    how many compilers a plan runs at once; `left` and `left_of_all` are the seconds that a step and the whole plan
    still take, 0 where that is not known. A note whose `state` is `done` was said by the build before.
    """

    kind: Kind
    time: float
    step: str = ""
    title: str = ""
    text: str = ""
    state: State = ""
    seconds: float = 0.0
    count: int = 0
    total: int = 0
    jobs: int = 0
    left: float = 0.0
    left_of_all: float = 0.0

    def document(self) -> dict[str, Any]:
        """Give the event without what it does not say, for one line of JSON."""
        return {name: value for name, value in asdict(self).items() if value not in ("", 0, 0.0)}


def parse_progress(line: str) -> tuple[int, int]:
    """Read ninja's [n/m] at the start of a line; (0, 0) when there is none."""
    found = PROGRESS.match(line)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def parse_summary(line: str) -> str:
    """Read what a step says that it found; empty when the line is none of that kind."""
    return line.removeprefix(SUMMARY).strip().replace(" | ", " · ") if line.startswith(SUMMARY) else ""


@dataclass(frozen=True)
class FoundRef:
    """A commit, and the full name of the ref it was found under; empty for a commit that was named itself."""

    rev: str
    ref: str = ""

    @property
    def tag(self) -> str:
        return self.ref.removeprefix("refs/tags/") if self.ref.startswith("refs/tags/") else ""


# Vocabulary: a *Profile* (config/profile.py) says what to build, a *Target* what for, a *Layout* where things go, a
# *Request* what was asked on the command line; a *Plan* is the Steps that follow from these four. Strings in a
# Layout or a Step may hold `ROOT`, which the scripts replace by the folder they lie in.


ROOT = "@ROOT@"
"""Stands for the root folder in a plan, so that a plan is the same wherever it is run."""

Need = Literal["network", "compiler", "toolkit", "device", "nodes", "root"]
Level = Literal["ok", "info", "warn", "fail", "skip", "crash", "unknown"]
StepState = Literal["done", "stale", "todo"]
VerifyMode = Literal["", "auto", "require", "off"]
"""Empty: nothing was said of it, which is as in the last build of a root that is named, else `auto`."""
MissingProof = Literal["", "no device", "off"]
"""Why a build is not verified: there was no device, or it was not asked for; empty where that is not known."""
AddonDevice = Literal["gpu", "processor"]
Provider = Literal["setvars", "scripts", "modules", "environment"]
Goal = Literal["build", "run"]


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A patch for a source that is fetched: what it is called, and its text, which travels with the steps."""

    source: str
    file: str
    text: str

    @property
    def digest(self) -> str:
        """The beginning of the hash of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """The name under which it travels: it tells the content, so that a key sees a change."""
        return f"{self.source}-{PurePosixPath(self.file).stem}-{self.digest}.patch"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked on the command line, as far as it decides what the plan holds.

    `sources` are folders that stand for a component's source, or for one that is vendored in it; `patches` are for
    one of them. What is `editable` is installed so from its tree; what is `pinned` is no tree any more, whatever its
    root was last built of. `target` is what alone ninja builds of a component.
    `require_hashes`: nothing comes in that has no published hash. `device`: on what XPU beside a torch computes.
    """

    only: tuple[str, ...] = ()
    until: str = ""
    arch: tuple[str, ...] = ()
    set: tuple[tuple[str, str, str], ...] = ()
    verify: VerifyMode = "auto"
    sources: tuple[tuple[str, str], ...] = ()
    patches: tuple[Patch, ...] = ()
    editable: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    target: str = ""
    require_hashes: bool = False
    device: AddonDevice = "gpu"


@dataclass(frozen=True, kw_only=True)
class Toolkit:
    """An accelerator's tool chain as found: how to switch it on, and the compiler that stands for its identity.

    `product` is what people call it, `scripts` are absolute paths to source, `prelude` lines of a site file, `sets`
    variables that must be set afterwards. `at_run_time`: the finished wheels need it too, because they bring no runtime
    of their own.
    """

    provider: Provider
    version: str
    compiler: str
    root: str = ""
    scripts: tuple[str, ...] = ()
    prelude: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    at_run_time: bool = False
    product: str = "oneAPI"

    @property
    def title(self) -> str:
        """What people call it, with its version."""
        return f"{self.product} {self.version}"

    @property
    def made(self) -> bool:
        """Whether a step of the build makes it, inside the root."""
        return self.root.startswith(ROOT)

    def below(self, root: str) -> Toolkit:
        """Give it with the paths that it has in a root; of one that is made there no version is to be compared."""
        paths = {name: getattr(self, name).replace(ROOT, root) for name in ("compiler", "root")}
        scripts = tuple(script.replace(ROOT, root) for script in self.scripts)
        return replace(self, **paths, scripts=scripts, version="" if self.made else self.version)


@dataclass(frozen=True, kw_only=True)
class Mode:
    """A way in which a device runs a model. `variables` (NAME=VALUE) choose it before the extension is imported.

    `models` are further ones for vision models, `skips` the checks of verify that the mode is not for.
    """

    name: str
    variables: tuple[str, ...]
    models: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()


XPU = "xpu"
"""What `--only` calls XPU beside a torch that is there, built as a wheel of its own."""
NONE = "none"
"""Among device targets the word that asks torch-xpu-ops for generic code alone."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a plan builds for.

    `gaps` are the checks of verify that the device may fail, as ID=REASON, `skips` those that are not tried on it.
    `variables` (NAME=VALUE) and the first of `scripts` that is there set what the device's libraries need where they
    run; `modes` are those that are verified, the first of which is the usual one. `extension` is the module that
    teaches torch the device, `loader` its class of data loaders.
    """

    python: str
    python_version: str
    accelerator: str
    cc: str = "gcc"
    cxx: str = "g++"
    linker: str = ""
    arch: tuple[str, ...] = ()
    toolkit: Toolkit | None = None
    device_expected: bool = False
    compile_backend: str = ""
    collective_backend: str = ""
    gaps: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ()
    extension: str = ""
    loader: str = ""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where things go. The default keeps everything below the root.

    `adopted`: the environment in `venv` is someone else's (a venv, a conda prefix); it is looked at and never made.
    """

    src: str = f"{ROOT}/src"
    venv: str = f"{ROOT}/venv"
    wheels: str = f"{ROOT}/wheels"
    results: str = f"{ROOT}/results"
    helpers: str = f"{ROOT}/helpers"
    adopted: bool = False

    @property
    def python(self) -> str:
        """The interpreter of the built environment."""
        return f"{self.venv}/bin/python"

    @property
    def outside(self) -> dict[str, str]:
        """The folders outside of the root, by the option that names each."""
        places = {"--build-dir": self.src, "--into" if self.adopted else "--prefix": self.venv}
        return {option: place for option, place in places.items() if not place.startswith(ROOT)}


@dataclass(frozen=True, kw_only=True)
class Step:
    """One unit of work: commands, their environment, what they need and what they make.

    `after` orders steps and is part of a step's key; `locks` names what no two steps may hold at once; `makes` are
    files (shell patterns allowed in the last part) that must exist when the step is done. `source_date_from` is a
    git tree whose commit date becomes SOURCE_DATE_EPOCH, or a file `*.date` that holds it. `wrap_compilers`: its
    compilers are found on PATH alone, where a compiler cache can stand before them; CMake is told by variables of
    its own. `always`: it runs each time, because only its own tools see what changed in the tree that it works on.
    `protected_trees` are trees of the user's own, in which git fetches and checks out nothing.
    """

    id: str
    title: str
    run: tuple[tuple[str, ...], ...]
    cwd: str = ROOT
    env: tuple[tuple[str, str], ...] = ()
    needs: tuple[Need, ...] = ()
    after: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    source_date_from: str = ""
    component: str = ""
    wrap_compilers: bool = False
    always: bool = False
    protected_trees: tuple[str, ...] = ()


BUILD_PATH = "/usr/local/src"
"""Where what compiles sees its root, by a bind mount, where that is allowed. docs/decisions/0056 has the reasons."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The steps in an order in which they can run."""

    profile: str
    target: Target
    layout: Layout
    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Fix:
    """How to mend something: what to do in words, and commands by distribution family ("any" serves all)."""

    say: str = ""
    commands: tuple[tuple[str, tuple[Command, ...]], ...] = ()

    def commands_for(self, families: tuple[str, ...]) -> tuple[Command, ...]:
        """Give the commands of the first family that is known, most particular first."""
        by_family = dict(self.commands)
        return next((by_family[name] for name in (*families, "any") if name in by_family), ())


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one check says of one machine."""

    id: str
    area: str
    level: Level
    title: str
    seen: str
    why: str = ""
    fix: Fix = field(default_factory=Fix)
    source: str = ""
    caused_by: str = ""


@dataclass(frozen=True, kw_only=True)
class RootWheel:
    """A wheel in the root; `provenance` is the file that says what it was built from, None where it was not built."""

    name: str
    version: str
    path: str
    sha256: str
    provenance: str | None = None


@dataclass(frozen=True)
class Misfit:
    """A distribution that lies beside a torch and cannot be loaded there: what of it is so, and the first reason.

    `damaged`: a file of it is no whole library for this machine.
    """

    name: str
    version: str
    reason: str
    damaged: bool = False


@dataclass(frozen=True, kw_only=True)
class JournalLine:
    """One line of the journal: what happened to a step, when (seconds since the epoch), and what it made.

    A step that compiles has a load: with how many jobs, by how many bytes the memory in use grew, its largest process.
    `needs` are the step's. `edges`: how many commands ninja had to run; `cached`: how many compiles a compiler cache
    had, and how many not.
    """

    step: str
    key: str
    state: str
    time: float
    seconds: float = 0.0
    made: tuple[str, ...] = ()
    load: tuple[int, int, int] | None = None
    lane: str = ""
    needs: tuple[str, ...] | None = None
    edges: int = 0
    cached: tuple[int, int] | None = None


MOST = 1e15
"""No moment and no amount of a build is larger: not even its bytes."""


def parse_journal_line(text: str) -> JournalLine | None:
    """Read a line of the journal; None for one that was cut off by a crash, or is damaged."""
    try:
        told = json.loads(text)
        times = float(told["time"]), float(told["seconds"])
        jobs, growth, heaviest = map(int, told.get("load") or (0, 0, 0))
        hits, misses = map(int, told.get("cached") or (0, 0))
        needs = told.get("needs")
        return (
            JournalLine(
                step=str(told["step"]),
                key=str(told.get("key", "")),
                state=str(told["state"]),
                time=times[0],
                seconds=times[1],
                load=(jobs, growth, heaviest) if jobs > 0 else None,
                lane=str(told.get("lane") or "work"),
                needs=None if needs is None else tuple(map(str, needs)),
                edges=int(told.get("edges", 0)),
                cached=(hits, misses) if hits + misses else None,
            )
            if max(map(abs, (*times, growth, heaviest))) < MOST
            else None
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


BuildState: TypeAlias = Literal["done", "half", "at work", "failed", "damaged"]


@dataclass(frozen=True, kw_only=True)
class BuildSummary:
    """A build in the list: what it is of, how far it is, what was made, what is damaged, what was proven.

    `torch` is the release of PyTorch, empty where that is unknown; `venv` the environment; `interrupted` the steps in
    which the last run was. `bytes` is what its folder
    takes on the disk, null where nobody looked; `age_s` the seconds since its last step or verification ended, null
    where nothing ran yet.
    """

    name: str
    profile: str
    torch: str
    python: str
    arch: list[str]
    made_by: str
    state: BuildState
    steps: int
    done: int
    interrupted: list[str]
    failed: str | None
    damaged: dict[str, str]
    wheels: list[RootWheel]
    verified: bool | None
    venv: str
    bytes: int | None
    age_s: int | None
