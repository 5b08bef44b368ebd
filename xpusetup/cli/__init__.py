"""The command line: options to values, results to the screen, errors to exit codes. No logic of its own.

Everything but Typer is imported inside the commands, so that `--help` costs no more than Typer's own.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from xpusetup.base.errors import UsageError
from xpusetup.cli import build, bundle, devices, doctor, options, profiles, remove, skill, status, verify
from xpusetup.cli.finish import Command, Finished, end_early, heed_signals

app = typer.Typer(
    name="xpusetup",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMAND_FOLLOWS = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
"""What stands behind the first word that is no option of ours is another program's, its --json and --quiet too."""


def _show_version(asked: bool) -> None:
    if asked:
        from xpusetup.system.program import describe_version

        typer.echo(f"xpusetup {describe_version()}")
        raise typer.Exit


NO_VARIABLE: dict[str, Any] = {"allow_from_autoenv": False, "show_envvar": False}
Version = Annotated[
    bool,
    typer.Option("--version", is_eager=True, callback=_show_version, help="Say which version this is.", **NO_VARIABLE),
]


@app.callback()
def start(
    context: typer.Context,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    version: Version = False,  # noqa: ARG001 - its callback has ended the program
) -> None:
    """From a bare Linux machine to a verified PyTorch, built from source for Intel GPUs and other accelerators.

    Without a command: this machine, and the shortest way to PyTorch on it.
    """
    if context.invoked_subcommand is None:
        doctor.bare(options.LongOutput(json=json, quiet=quiet, verbose=verbose))
    asked = {name: True for name, given in (("json", json), ("quiet", quiet), ("verbose", verbose)) if given}
    context.default_map = _for_all(context.command, asked)


def _for_all(command: Any, values: dict[str, bool]) -> dict[str, Any]:
    """Give values as the defaults of every command: what stands before the command, or in a variable, holds for it."""
    below = getattr(command, "commands", {})
    return {name: _for_all(each, values) for name, each in below.items()} if below else dict(values)


GET, USE, PROVE, AWAY, HELP = "Get it", "Use it", "Prove it", "Take it elsewhere", "When something is wrong"
"""The panels of --help, in the order in which people come to them."""

app.command(rich_help_panel=GET)(build.build)
app.command(rich_help_panel=GET)(build.install)
app.command(rich_help_panel=GET)(build.plan)
app.command(rich_help_panel=GET)(doctor.setup)
app.command(rich_help_panel=USE, context_settings=COMMAND_FOLLOWS)(status.run)
app.command(rich_help_panel=USE)(status.env)
app.command(rich_help_panel=USE)(status.status)
app.command(rich_help_panel=USE)(status.report)
app.command(rich_help_panel=USE)(remove.remove)
app.command(rich_help_panel=PROVE)(verify.verify)
app.command("test", rich_help_panel=PROVE)(verify.run_tests)
app.command("verify-wheel", rich_help_panel=PROVE)(verify.verify_wheel)
app.command(rich_help_panel=PROVE)(verify.fits)
app.command(rich_help_panel=AWAY)(build.emit)
app.command(rich_help_panel=AWAY)(build.dockerfile)
app.command(rich_help_panel=HELP)(doctor.doctor)
app.command(rich_help_panel=HELP)(doctor.explain)
app.command(rich_help_panel=HELP, context_settings=COMMAND_FOLLOWS)(build.bisect)
app.command(rich_help_panel=HELP)(skill.skill)

profiles_app = typer.Typer(no_args_is_help=True, help="What ships, what one says, checks, locks, new ones.")
profiles_app.command("list")(profiles.profiles_list)
profiles_app.command("show")(profiles.profiles_show)
profiles_app.command("check")(profiles.profiles_check)
profiles_app.command("new")(profiles.profiles_new)
profiles_app.command("lock")(profiles.profiles_lock)
profiles_app.command("schema")(profiles.profiles_schema)
app.add_typer(profiles_app, name="profiles", rich_help_panel=GET)

devices_app = typer.Typer(no_args_is_help=True, help="Accelerators here, and what `import torch` loads for them.")
devices_app.command("list")(devices.devices_list)
devices_app.command("check")(devices.devices_check)
devices_app.command("table")(devices.devices_table)
app.add_typer(devices_app, name="devices", rich_help_panel=PROVE)

bundle_app = typer.Typer(no_args_is_help=True, help="All that a build fetches in one file, for an air gap.")
bundle_app.command("create")(bundle.bundle_create)
bundle_app.command("verify")(bundle.bundle_verify)
app.add_typer(bundle_app, name="bundle", rich_help_panel=AWAY)

cache_app = typer.Typer(no_args_is_help=True, help="What is kept on the disk for all builds.")
cache_app.command("size")(bundle.cache_size)
cache_app.command("prune")(bundle.cache_prune)
app.add_typer(cache_app, name="cache", rich_help_panel=USE)


for each in (app, profiles_app, devices_app, bundle_app, cache_app):
    for registered in each.registered_commands:
        registered.cls = Command


def _is_set(name: str) -> bool:
    from xpusetup.system.environment import variable

    return bool(variable(name))


def main() -> None:
    """Run the program. Options that Typer refuses get the envelope too, where JSON was asked for."""
    heed_signals(end_early)
    try:
        app(prog_name="xpusetup", auto_envvar_prefix="XPUSETUP")
    except SystemExit as end:
        if (
            end.code == UsageError.code
            and not isinstance(end, Finished)
            and ("--json" in sys.argv or _is_set("XPUSETUP_JSON"))
        ):
            from xpusetup.commands.result import make_error_document

            error = UsageError("bad usage: stderr says which option", fix="xpusetup --help")
            sys.stdout.write(make_error_document("xpusetup", error) + "\n")
        raise
