"""Options that several commands share: one wording each, in groups that a command takes whole.

A command that takes a group, as `where: options.BuildWhere`, has each of its options as its own (`spread`). One that
gives a result (`command`) has it told by its group `told`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial, wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from xpusetup.cli import complete
from xpusetup.cli.finish import finish

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


def _offered(option: str, told: str, metavar: str, offer: Callable[..., list[str]]) -> Any:
    """Give an option for which the shell offers words."""
    return typer.Option(option, help=told, metavar=metavar, autocompletion=offer)


def _choice(option: str, told: str, *words: str) -> Any:
    """Give an option that takes one of some words."""
    return _offered(option, told, "|".join(words), complete.one_of(*words))


OF_PROFILE = typer.Option(
    "--profile", "-p", help="A profile's name or file.", metavar="NAME|FILE", autocompletion=complete.profiles
)
OF_STACK = typer.Option(
    "--stack",
    help="A stack (torch, and what stands on it): its name or file.",
    metavar="NAME|FILE",
    autocompletion=complete.stacks,
)
Profile = Annotated[str, OF_PROFILE]
Profiles = Annotated[Words, OF_PROFILE]
Stack = Annotated[str, OF_STACK]
Stacks = Annotated[Words, OF_STACK]
Root = Annotated[str, typer.Option("--root", help="The folder of this build.", metavar="DIR", envvar="")]
Name = Annotated[
    str, typer.Option("--name", help="Another name for the folder of this build.", autocompletion=complete.names)
]
BuildDir = Annotated[str, typer.Option("--build-dir", help="Where sources are compiled (scratch).", metavar="DIR")]
Prefix = Annotated[str, typer.Option("--prefix", help="Where the environment goes.", metavar="DIR")]
Into = Annotated[str, typer.Option("--into", help="An environment that is there: venv, conda.", metavar="ENV")]
IntoNew = Annotated[str, typer.Option("--into", help="A venv or conda prefix, or a new folder for one.", metavar="ENV")]
Python = Annotated[str, typer.Option("--python", help="Version or path of the interpreter.", metavar="VERSION")]
Rev = Annotated[
    Words, _offered("--rev", "Another revision: tag, branch, commit, pr/N.", "COMPONENT=REF", complete.assigned)
]
Take = Annotated[
    Words,
    _offered(
        "--take",
        "A part from source, as the published wheel, or left out.",
        "COMPONENT=source|wheel|skip",
        complete.takes,
    ),
]
Toolkit = Annotated[str, _offered("--toolkit", "Another tool chain of the profile.", "NAME", complete.toolkits)]
Pythons = Annotated[Words, typer.Option("--python", help="Version of the interpreter.", metavar="VERSION")]
Archs = Annotated[Words, _offered("--arch", "Device targets to compile for.", "LIST", complete.targets)]
Out = Annotated[str, typer.Option("--out", "-o", help="The file to write.", metavar="FILE")]
Bundle = Annotated[
    str, typer.Option("--bundle", help="Take all that is fetched from this bundle; no network.", metavar="FILE")
]
Goal = Annotated[str, _choice("--for", "What the machine is for.", "build", "run")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress; of work that went well one line.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more.")]
Only = Annotated[Words, _offered("--only", "This component alone.", "COMPONENT", complete.components)]
Until = Annotated[str, _offered("--until", "Stop after this step.", "STEP", complete.steps)]
Arch = Annotated[str, _offered("--arch", "Device targets to compile for.", "auto|LIST", complete.targets)]
Set = Annotated[Words, _offered("--set", "A build variable.", "COMPONENT.KEY=VALUE", complete.variables)]
Source = Annotated[
    Words,
    _offered(
        "--source",
        "A checkout of your own; it is never reset.",
        "COMPONENT=DIR[:editable]|pinned",
        complete.assigned,
    ),
]
Patch = Annotated[Words, _offered("--patch", "A patch for a fetched source.", "COMPONENT=FILE", complete.assigned)]
Target = Annotated[str, typer.Option("--target", help="One ninja target alone, and no wheel.", metavar="TARGET")]
Launcher = Annotated[
    str,
    _choice(
        "--launcher",
        "The compiler cache; auto: ccache or sccache, where one is installed.",
        "auto",
        "ccache",
        "sccache",
        "none",
    ),
]
Events = Annotated[str, typer.Option("--events", help="One JSON line for each event.", metavar="FILE")]
Verify = Annotated[
    str, _choice("--verify", "Verify at the end; auto: where there is a device.", "auto", "require", "off")
]
Hashes = Annotated[bool, typer.Option("--require-hashes", help="Take nothing without a published hash.")]
Device = Annotated[str, typer.Option("--device", help="Another device; auto: what is here.", metavar="auto|NAME|FILE")]
Shell = Annotated[str, _choice("--shell", "Whose language; csh is tcsh's too.", "sh", "fish", "csh")]
Level = Annotated[str, _choice("--level", "How much to check.", "quick", "smoke", "full")]
OnlyChecks = Annotated[Words, typer.Option("--only", help="This check or area alone.", metavar="ID")]
SkipChecks = Annotated[Words, typer.Option("--skip", help="Leave this check or area out.", metavar="ID")]
ListChecks = Annotated[bool, typer.Option("--list", help="List the checks.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Compile jobs; 0: by memory.", metavar="N")]
Patience = Annotated[float, typer.Option("--patience", help="Seconds that a check may take.", metavar="S", min=1)]
Junit = Annotated[str, typer.Option("--junit", help="Write the results as JUnit XML too.", metavar="FILE")]
OutFolder = Annotated[str, typer.Option("--out", "-o", help="The folder to write.", metavar="DIR")]
ImageOs = Annotated[str, _offered("--os", "The image's system.", "SYSTEM", complete.systems)]
ImageTarget = Annotated[
    str, _choice("--target", "An image to use torch, or one to compile with it.", "runtime", "devel")
]
From = Annotated[str, _choice("--from", "Compiled, or as published.", "source", "wheels")]
ImageDialect = Annotated[
    str, _choice("--dialect", "portable: for engines without BuildKit, as old buildah.", "buildkit", "portable")
]
ImageBase = Annotated[str, typer.Option("--base", help="Another base image of that system.", metavar="IMAGE")]
ImageDriver = Annotated[str, _choice("--driver", "Intel's line of driver packages.", "client", "data-center")]
ImagePin = Annotated[
    Words, typer.Option("--pin", help="A package of the system in just this version.", metavar="PACKAGE=VERSION")
]


AskOthers = Annotated[
    bool, typer.Option("--prompt", help="Print it as a text for an assistant, a colleague or an issue.")
]


# Groups of options that commands take whole.


@cache
def _options_of(group: Any) -> tuple[tuple[str, Any, Any], ...]:
    """Give the options of a group: name, type, default."""
    hints = get_type_hints(group, include_extras=True)
    return tuple((field.name, hints[field.name], field.default) for field in fields(group))


def spread(command: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """Let a command that takes groups of options have each option of theirs as its own; one with a name is finished."""
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters: list[tuple[str, Any, Any]] = []
    for each, parameter in signature(command, locals={"AnyResult": Any}, eval_str=True).parameters.items():
        kind = parameter.annotation  # get_type_hints of Python 3.10 hides what has None as its default
        if is_dataclass(kind):
            own = _options_of(kind)  # type: ignore[arg-type]
            groups[each] = (kind, [option for option, _, _ in own])
            parameters += own
        else:
            parameters.append((each, kind, parameter.default))

    @wraps(command)
    def call(**words: Any) -> Any:
        taken = {each: kind(**{option: words.pop(option) for option in own}) for each, (kind, own) in groups.items()}
        if name:
            taken["told"].finish(name, lambda: command(**taken, **words))
        return command(**taken, **words)

    del call.__wrapped__  # Typer would read the signature of what is wrapped
    call.__annotations__ = {option: kind for option, kind, _ in parameters}
    call.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(option, Parameter.KEYWORD_ONLY, default=own, annotation=kind) for option, kind, own in parameters]
    )
    return call


def command(name: str) -> Callable[[Callable[..., AnyResult]], Callable[..., Any]]:
    """Make a command of what gives a result; that, or its error, is told as `told` says, and ends the program."""
    return partial(spread, name=name)


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


ActiveInto = Annotated[str, typer.Option("--into", help="The environment; default: the active one.", metavar="ENV")]


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
