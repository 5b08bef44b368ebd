"""build, install, plan: from a profile to steps, and to what they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import request as make_request
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.places import Where
    from xpusetup.commands.result import Result
    from xpusetup.model import Request


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

    def work() -> Result:
        of_it: dict[str, Any] = {"only": only, "until": until, "arch": arch, "variables": variables, "target": target}
        request = make_request(**of_it, verify=verify, own=(source, patch), require_hashes=require_hashes)
        run = {"jobs": jobs, "launcher": launcher, "bundle": bundle, "events": events}
        return _build(where, request, run, {"json": json, "quiet": quiet, "verbose": verbose})

    finish("build", work, json=json, quiet=quiet, verbose=verbose)


def _build(where: Where, request: Request, run: dict[str, Any], view_as: dict[str, Any]) -> Result:
    """Build, in a view that says how far it is."""
    from xpusetup.commands import build as command
    from xpusetup.show.live import BuildView

    with BuildView(**view_as) as view:
        return command.build(where, request, command.BuildOptions(observe=view.observe, **run))


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

    def work() -> Result:
        from xpusetup.commands.build import BuildOptions
        from xpusetup.commands.install import install as run_install
        from xpusetup.show.live import BuildView

        more = {"verify": verify, "require_hashes": require_hashes}
        request = make_request(only=None, until="", arch="auto", variables=None, **more)  # type: ignore[arg-type]
        with BuildView(json=json, quiet=quiet, verbose=verbose) as view:
            return run_install(where, request, BuildOptions(events=events, observe=view.observe))

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

    def work() -> Result:
        from xpusetup.commands.plan import plan as make

        of_it: dict[str, Any] = {"only": only, "until": until, "arch": arch, "variables": variables, "target": target}
        request = make_request(**of_it, verify=verify, own=(source, patch), require_hashes=require_hashes)
        return make(where, request, explain=explain)

    finish("plan", work, json=json, quiet=quiet, verbose=verbose)
