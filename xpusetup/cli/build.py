"""build, install, plan, bisect, emit: from a profile to steps, and to what they make."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from xpusetup.cli import complete, options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import request as make_request
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.base.model import Request
    from xpusetup.commands.result import AnyResult
    from xpusetup.run.workspace import Where


# emit, dockerfile: the steps of a build as files for elsewhere.


Kind = Annotated[
    str,
    typer.Argument(
        help="The form: shell, dockerfile, apptainer, slurm, module, github.", autocompletion=complete.forms
    ),
]
Label = Annotated[str, typer.Option("--label", help="github: the runners that build.")]
GpuLabel = Annotated[str, typer.Option("--gpu-label", help="github: the runners that have a device.")]
Extension = Annotated[str, typer.Option("--extension", help="github: your package, built against each.")]


def emit(
    kind: Kind,
    out: options.OutFolder,
    profile: options.Profiles = None,
    python: options.Pythons = None,
    rev: options.Rev = None,
    into: options.Into = "",
    only: options.Only = None,
    until: options.Until = "",
    arch: options.Archs = None,
    variables: options.Set = None,
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    origin: options.From = "",
    system: options.ImageOs = "",
    target: options.ImageTarget = "",
    dialect: options.ImageDialect = "",
    base: options.ImageBase = "",
    driver: options.ImageDriver = "",
    pin: options.ImagePin = None,
    label: Label = "",
    gpu_label: GpuLabel = "",
    extension: Extension = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the same steps as files that need no xpusetup; several profiles, Pythons or lists of targets: a matrix."""
    profiles, pythons, archs = profile or [], python or [], arch or []
    told = _told(system, target, dialect, base, driver, pin) | {"profiles": profiles, "pythons": pythons}
    told |= {"archs": archs, "from": origin, "label": label, "gpu_label": gpu_label, "extension": extension}
    more: dict[str, Any] = {"until": until, "verify": verify, "require_hashes": require_hashes}

    def work() -> AnyResult:
        from xpusetup.commands import emit

        request = make_request(only=only, arch=(archs or ["auto"])[0], variables=variables, **more)
        places = [make_where(profile=name, python=of, root=out, into=into, rev=rev) for name, of, _ in _matrix(told)]
        return emit.emit(kind, emit.Order(places=tuple(places), request=request, options=told), out)

    finish("emit", work, json=json, quiet=quiet)


def _matrix(told: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    return product(*(told[name] or [""] for name in ("profiles", "pythons", "archs")))


def _told(system: str, target: str, dialect: str, base: str, driver: str, pin: list[str] | None) -> dict[str, Any]:
    """Give what was said of an image."""
    return {
        "os": system,
        "target": target,
        "dialect": dialect,
        "base": base,
        "driver": driver,
        "pin": tuple(pin or ()),
    }


def dockerfile(
    out: options.OutFolder,
    profile: options.Profile = "",
    python: options.Python = "",
    rev: options.Rev = None,
    arch: options.Arch = "auto",
    variables: options.Set = None,
    system: options.ImageOs = "",
    target: options.ImageTarget = "",
    origin: options.From = "",
    dialect: options.ImageDialect = "",
    base: options.ImageBase = "",
    driver: options.ImageDriver = "",
    pin: options.ImagePin = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a container image's recipe with all that it copies: the same as emit dockerfile."""
    about = {"system": system, "target": target, "origin": origin, "dialect": dialect, "base": base, "driver": driver}
    places: dict[str, Any] = {"profile": [profile] if profile else None, "python": [python] if python else None}
    archs = None if arch == "auto" else [arch]
    asked: dict[str, Any] = {**places, **about, "arch": archs, "rev": rev, "variables": variables, "pin": pin}
    emit("dockerfile", out, **asked, json=json, quiet=quiet)


# bisect: which commit broke a command.


Nightlies = Annotated[str, typer.Option("--nightlies", help="Another index of nightly wheels.", metavar="INDEX")]
Component = Annotated[str, typer.Option("--component", help="Whose commits.", autocompletion=complete.components)]


def bisect(
    context: typer.Context,
    good: Annotated[str, typer.Option("--good", help="A commit, tag, branch or day where it works.", metavar="REF")],
    bad: Annotated[str, typer.Option("--bad", help="A later one where it does not.", metavar="REF")],
    component: Component = "torch",
    nightlies: Nightlies = "",
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    build_dir: options.BuildDir = "",
    python: options.Python = "",
    rev: options.Rev = None,
    only: options.Only = None,
    arch: options.Arch = "auto",
    variables: options.Set = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Compile jobs; 0: by memory.")] = 0,
    launcher: options.Launcher = "auto",
    events: options.Events = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Build commits to find the one that broke a command, which ends with 0 (works), 125 (cannot tell) or up to 127."""

    def work() -> AnyResult:
        from xpusetup.commands import bisect, build
        from xpusetup.ui.live import BuildView

        request = make_request(only=only, until="", arch=arch, variables=variables, verify="off")
        hunt = bisect.Hunt(component=component, good=good, bad=bad, command=tuple(context.args), nightlies=nightlies)
        with BuildView(json=json, quiet=quiet, verbose=verbose) as view:
            how = build.BuildOptions(jobs=jobs, launcher=launcher, events=events, observe=view.observe)
            where = make_where(profile=profile, root=root, name=name, build_dir=build_dir, python=python, rev=rev)
            return bisect.bisect(where, request, how, hunt)

    finish("bisect", work, json=json, quiet=quiet, verbose=verbose)


# build, install, plan: from a profile to steps, and to what they make.


def build(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    build_dir: options.BuildDir = "",
    prefix: options.Prefix = "",
    python: options.Python = "",
    rev: options.Rev = None,
    source: options.Source = None,
    patch: options.Patch = None,
    into: options.IntoNew = "",
    only: options.Only = None,
    until: options.Until = "",
    target: options.Target = "",
    arch: options.Arch = "auto",
    variables: options.Set = None,
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Compile jobs; 0: by memory.")] = 0,
    launcher: options.Launcher = "auto",
    bundle: options.Bundle = "",
    events: options.Events = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Build a profile to verified wheels; run again, it goes on where it stopped."""
    folders = {"build_dir": build_dir, "prefix": prefix, "into": into}
    where = make_where(profile=profile, root=root, name=name, python=python, rev=rev, may_make=True, **folders)

    def work() -> AnyResult:
        of_it: dict[str, Any] = {"only": only, "until": until, "arch": arch, "variables": variables, "target": target}
        request = make_request(**of_it, verify=verify, own=(source, patch), require_hashes=require_hashes)
        run = {"jobs": jobs, "launcher": launcher, "bundle": bundle, "events": events}
        return _run("build", where, request, run, {"json": json, "quiet": quiet, "verbose": verbose})

    finish("build", work, json=json, quiet=quiet, verbose=verbose)


def _run(
    verb: Literal["build", "install"], where: Where, request: Request, run: dict[str, Any], view_as: dict[str, Any]
) -> AnyResult:
    """Build or install, in a view that says how far it is."""
    from xpusetup.commands import build as command
    from xpusetup.ui.live import BuildView

    with BuildView(**view_as) as view:
        work = command.build if verb == "build" else command.install
        return work(where, request, command.BuildOptions(observe=view.observe, **run))


def install(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    prefix: options.Prefix = "",
    python: options.Python = "",
    into: options.IntoNew = "",
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    events: options.Events = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Install the published wheels of a profile's release instead of compiling, and verify them."""
    folders = {"prefix": prefix, "into": into}
    where = make_where(profile=profile, root=root, name=name, python=python, rev=None, may_make=True, **folders)

    def work() -> AnyResult:
        of_it: dict[str, Any] = {"only": None, "until": "", "arch": "auto", "variables": None}
        request = make_request(**of_it, verify=verify, require_hashes=require_hashes)
        view_as = {"json": json, "quiet": quiet, "verbose": verbose}
        return _run("install", where, request, {"events": events}, view_as)

    finish("install", work, json=json, quiet=quiet, verbose=verbose)


def plan(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    build_dir: options.BuildDir = "",
    prefix: options.Prefix = "",
    python: options.Python = "",
    rev: options.Rev = None,
    source: options.Source = None,
    patch: options.Patch = None,
    into: options.IntoNew = "",
    only: options.Only = None,
    until: options.Until = "",
    target: options.Target = "",
    arch: options.Arch = "auto",
    variables: options.Set = None,
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say of each stale step which input changed.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Show the steps of a build and the state each is in."""
    folders = {"build_dir": build_dir, "prefix": prefix, "into": into}
    where = make_where(profile=profile, root=root, name=name, python=python, rev=rev, may_make=True, **folders)

    def work() -> AnyResult:
        from xpusetup.commands.plan import plan as make

        of_it: dict[str, Any] = {"only": only, "until": until, "arch": arch, "variables": variables, "target": target}
        request = make_request(**of_it, verify=verify, own=(source, patch), require_hashes=require_hashes)
        return make(where, request, explain=explain)

    finish("plan", work, json=json, quiet=quiet, verbose=verbose)
