"""run, env, verify, status: what was built, and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.result import Result
    from xpusetup.commands.workspace import Where


def _say(text: str) -> None:
    """Say something beside what a shell evaluates."""
    typer.echo(f"xpusetup: {text}", err=True)


def run(
    context: typer.Context,
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
    json: options.Json = False,
) -> None:
    """Run a command in the built environment: xpusetup run -- python train.py."""

    def work() -> Result:
        from xpusetup.commands.inspecting import run as become

        where = make_where(profile=profile, root=root, name=name, into=into, rev=rev)
        become(where, context.args, say=_say)

    finish("run", work, json=json)


def env(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
    build: Annotated[bool, typer.Option("--build", help="What a build step sees instead.")] = False,
    json: options.Json = False,
) -> None:
    """Print the environment of the result for eval, or that of a build step."""

    def work() -> Result:
        from xpusetup.commands.inspecting import env as make

        return make(make_where(profile=profile, root=root, name=name, into=into, rev=rev), build=build, say=_say)

    finish("env", work, json=json)


def verify(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
    fallbacks: Annotated[bool, typer.Option("--fallbacks", help="Which operators run on the CPU instead.")] = False,
    release: Annotated[str, typer.Option("--release", help="As published of this release.", metavar="R")] = "",
    log: Annotated[list[str] | None, typer.Option("--log", help="As a log tells; -: stdin.", metavar="FILE")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Tables as Markdown on a terminal too.")] = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Prove that the accelerator computes the right numbers."""

    def work() -> Result:
        if fallbacks or release or log or markdown:
            where = make_where(profile=profile, root=root, name=name, into=into, rev=rev)
            return _fallbacks(
                where, release=release, logs=tuple(log or ()), markdown=markdown, whole=verbose, quiet=json
            )
        from xpusetup.commands.inspecting import verify as make
        from xpusetup.show_live import waiting

        with waiting("computing on the device and on the CPU", quiet=json):
            return make(make_where(profile=profile, root=root, name=name, into=into, rev=rev))

    finish("verify", work, json=json, verbose=verbose)


def _fallbacks(
    where: Where, *, release: str, logs: tuple[str, ...], markdown: bool, whole: bool, quiet: bool
) -> Result:
    from xpusetup.commands.fallbacks import Asked, show_fallbacks
    from xpusetup.show_live import waiting

    with waiting("running operators on the device", quiet=quiet or bool(release or logs)):
        return show_fallbacks(where, Asked(release=release, logs=logs, markdown=markdown, whole=whole))


def status(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Say what is built and from what."""

    def work() -> Result:
        from xpusetup.commands.inspecting import status as make

        return make(make_where(profile=profile, root=root, name=name, into=into, rev=rev))

    finish("status", work, json=json, verbose=verbose)
