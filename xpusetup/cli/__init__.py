"""The command line: options to values, results to the screen, errors to exit codes. No logic of its own.

Everything but Typer is imported inside the commands, so that `--help` costs no more than Typer's own.
"""

from __future__ import annotations

import typer

from xpusetup.cli import building, diagnosis, profiles, using

app = typer.Typer(
    name="xpusetup",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="From a bare Linux machine to a verified PyTorch, built from source for Intel GPUs and other accelerators.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(building.build)
app.command()(building.plan)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(using.run)
app.command()(using.env)
app.command()(using.verify)
app.command()(using.status)
app.command()(building.emit)
app.command()(diagnosis.doctor)

profiles_app = typer.Typer(no_args_is_help=True, help="What ships, what one says, and whether a file is right.")
profiles_app.command("list")(profiles.profiles_list)
profiles_app.command("show")(profiles.profiles_show)
profiles_app.command("check")(profiles.profiles_check)
app.add_typer(profiles_app, name="profiles")


def main() -> None:
    """Run the program."""
    app(auto_envvar_prefix="XPUSETUP")
