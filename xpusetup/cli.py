"""The command line: options to values, results to the screen, errors to exit codes. No logic of its own.

Everything but Typer is imported inside the commands, so that `--help` costs no more than Typer's own.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.commands.result import Result
    from xpusetup.commands.workspace import Where
    from xpusetup.model import Request

app = typer.Typer(
    name="xpusetup",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="From a bare Linux machine to a verified PyTorch, built from source for Intel GPUs and other accelerators.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
profiles_app = typer.Typer(no_args_is_help=True, help="What ships, what one says, and whether a file is right.")
app.add_typer(profiles_app, name="profiles")

Profile = Annotated[str, typer.Option("--profile", "-p", help="A profile's name or file.", metavar="NAME|FILE")]
RootOption = Annotated[str, typer.Option("--root", help="The folder of this build.", metavar="DIR", envvar="")]
Name = Annotated[str, typer.Option("--name", help="Another name for the folder of this build.")]
BuildDir = Annotated[str, typer.Option("--build-dir", help="Where sources are compiled (scratch).", metavar="DIR")]
Prefix = Annotated[str, typer.Option("--prefix", help="Where the environment goes.", metavar="DIR")]
Python = Annotated[str, typer.Option("--python", help="Version or path of the interpreter.", metavar="VERSION")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the commands.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="This component alone.", metavar="COMPONENT")]
Until = Annotated[str, typer.Option("--until", help="Stop after this step.", metavar="STEP")]
Arch = Annotated[str, typer.Option("--arch", help="Device targets to compile for.", metavar="auto|LIST")]
SetOption = Annotated[list[str] | None, typer.Option("--set", help="A build variable.", metavar="COMPONENT.KEY=VALUE")]
Verify = Annotated[str, typer.Option("--verify", help="Verify at the end.", metavar="auto|require|off")]


@app.command()
def build(
    profile: Profile = "",
    root: RootOption = "",
    name: Name = "",
    build_dir: BuildDir = "",
    prefix: Prefix = "",
    python: Python = "",
    only: Only = None,
    until: Until = "",
    arch: Arch = "auto",
    set_: SetOption = None,
    verify: Verify = "auto",
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Compile jobs; 0: by memory.")] = 0,
    events: Annotated[str, typer.Option("--events", help="One JSON line for each event.", metavar="FILE")] = "",
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Build a profile to verified wheels; run again, it goes on where it stopped."""
    where = _where(profile=profile, root=root, name=name, build_dir=build_dir, prefix=prefix, python=python)

    def work() -> Result:
        from xpusetup.commands.build import BuildOptions
        from xpusetup.commands.build import build as run_build
        from xpusetup.show_build import BuildView

        request = _request(only=only, until=until, arch=arch, set_=set_, verify=verify)
        with BuildView(quiet=json, verbose=verbose) as view:
            return run_build(where, request, BuildOptions(jobs=jobs, events=events, observe=view.observe))

    _finish("build", work, json=json, verbose=verbose)


@app.command()
def plan(
    profile: Profile = "",
    root: RootOption = "",
    name: Name = "",
    build_dir: BuildDir = "",
    prefix: Prefix = "",
    python: Python = "",
    only: Only = None,
    until: Until = "",
    arch: Arch = "auto",
    set_: SetOption = None,
    verify: Verify = "auto",
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Show the steps of a build and the state each is in."""
    where = _where(profile=profile, root=root, name=name, build_dir=build_dir, prefix=prefix, python=python)

    def work() -> Result:
        from xpusetup.commands.plan import plan as make

        return make(where, _request(only=only, until=until, arch=arch, set_=set_, verify=verify))

    _finish("plan", work, json=json, verbose=verbose)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    context: typer.Context, profile: Profile = "", root: RootOption = "", name: Name = "", json: Json = False
) -> None:
    """Run a command in the built environment: xpusetup run -- python train.py."""

    def work() -> Result:
        from xpusetup.commands.inspecting import run as become

        become(_where(profile=profile, root=root, name=name), context.args)

    _finish("run", work, json=json)


@app.command()
def env(
    profile: Profile = "",
    root: RootOption = "",
    name: Name = "",
    build: Annotated[bool, typer.Option("--build", help="What a build step sees instead.")] = False,
    json: Json = False,
) -> None:
    """Print the environment of the result for eval, or that of a build step."""

    def work() -> Result:
        from xpusetup.commands.inspecting import env as make

        return make(_where(profile=profile, root=root, name=name), build=build)

    _finish("env", work, json=json)


@app.command()
def verify(
    profile: Profile = "", root: RootOption = "", name: Name = "", json: Json = False, verbose: Verbose = False
) -> None:
    """Prove that the accelerator computes the right numbers."""

    def work() -> Result:
        from xpusetup.commands.inspecting import verify as make
        from xpusetup.show_build import waiting

        with waiting("computing on the device and on the CPU", quiet=json):
            return make(_where(profile=profile, root=root, name=name))

    _finish("verify", work, json=json, verbose=verbose)


@app.command()
def status(
    profile: Profile = "", root: RootOption = "", name: Name = "", json: Json = False, verbose: Verbose = False
) -> None:
    """Say what is built and from what."""

    def work() -> Result:
        from xpusetup.commands.inspecting import status as make

        return make(_where(profile=profile, root=root, name=name))

    _finish("status", work, json=json, verbose=verbose)


@app.command()
def doctor(
    profile: Profile = "",
    root: RootOption = "",
    python: Python = "",
    for_: Annotated[str, typer.Option("--for", help="What is wanted.", metavar="build|run")] = "",
    only: Annotated[list[str] | None, typer.Option("--only", help="This check alone.", metavar="ID")] = None,
    skip: Annotated[list[str] | None, typer.Option("--skip", help="Leave this check out.", metavar="ID")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the checks.")] = False,
    save: Annotated[str, typer.Option("--save", help="Write what was seen.", metavar="FILE")] = "",
    facts: Annotated[str, typer.Option("--facts", help="Judge what was seen elsewhere.", metavar="FILE")] = "",
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Say what is wrong here, and the command that mends it."""

    def work() -> Result:
        from xpusetup.commands.doctor import Asked, examine_machine, list_checks

        if list_:
            return list_checks()
        asked = Asked(goal=for_, only=tuple(only or ()), skip=tuple(skip or ()), save=save, facts=facts)
        return examine_machine(_where(profile=profile, root=root, python=python), asked)

    _finish("doctor", work, json=json, verbose=verbose)


@app.command()
def emit(
    kind: Annotated[str, typer.Argument(help="The form: shell.")],
    out: Annotated[str, typer.Option("--out", "-o", help="The folder to write.", metavar="DIR")],
    profile: Profile = "",
    python: Python = "",
    only: Only = None,
    until: Until = "",
    arch: Arch = "auto",
    set_: SetOption = None,
    verify: Verify = "auto",
    json: Json = False,
) -> None:
    """Write the same steps as files that need no xpusetup."""

    def work() -> Result:
        from xpusetup.commands.plan import emit as make

        request = _request(only=only, until=until, arch=arch, set_=set_, verify=verify)
        return make(_where(profile=profile, root=out, python=python), request, kind, out)

    _finish("emit", work, json=json)


@profiles_app.command("list")
def profiles_list(json: Json = False) -> None:
    """List the profiles that ship with the program."""

    def work() -> Result:
        from xpusetup.commands.profiles import list_profiles

        return list_profiles()

    _finish("profiles list", work, json=json)


@profiles_app.command("show")
def profiles_show(name: str, json: Json = False) -> None:
    """Show all that a profile says, with the source of each pin."""

    def work() -> Result:
        from xpusetup.commands.profiles import show_profile

        return show_profile(name)

    _finish("profiles show", work, json=json)


@profiles_app.command("check")
def profiles_check(name: Annotated[str, typer.Argument(metavar="NAME|FILE")], json: Json = False) -> None:
    """Check a profile: every error of the file at once."""

    def work() -> Result:
        from xpusetup.commands.profiles import check_profile

        return check_profile(name)

    _finish("profiles check", work, json=json)


def _where(**values: str) -> Where:
    from xpusetup.commands.workspace import Where

    return Where(**values)


def _request(*, only: list[str] | None, until: str, arch: str, set_: list[str] | None, verify: str) -> Request:
    from xpusetup.request import make_request

    return make_request(only=only or [], until=until, arch=arch, set_=set_ or [], verify=verify)


def _finish(command: str, work: Callable[[], Result], *, json: bool, verbose: bool = False) -> NoReturn:
    """Do the work, show its result or its error, and end with its exit code: the one place where the program exits."""
    from xpusetup.commands.result import make_document, make_error_document
    from xpusetup.errors import InterruptedRunError, XpuError
    from xpusetup.show import show_error, show_result

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        result = work()
    except KeyboardInterrupt:
        error: XpuError = InterruptedRunError("interrupted", fix="the same command goes on where this one stopped")
    except XpuError as caught:
        error = caught
    else:
        if json:
            sys.stdout.write(make_document(result) + "\n")
        else:
            show_result(result, verbose=verbose)
        sys.exit(result.code)
    if json:
        sys.stdout.write(make_error_document(command, error) + "\n")
    else:
        show_error(error)
    sys.exit(error.code)


def main() -> None:
    """Run the program."""
    app(auto_envvar_prefix="XPUSETUP")


if __name__ == "__main__":
    main()
