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

from xpusetup.cli import complete
from xpusetup.cli.finish import finish, place_words
from xpusetup.cli.named import BUILD, PROFILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from xpusetup.base.model import Request
    from xpusetup.commands.result import AnyResult
    from xpusetup.run.workspace import Where
    from xpusetup.ui.live import BuildView

# Options that several commands share: one wording each.


Words = list[str] | None
"""What an option holds that may be given several times."""


def _offered(option: str, told: str, metavar: str, offer: Callable[..., list[str]], default: str = "") -> Any:
    """Give an option for which the shell offers words; `default`: what the help says of its default."""
    return typer.Option(option, help=told, metavar=metavar, autocompletion=offer, show_default=default or True)


def _choice(option: str, told: str, *words: str, default: str = "") -> Any:
    """Give an option that takes one of some words."""
    return _offered(option, told, "|".join(words), complete.one_of(*words), default)


NEWEST = "the newest that fits this machine"
PROFILE_WORDS = "The profile: its name or file. 2.14 is short for torch-2.14."
ProfileName = Annotated[
    str,
    typer.Argument(help=PROFILE_WORDS, metavar="PROFILE", autocompletion=complete.profiles, show_default=NEWEST),
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
OF_PROFILE = typer.Option(
    "--profile", "-p", help="The profile: its name or file.", metavar="NAME|FILE", autocompletion=complete.profiles
)
OF_STACK = typer.Option(
    "--stack",
    help="A stack (torch and packages that need it): its name or file.",
    metavar="NAME|FILE",
    autocompletion=complete.stacks,
)
Profile = Annotated[str, OF_PROFILE]
Profiles = Annotated[Words, OF_PROFILE]
Stack = Annotated[str, OF_STACK]
Stacks = Annotated[Words, OF_STACK]
Root = Annotated[
    str, typer.Option("--root", help="The folder of the build itself.", metavar="DIR", allow_from_autoenv=False)
]
Name = Annotated[
    str,
    typer.Option("--name", help="The build's name.", metavar="NAME", autocompletion=complete.names),
]
NewName = Annotated[
    str,
    typer.Option(
        "--name",
        help="A name for the build.",
        metavar="NAME",
        autocompletion=complete.names,
        show_default="the profile's",
    ),
]
BuildDir = Annotated[
    str, typer.Option("--build-dir", help="Keep and compile sources in this folder (scratch).", metavar="DIR")
]
Prefix = Annotated[str, typer.Option("--prefix", help="Put the environment into this folder.", metavar="DIR")]
Into = Annotated[
    str, typer.Option("--into", help="Use this environment (venv, conda) instead of the build's own.", metavar="ENV")
]
IntoNew = Annotated[
    str,
    typer.Option(
        "--into",
        help="Install into this venv or conda environment; a new folder becomes a venv.",
        metavar="ENV",
        show_default="an environment of the build's own",
    ),
]
Python = Annotated[str, typer.Option("--python", help="The interpreter: its version or path.", metavar="VERSION|PATH")]
Rev = Annotated[
    Words,
    _offered(
        "--rev",
        "Another revision of a component: tag, branch, commit or pr/N.",
        "COMPONENT=REF",
        complete.assigned,
        "those of the profile",
    ),
]
Take = Annotated[
    Words,
    _offered(
        "--take",
        "Build a component from source, take its published wheel, or leave it out.",
        "COMPONENT=source|wheel|skip",
        complete.takes,
    ),
]
Toolkit = Annotated[
    str,
    _offered(
        "--toolkit", "Compile with this toolkit of the profile.", "NAME", complete.toolkits, "the profile's usual"
    ),
]
Pythons = Annotated[Words, typer.Option("--python", help="The version of the interpreter.", metavar="VERSION")]
Archs = Annotated[
    Words, _offered("--arch", "GPUs to compile for, such as bmg,pvc.", "LIST", complete.targets, "the profile's")
]
Out = Annotated[str, typer.Option("--out", "-o", help="The file to write; - is stdout.", metavar="FILE")]
Bundle = Annotated[
    str, typer.Option("--bundle", help="Take all downloads from this bundle; use no network.", metavar="FILE")
]
SetupGoal = Annotated[
    str, _choice("--for", "What the machine is for.", "build", "run", default="what the shortest way needs")
]
Goal = Annotated[str, _choice("--for", "What the machine is for.", "build", "run", default="both")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress; one line if all went well.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print more.")]
Only = Annotated[Words, _offered("--only", "Build this component alone.", "COMPONENT", complete.components, "all")]
Until = Annotated[
    str, _offered("--until", "Stop after this step; plan lists them.", "STEP", complete.steps, "the last step")
]
Arch = Annotated[
    str,
    _offered("--arch", "GPUs to compile for, such as bmg,pvc; auto chooses them.", "auto|LIST", complete.targets),
]
Set = Annotated[Words, _offered("--set", "Set a variable of the build.", "COMPONENT.KEY=VALUE", complete.variables)]
Source = Annotated[
    Words,
    _offered(
        "--source",
        "Build your own checkout, which is never reset; :editable installs it in place, pinned ends it.",
        "COMPONENT=DIR[:editable]|pinned",
        complete.assigned,
    ),
]
Patch = Annotated[
    Words, _offered("--patch", "Apply a patch to a downloaded source.", "COMPONENT=FILE", complete.assigned)
]
Target = Annotated[str, typer.Option("--target", help="Build this ninja target alone, and no wheel.", metavar="TARGET")]
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
Events = Annotated[str, typer.Option("--events", help="Write each event as a line of JSON.", metavar="FILE")]
Verify = Annotated[str, _choice("--verify", "Verify at the end; auto: if there is a device.", "auto", "require", "off")]
Hashes = Annotated[bool, typer.Option("--require-hashes", help="Refuse downloads without a published hash.")]
Device = Annotated[
    Words,
    typer.Option(
        "--device",
        help="The device: its name or device file.",
        metavar="NAME|FILE",
        show_default="the one that is here",
    ),
]
Shell = Annotated[
    str, _choice("--shell", "The shell's language; csh serves tcsh too.", "sh", "fish", "csh", default="of your shell")
]
Level = Annotated[str, _choice("--level", "How much to check.", "quick", "smoke", "full")]
OnlyChecks = Annotated[Words, typer.Option("--only", help="Run this check or area alone.", metavar="ID")]
SkipChecks = Annotated[Words, typer.Option("--skip", help="Leave this check or area out.", metavar="ID")]
ListChecks = Annotated[bool, typer.Option("--list", help="List the checks, and run none.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", min=1, help="Compile so many files at a time.", metavar="N", show_default="by cores and memory"
    ),
]
Patience = Annotated[
    float | None,
    typer.Option(
        "--patience", help="Seconds that a check may take.", metavar="S", min=1, show_default="300; --devices: 60"
    ),
]
Junit = Annotated[str, typer.Option("--junit", help="Write the results as JUnit XML too.", metavar="FILE")]
OutFolder = Annotated[str, typer.Option("--out", "-o", help="The folder to write.", metavar="DIR")]
ImageOs = Annotated[str, _offered("--os", "The system of the image.", "SYSTEM", complete.systems, "ubuntu-24.04")]
ImageTarget = Annotated[
    str, _choice("--target", "An image to use torch, or one to compile with it.", "runtime", "devel", default="runtime")
]
From = Annotated[
    str, _choice("--from", "Compile it, or install what was published.", "source", "wheels", default="source")
]
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
ImageBase = Annotated[str, typer.Option("--base", help="Another base image of that system.", metavar="IMAGE")]
ImageDriver = Annotated[str, _choice("--driver", "Which of Intel's driver packages.", "client", "data-center")]
ImagePin = Annotated[
    Words, typer.Option("--pin", help="Install a system package in this version.", metavar="PACKAGE=VERSION")
]
AskOthers = Annotated[
    bool, typer.Option("--prompt", help="Print it as text for an assistant, a colleague or an issue.")
]


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
    for each, parameter in signature(work, locals={"AnyResult": Any}, eval_str=True).parameters.items():
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


ActiveInto = Annotated[
    str, typer.Option("--into", help="The environment.", metavar="ENV", show_default="the active one")
]


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
    verify: Verify = "auto"
    require_hashes: Hashes = False
