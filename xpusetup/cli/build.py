"""build, install, plan, bisect, emit: from a profile to steps, and to what they make."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import complete, options

if TYPE_CHECKING:
    from xpusetup.commands.offer import InstallOffer
    from xpusetup.commands.result import AnyResult
    from xpusetup.ui.live import BuildView


# emit, dockerfile: the steps of a build as files for elsewhere.


Kind = Annotated[
    str,
    typer.Argument(
        help="The form: shell, dockerfile, apptainer, slurm, module, github.",
        metavar="FORM",
        autocompletion=complete.forms,
    ),
]
Label = Annotated[str, typer.Option("--label", help="github: the runners that build.", metavar="LABEL")]
GpuLabel = Annotated[str, typer.Option("--gpu-label", help="github: the runners that have a device.", metavar="LABEL")]
Extension = Annotated[
    str, typer.Option("--extension", help="github: your package, built against each.", metavar="MODULE")
]


@dataclass(frozen=True, kw_only=True)
class ImageRequest:
    """How an image, or another form of a build, is made."""

    origin: options.From = ""
    system: options.ImageOs = ""
    target: options.ImageTarget = ""
    dialect: options.ImageDialect = ""
    base: options.ImageBase = ""
    driver: options.ImageDriver = ""
    pin: options.ImagePin = None

    def told(self) -> dict[str, Any]:
        """Give what was said by the names of the options, from which each form knows what it has no use for."""
        given = {name: value for name, value in vars(self).items() if name not in {"origin", "system", "pin"}}
        return {**given, "from": self.origin, "os": self.system, "pin": tuple(self.pin or ())}


@dataclass(frozen=True, kw_only=True)
class GithubRequest:
    """What a workflow runs on, and what it builds against each."""

    label: Label = ""
    gpu_label: GpuLabel = ""
    extension: Extension = ""


@options.command("emit")
def emit(
    *,
    kind: Kind,
    out: options.OutFolder,
    profile: options.Profiles = None,
    stack: options.Stacks = None,
    python: options.Pythons = None,
    rev: options.Rev = None,
    take: options.Take = None,
    toolkit: options.Toolkit = "",
    into: options.Into = "",
    only: options.Only = None,
    until: options.Until = "",
    arch: options.Archs = None,
    variables: options.Set = None,
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    image: ImageRequest,
    github: GithubRequest,
    told: options.ResultOutput,
) -> AnyResult:
    """Write the steps of a build as files that need no xpusetup; several profiles, Pythons or targets: a matrix."""
    given = {**image.told(), **vars(github)}
    more: dict[str, Any] = {"only": only, "until": until, "verify": verify, "variables": variables}
    one: dict[str, Any] = {"rev": tuple(rev or ()), "take": tuple(take or ()), "toolkit": toolkit, "into": into}

    from xpusetup.commands.emit import EmitOrder, emit
    from xpusetup.config.request import read_request
    from xpusetup.run.workspace import Where, check_stack

    names = [*(profile or []), *map(check_stack, stack or [])]
    matrix = {"profiles": names, "pythons": python or [], "archs": arch or []}
    cells = product(*(values or [""] for values in matrix.values()))
    places = tuple(Where(root=out, profile=name, python=of, **one) for name, of, _ in cells)
    request = read_request(**more, arch=(arch or ["auto"])[0], require_hashes=require_hashes)
    return emit(kind, EmitOrder(places=places, request=request, options={**given, **matrix}), out)


@options.spread
def dockerfile(
    *,
    out: options.OutFolder,
    profile: options.Profile = "",
    stack: options.Stack = "",
    python: options.Python = "",
    rev: options.Rev = None,
    take: options.Take = None,
    toolkit: options.Toolkit = "",
    arch: options.Arch = "auto",
    variables: options.Set = None,
    image: ImageRequest,
    told: options.ResultOutput,
) -> None:
    """Write a container image's recipe with all that it copies: the same as emit dockerfile."""
    one: dict[str, Any] = {"profile": [profile] if profile else None, "stack": [stack] if stack else None}
    one |= {"python": [python] if python else None, "arch": None if arch == "auto" else [arch]}
    one |= {"rev": rev, "take": take, "toolkit": toolkit, "variables": variables}
    emit(kind="dockerfile", out=out, **one, **vars(image), **vars(GithubRequest()), **vars(told))


# bisect: which commit broke a command.


Nightlies = Annotated[str, typer.Option("--nightlies", help="Another index of nightly wheels.", metavar="INDEX")]
Skip = Annotated[list[str] | None, typer.Option("--skip", help="A commit that is not tried.", metavar="REF")]
Component = Annotated[
    str,
    typer.Option(
        "--component",
        help="The component whose commits are searched.",
        metavar="COMPONENT",
        autocompletion=complete.components,
    ),
]


@options.command("bisect")
def bisect(
    *,
    context: typer.Context,
    good: Annotated[str, typer.Option("--good", help="A commit, tag, branch or day where it works.", metavar="REF")],
    bad: Annotated[str, typer.Option("--bad", help="A later one where it does not.", metavar="REF")],
    component: Component = "torch",
    nightlies: Nightlies = "",
    skip: Skip = None,
    where: options.SourceWhere,
    request: options.ComponentRequest,
    jobs: options.Jobs = 0,
    launcher: options.Launcher = "auto",
    events: options.Events = "",
    told: options.LongOutput,
) -> AnyResult:
    """Build commits to find the first with which a command fails.

    The command ends with 0 where it works, 125 where it cannot tell, any other code below 126 where it fails.
    """
    from xpusetup.commands import bisect, build

    ends = {"component": component, "good": good, "bad": bad, "nightlies": nightlies}
    hunt = bisect.Hunt(**ends, command=tuple(context.args), skip=tuple(skip or ()))
    with told.view() as view:
        how = build.BuildOptions(jobs=jobs, launcher=launcher, events=events, observe=view.observe)
        return bisect.bisect(where.find(), request.read(verify="off"), how, hunt)


# build, install, plan: from a profile to steps, and to what they make.


@options.command("build")
def build(
    *,
    where: options.BuildWhere,
    request: options.BuildRequest,
    jobs: options.Jobs = 0,
    launcher: options.Launcher = "auto",
    bundle: options.Bundle = "",
    events: options.Events = "",
    told: options.LongOutput,
) -> AnyResult:
    """Build a profile to verified wheels; run again, it goes on where it stopped."""
    from xpusetup.commands.build import BuildOptions
    from xpusetup.commands.build import build as make

    with told.view() as view:
        how = BuildOptions(jobs=jobs, launcher=launcher, bundle=bundle, events=events, observe=view.observe)
        return make(where.find(may_make=True), request.read(), how)


@options.command("install")
def install(
    *,
    where: options.InstallWhere,
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    bundle: options.Bundle = "",
    events: options.Events = "",
    dry: Annotated[bool, typer.Option("--dry-run", help="Show what would be fetched and where it goes.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask where the device is not here.")] = False,
    told: options.LongOutput,
) -> AnyResult:
    """Install the published wheels of a profile's release instead of compiling, and verify them."""
    from xpusetup.commands.build import BuildOptions
    from xpusetup.commands.build import install as make
    from xpusetup.config.request import read_request

    request = read_request(verify=verify, require_hashes=require_hashes)
    with told.view() as view:
        agree = partial(_agrees_to_install, view=view, told=told, yes=yes)
        how = BuildOptions(bundle=bundle, events=events, observe=view.observe, agree=agree, dry=dry)
        return make(where.find(may_make=True), request, how)


def _agrees_to_install(offer: InstallOffer, view: BuildView, told: options.LongOutput, *, yes: bool) -> bool:
    """Show what will be done; where the device is not here ask once, if somebody is there to be asked."""
    from xpusetup.ui.console import literal
    from xpusetup.ui.offer import show_before

    with view.aside() as console:
        if console is None:
            return True
        show_before(console, literal(offer), verbose=told.verbose)
        if not offer.trouble or yes or not sys.stdin.isatty():
            return True
        return typer.confirm(" Install it all the same?", default=False, err=told.json)


@options.command("plan")
def plan(
    *,
    where: options.BuildWhere,
    request: options.BuildRequest,
    explain: Annotated[bool, typer.Option("--explain", help="Say of each stale step which input changed.")] = False,
    why: Annotated[str, typer.Option("--why", help="Say why this package is in the plan.", metavar="PACKAGE")] = "",
    told: options.LongOutput,
) -> AnyResult:
    """Show the steps of a build and the state each is in."""
    from xpusetup.commands.plan import plan as make

    return make(where.find(may_make=True), request.read(), explain=explain, why=why)
