"""profiles: what ships, what one says, whether a file is right; schema, new ones and locks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import complete, options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


Name = Annotated[str, typer.Argument(metavar="NAME|FILE", autocompletion=complete.profiles)]


@options.spread
def profiles_list(*, told: options.Output) -> None:
    """List the profiles that ship with the program."""

    def work() -> AnyResult:
        from xpusetup.commands.profiles import list_profiles

        return list_profiles()

    told.finish("profiles list", work)


@options.spread
def profiles_show(*, name: Name, told: options.LongOutput) -> None:
    """Show all that a profile says, with the source of each pin; -v also what upstream's files say of the build."""

    def work() -> AnyResult:
        from xpusetup.commands.profiles import show_profile

        return show_profile(name)

    told.finish("profiles show", work)


@options.spread
def profiles_check(*, name: Name, told: options.Output) -> None:
    """Check a profile: every error of the file at once."""

    def work() -> AnyResult:
        from xpusetup.commands.profiles import check_profile

        return check_profile(name)

    told.finish("profiles check", work)


@options.spread
def profiles_trust(
    *,
    file: Annotated[list[str], typer.Argument(metavar="FILE...", help="Profiles, and files that one names.")],
    told: options.Output,
) -> None:
    """Let a file that is not yours alone run its steps, as it is now; changed, it has to be trusted anew."""

    def work() -> AnyResult:
        from xpusetup.commands.profiles import trust_files

        return trust_files(file)

    told.finish("profiles trust", work)


@options.spread
def profiles_schema(*, told: options.Output) -> None:
    """Print the JSON Schema of profile files, for editors."""

    def work() -> AnyResult:
        from xpusetup.commands.profiles import make_schema

        return make_schema()

    told.finish("profiles schema", work)


@options.spread
def profiles_new(
    *,
    name: str,
    base: Annotated[
        str, typer.Option("--from", help="The profile it begins as; torch-2.14, for a device sim.", metavar="NAME")
    ] = "",
    device: Annotated[
        str, typer.Option("--device", help="For this accelerator: its device file, or a known name.", metavar="FILE")
    ] = "",
    repo: Annotated[str, typer.Option("--repo", help="Where the device's source is.", metavar="URL")] = "",
    rev: Annotated[str, typer.Option("--rev", help="Which of it: tag, branch or commit.", metavar="REF")] = "",
    version: Annotated[str, typer.Option("--version", help="The version that its wheel has.")] = "",
    out: options.Out = "",
    told: options.Output,
) -> None:
    """Write a profile of your own: as a copy of one that ships, or for a device that has a file."""

    def work() -> AnyResult:
        from xpusetup.commands.profiles import new_profile

        if not device:
            if repo or rev or version:
                from xpusetup.base.errors import UsageError

                raise UsageError("--repo, --rev and --version are for a device", fix="add its file: --device FILE")
            return new_profile(name, base or "torch-2.14", out)
        from xpusetup.commands.profiles import new_for_device
        from xpusetup.config.new_profile import NewProfileOptions
        from xpusetup.ui.live import asking

        asked = NewProfileOptions(repo=repo, rev=rev, version=version)
        with asking(quiet=told.silent) as say:
            return new_for_device(name, device, asked, base=base, out=out, say=say)

    told.finish("profiles new", work)


@options.spread
def profiles_lock(
    *,
    where: options.LockWhere,
    out: options.Out = "",
    told: options.Output,
) -> None:
    """Find what a tag, branch or pull request is now, with all that its tree names, and pin it."""

    def work() -> AnyResult:
        from xpusetup.commands.profiles import lock
        from xpusetup.ui.live import asking

        with asking(quiet=told.silent) as say:
            return lock(where.find(), out, say)

    told.finish("profiles lock", work)
