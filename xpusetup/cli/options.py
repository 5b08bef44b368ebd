"""Options that several commands share: one wording each, in groups that a command takes whole.

A command that takes a group, as `where: options.BuildWhere`, has each of its options as its own (`spread`). One that
gives a result (`command`) has it told by its group `told`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from xpusetup.base.verbs import BUILD, PROFILE
from xpusetup.cli import complete
from xpusetup.cli.finish import finish, place_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from xpusetup.base.model import Request
    from xpusetup.commands.result import AnyResult
    from xpusetup.run.workspace import Where
    from xpusetup.ui.live import BuildView

    Answer = AnyResult
else:
    Answer = Any  # what commands give: their signatures name it, and none needs its module to be read

# Options that several commands share: one wording each.


Words = list[str] | None
"""What an option holds that may be given several times."""


def value(options: str, metavar: str, told: str, default: str = "", *, offer: Any = None, **more: Any) -> Any:
    """Give an option that takes a value; `default`: what the help says of its default, `offer` completes it."""
    return typer.Option(
        *options.split(), help=told, metavar=metavar, show_default=default or True, autocompletion=offer, **more
    )


def flag(options: str, told: str, **more: Any) -> Any:
    """Give an option that takes no value."""
    return typer.Option(*options.split(), help=told, **more)


def _choice(option: str, told: str, *words: str, default: str = "") -> Any:
    """Give an option that takes one of some words."""
    return value(option, "|".join(words), told, default, offer=complete.one_of(*words))


NEWEST = "the newest that fits this machine"
PROFILE_WORDS = "The profile: its name or file. 2.14 is short for torch-2.14."
ProfileName = Annotated[
    str, typer.Argument(help=PROFILE_WORDS, metavar="PROFILE", autocompletion=complete.profiles, show_default=NEWEST)
]
ProfileNames = Annotated[
    Words,
    typer.Argument(
        help=f"{PROFILE_WORDS} Several make a matrix.",
        metavar="PROFILE",
        autocompletion=complete.profiles,
        show_default=NEWEST,
    ),
]


def _build(default: str) -> Any:
    """Give the argument that names a build; `default`: which is meant without it."""
    return Annotated[
        str,
        typer.Argument(
            help="The build: its name, as list shows it.",
            metavar="BUILD",
            autocompletion=complete.builds,
            show_default=default or False,
        ),
    ]


Build = _build("the one that was finished or verified last")
AnyBuild = _build("the only one; several are listed")
NamedBuild = _build("")
OF_PROFILE = value("--profile -p", "NAME|FILE", "The profile: its name or file.", offer=complete.profiles)
OF_STACK = value(
    "--stack", "NAME|FILE", "A stack (torch and packages that need it): its name or file.", offer=complete.stacks
)
Profile = Annotated[str, OF_PROFILE]
Profiles = Annotated[Words, OF_PROFILE]
Stack = Annotated[str, OF_STACK]
Stacks = Annotated[Words, OF_STACK]
Root = Annotated[str, value("--root", "DIR", "The folder of the build itself.", allow_from_autoenv=False)]
Name = Annotated[str, value("--name", "NAME", "The build's name.", offer=complete.names)]
NewName = Annotated[str, value("--name", "NAME", "A name for the build.", "the profile's", offer=complete.names)]
BuildDir = Annotated[str, value("--build-dir", "DIR", "Keep and compile sources in this folder (scratch).")]
Prefix = Annotated[str, value("--prefix", "DIR", "Put the environment into this folder.")]
Into = Annotated[str, value("--into", "ENV", "Use this environment (venv, conda) instead of the build's own.")]
IntoNew = Annotated[
    str,
    value(
        "--into",
        "ENV",
        "Install into this venv or conda environment; a new folder becomes a venv.",
        "an environment of the build's own",
    ),
]
Python = Annotated[str, value("--python", "VERSION|PATH", "The interpreter: its version or path.")]
Rev = Annotated[
    Words,
    value(
        "--rev",
        "COMPONENT=REF",
        "Another revision of a component: tag, branch, commit or pr/N.",
        "those of the profile",
        offer=complete.assigned,
    ),
]
Take = Annotated[
    Words,
    value(
        "--take",
        "COMPONENT=source|wheel|skip",
        "Build a component from source, take its published wheel, or leave it out.",
        offer=complete.takes,
    ),
]
Toolkit = Annotated[
    str,
    value(
        "--toolkit", "NAME", "Compile with this toolkit of the profile.", "the profile's usual", offer=complete.toolkits
    ),
]
Pythons = Annotated[Words, value("--python", "VERSION", "The version of the interpreter.")]
Archs = Annotated[
    Words, value("--arch", "LIST", "GPUs to compile for, such as bmg,pvc.", "the profile's", offer=complete.targets)
]
Out = Annotated[str, value("--out -o", "FILE", "The file to write; - is stdout.")]
Bundle = Annotated[str, value("--bundle", "FILE", "Take all downloads from this bundle; use no network.")]
SetupGoal = Annotated[
    str, _choice("--for", "What the machine is for.", "build", "run", default="what the shortest way needs")
]
Goal = Annotated[str, _choice("--for", "What the machine is for.", "build", "run", default="both")]
Json = Annotated[bool, flag("--json", "Print one JSON document on stdout.")]
Quiet = Annotated[bool, flag("--quiet", "Print no progress; one line if all went well.")]
Verbose = Annotated[bool, flag("--verbose -v", "Print more.")]
Only = Annotated[Words, value("--only", "COMPONENT", "Build this component alone.", "all", offer=complete.components)]
Until = Annotated[
    str, value("--until", "STEP", "Stop after this step; plan lists them.", "the last step", offer=complete.steps)
]
Arch = Annotated[
    str,
    value("--arch", "auto|LIST", "GPUs to compile for, such as bmg,pvc; auto chooses them.", offer=complete.targets),
]
Set = Annotated[Words, value("--set", "COMPONENT.KEY=VALUE", "Set a variable of the build.", offer=complete.variables)]
Source = Annotated[
    Words,
    value(
        "--source",
        "COMPONENT=DIR[:editable]|pinned",
        "Build your own checkout, which is never reset; :editable installs it in place, pinned ends it.",
        offer=complete.assigned,
    ),
]
Patch = Annotated[
    Words, value("--patch", "COMPONENT=FILE", "Apply a patch to a downloaded source.", offer=complete.assigned)
]
ComputesOn = Annotated[str, _choice("--device", "With --only xpu: what it computes on.", "gpu", "processor")]
Target = Annotated[str, value("--target", "TARGET", "Build this ninja target alone, and no wheel.")]
Launcher = Annotated[
    str,
    _choice(
        "--launcher",
        "The compiler cache; auto: ccache or sccache, if one is installed.",
        "auto",
        "ccache",
        "sccache",
        "none",
    ),
]
Events = Annotated[str, value("--events", "FILE", "Write each event as a line of JSON.")]
Verify = Annotated[
    str,
    _choice(
        "--verify",
        "Verify at the end; auto: if there is a device. A named build keeps it.",
        "auto",
        "require",
        "off",
        default="auto",
    ),
]
Hashes = Annotated[bool, flag("--require-hashes", "Refuse downloads without a published hash.")]
Device = Annotated[
    Words, value("--device", "NAME|FILE", "The device: its name or device file.", "the one that is here")
]
Shell = Annotated[
    str, _choice("--shell", "The shell's language; csh serves tcsh too.", "sh", "fish", "csh", default="of your shell")
]
Level = Annotated[
    str,
    _choice(
        "--level",
        "How much to check: quick computes a little, smoke what a build ends with, full all.",
        "quick",
        "smoke",
        "full",
    ),
]
OnlyChecks = Annotated[Words, value("--only", "ID", "Run this check or area alone.")]
SkipChecks = Annotated[Words, value("--skip", "ID", "Leave this check or area out.")]
ListChecks = Annotated[bool, flag("--list", "List the checks, and run none.")]
Jobs = Annotated[int | None, value("--jobs -j", "N", "Number of compilers at a time.", "by cores and memory", min=1)]
Patience = Annotated[
    float | None, value("--patience", "S", "Seconds that a check may take.", "300; --devices: 60", min=1)
]
Junit = Annotated[str, value("--junit", "FILE", "Write the results as JUnit XML too.")]
OutFolder = Annotated[str, value("--out -o", "DIR", "The folder to write.")]
ImageOs = Annotated[str, value("--os", "SYSTEM", "The system of the image.", "ubuntu-24.04", offer=complete.systems)]
ImageTarget = Annotated[
    str, _choice("--target", "An image to use torch, or one to compile with it.", "runtime", "devel", default="runtime")
]
ORIGIN = ("--from", "Compile it, or install what was published.", "source", "wheels")
From = Annotated[str, _choice(*ORIGIN, default="source")]
FormFrom = Annotated[str, _choice(*ORIGIN, default="source; github: wheels")]
ImageDialect = Annotated[
    str,
    _choice(
        "--dialect",
        "portable serves builders without BuildKit, such as old buildah.",
        "buildkit",
        "portable",
        default="buildkit",
    ),
]
ImageBase = Annotated[str, value("--base", "IMAGE", "Another base image of that system.")]
ImageDriver = Annotated[str, _choice("--driver", "Which of Intel's driver packages.", "client", "data-center")]
ImagePin = Annotated[Words, value("--pin", "PACKAGE=VERSION", "Install a system package in this version.")]
AskOthers = Annotated[bool, flag("--prompt", "Print it as text for an assistant, a colleague or an issue.")]


# Groups of options that commands take whole.


@cache
def _options_of(group: Any) -> tuple[tuple[str, Any, Any], ...]:
    """Give the options of a group: name, type, default."""
    hints = get_type_hints(group, include_extras=True)
    return tuple((field.name, hints[field.name], field.default) for field in fields(group))


def _spread(
    work: Callable[..., AnyResult], more: tuple[tuple[str, Any, Any], ...]
) -> tuple[dict[str, tuple[Any, list[str]]], list[tuple[str, Any, Any]]]:
    """Give the groups that a command takes, and its parameters with each option of theirs as its own."""
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters: list[tuple[str, Any, Any]] = []
    for each, parameter in signature(work, eval_str=True).parameters.items():
        kind = parameter.annotation  # get_type_hints of Python 3.10 hides what has None as its default
        if is_dataclass(kind):
            own = _options_of(kind)  # type: ignore[arg-type]
            groups[each] = (kind, [option for option, _, _ in own])
            parameters += own
        else:
            parameters.append((each, kind, parameter.default))
    return groups, [*parameters, *more]


def command(
    name: str, *examples: str, takes: Any = None, common: str = "", follows: bool = False
) -> Callable[[Callable[..., AnyResult]], Callable[..., Any]]:
    """Make a command of what gives a result; that, or its error, is told as `told` says, and ends the program.

    `takes`: the argument that names a profile or a build. `common`: the options that come first in its help.
    `follows`: the words of another program come behind it.
    """

    def make(work: Callable[..., AnyResult]) -> Callable[..., Any]:
        groups, parameters = _spread(work, (("named", takes, None),) if takes else ())
        told_by, options = groups["told"]

        @wraps(work)
        def call(**words: Any) -> NoReturn:
            told: ResultOutput = told_by(**{option: words.pop(option) for option in options})

            def run() -> AnyResult:
                placed = place_words(words)
                taken = {
                    each: kind(**{option: placed.pop(option) for option in own})
                    for each, (kind, own) in groups.items()
                    if each != "told"
                }
                return work(**taken, **placed, told=told)

            told.finish(name, run)

        del call.__wrapped__  # Typer would read the signature of what is wrapped
        call.__annotations__ = {option: kind for option, kind, _ in parameters}
        call.__signature__ = Signature(  # type: ignore[attr-defined]
            [Parameter(each, Parameter.KEYWORD_ONLY, default=own, annotation=kind) for each, kind, own in parameters]
        )
        call.declared = Declared(name, examples, frozenset(common.split()), follows, _named_by(takes))  # type: ignore[attr-defined]
        return call

    return make


class Declared(NamedTuple):
    """What a command says of itself beside its options."""

    name: str
    examples: tuple[str, ...]
    common: frozenset[str]
    follows: bool
    takes: str


def _named_by(takes: Any) -> str:
    return BUILD if takes in (Build, AnyBuild, NamedBuild) else PROFILE if takes else ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ResultOutput:
    """How a command tells its result."""

    json: Json = False
    quiet: Quiet = False

    @property
    def silent(self) -> bool:
        """Whether nothing is said of progress."""
        return self.json or self.quiet

    def say(self, text: str) -> None:
        """Say something on stderr beside the result, unless it is to be quiet."""
        from xpusetup.ui.console import write_text

        if not self.quiet:
            with suppress(OSError):  # nobody hears it: what was asked for is done all the same
                write_text(f"xpusetup: {text}\n", stderr=True)

    def finish(self, command: str, work: Callable[[], AnyResult]) -> NoReturn:
        """Do the work, tell its result or error, and end the program."""
        finish(command, work, **vars(self))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LongOutput(ResultOutput):
    """How a command tells its result that can say more."""

    verbose: Verbose = False

    def view(self) -> BuildView:
        """Give the view of a build."""
        from xpusetup.cli.finish import writes_stdout
        from xpusetup.ui.live import BuildView

        return BuildView(**vars(self), stderr=writes_stdout())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RootWhere:
    """Which build is meant."""

    profile: Profile = ""
    root: Root = ""
    name: Name = ""

    def find(self, *, may_make: bool = False, say: Callable[[str], None] | None = None) -> Where:
        """Give the place; `may_make`: one that is not there yet is made. `say` is told which, if none is named."""
        from xpusetup.run.workspace import Where

        lists = {name: tuple(getattr(self, name, None) or ()) for name in ("rev", "take")}
        return Where(**{**vars(self), **lists}, may_make=may_make, say=say)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LockWhere(RootWhere):
    """Which build is meant, also one of another revision."""

    rev: Rev = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BuiltWhere(LockWhere):
    """Which build is meant that was made, also into an environment that was there."""

    into: Into = ""


ActiveInto = Annotated[str, value("--into", "ENV", "The environment.", "the active one")]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ActiveWhere(RootWhere):
    """Which environment is meant, that which is active where none is named."""

    into: ActiveInto = ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SourceWhere(LockWhere):
    """Where sources go, and of which parts."""

    take: Take = None
    build_dir: BuildDir = ""
    python: Python = ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BundleWhere(SourceWhere):
    """Of what a bundle is made: a profile or a stack, and with what that will be compiled."""

    stack: Stack = ""
    toolkit: Toolkit = ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EnvironmentWhere(RootWhere):
    """Where an environment goes, and what stands on its torch."""

    name: NewName = ""
    stack: Stack = ""
    prefix: Prefix = ""
    python: Python = ""
    into: IntoNew = ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InstallWhere(EnvironmentWhere):
    """Where what was published goes, and what of it."""

    take: Take = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MachineWhere(EnvironmentWhere):
    """Where a build would go, and with what it would be compiled."""

    build_dir: BuildDir = ""
    toolkit: Toolkit = ""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BuildWhere(MachineWhere):
    """Where a build goes, of which revisions and parts."""

    rev: Rev = None
    take: Take = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ComponentRequest:
    """Which components are built, and how."""

    only: Only = None
    arch: Arch = "auto"
    variables: Set = None

    def read(self, **more: Any) -> Request:
        """Give the request. Raises UsageError for one that makes no sense, NotReadyError for files not there."""
        from xpusetup.config.request import read_request

        return read_request(**{**vars(self), **more})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BuildRequest(ComponentRequest):
    """What of a profile is built, from what, and how far."""

    until: Until = ""
    target: Target = ""
    source: Source = None
    patch: Patch = None
    verify: Verify = ""
    require_hashes: Hashes = False
    device: ComputesOn = "gpu"
