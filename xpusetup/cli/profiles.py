"""profiles: what ships, what one says, whether a file is right; schema, new ones and locks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.base.errors import UsageError
from xpusetup.cli import complete, options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from xpusetup.commands.result import AnyResult


Name = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A profile's name or file.", autocompletion=complete.profiles)
]


@options.command("profiles list")
def profiles_list(*, told: options.ResultOutput) -> AnyResult:
    """List the profiles that ship with the program."""
    from xpusetup.commands.profiles import list_profiles

    return list_profiles()


@options.command("profiles show")
def profiles_show(*, name: Name, told: options.LongOutput) -> AnyResult:
    """Show all that a profile says, with the source of each pin; -v also what upstream's files say of the build."""
    from xpusetup.commands.profiles import show_profile

    return show_profile(name)


@options.command("profiles check")
def profiles_check(*, name: Name, told: options.ResultOutput) -> AnyResult:
    """Check a profile: every error of the file at once."""
    from xpusetup.commands.profiles import check_profile

    return check_profile(name)


@options.command("profiles trust")
def profiles_trust(
    *,
    file: Annotated[list[str], typer.Argument(metavar="FILE", help="Profiles, and files that one names.")],
    told: options.ResultOutput,
) -> AnyResult:
    """Let a file that is not yours alone run its steps, as it is now; changed, it has to be trusted anew."""
    from xpusetup.commands.profiles import trust_files

    return trust_files(file)


@options.command("profiles schema")
def profiles_schema(*, told: options.ResultOutput) -> AnyResult:
    """Print the JSON Schema of profile files, for editors."""
    from xpusetup.commands.profiles import make_schema

    return make_schema()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ForDevice:
    """The device that a new profile is for, and where its source is."""

    device: Annotated[
        str, typer.Option("--device", help="For this accelerator: its device file, or a known name.", metavar="FILE")
    ] = ""
    repo: Annotated[str, typer.Option("--repo", help="Where the device's source is.", metavar="URL")] = ""
    rev: Annotated[str, typer.Option("--rev", help="Which of it: tag, branch or commit.", metavar="REF")] = ""
    version: Annotated[str, typer.Option("--version", help="The version that its wheel has.")] = ""

    def write(self, name: str, base: str, path: Path, told: options.ResultOutput) -> AnyResult:
        """Write the profile of the device."""
        from xpusetup.commands.profiles import new_for_device
        from xpusetup.config.new_profile import NewProfileOptions
        from xpusetup.ui.live import asking

        asked = NewProfileOptions(repo=self.repo, rev=self.rev, version=self.version)
        with asking(quiet=told.silent) as say:
            return new_for_device(name, self.device, asked, base=base, path=path, say=say)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ForRelease:
    """The release that a new profile is of, and the checkout that its files are in."""

    release: Annotated[
        str, typer.Option("--release", help="Of this release of PyTorch, from upstream's files.", metavar="X.Y")
    ] = ""
    source: Annotated[
        str, typer.Option("--source", help="Read the release's files of this checkout.", metavar="CHECKOUT")
    ] = ""

    def write(self, name: str, folder: str, find: Callable[[str], Path], told: options.ResultOutput) -> AnyResult:
        """Write the profile of the release; `find` gives the file for its name."""
        from xpusetup.commands.new_release import ReleaseOptions, new_release
        from xpusetup.config.new_release import parse_release
        from xpusetup.ui.live import asking

        if folder and self.source:
            raise UsageError("--from and --source both say where the files are", fix="give one of them")
        named = name or f"torch-{parse_release(self.release)[0]}"
        asked = ReleaseOptions(release=self.release, folder=folder, source=self.source)
        path = find(named)
        with asking(quiet=told.silent) as say:
            return new_release(named, asked, path, say)


Base = Annotated[
    str,
    typer.Option(
        "--from",
        help="The profile it begins as, torch-2.14, for a device sim; with --release a folder of upstream's files.",
        metavar="NAME|FOLDER",
    ),
]


@options.command("profiles new")
def profiles_new(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name; with --release torch-X.Y.")] = "",
    base: Base = "",
    of_device: ForDevice,
    of_release: ForRelease,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    out: options.Out = "",
    told: options.ResultOutput,
) -> AnyResult:
    """Write a new profile: a copy of one that ships, one for a device, or one of a release from upstream's files."""
    from xpusetup.commands.profiles import new_file, new_profile

    source = any((of_device.repo, of_device.rev, of_device.version))
    if of_release.release and (of_device.device or source):
        raise UsageError("--release goes with none of --device, --repo, --rev and --version", fix="leave them out")
    if of_release.release:
        return of_release.write(name, base, lambda named: new_file(named, out, force=force), told)
    if of_release.source:
        raise UsageError("--source is for a release", fix="say which: --release 2.15")
    if not name:
        raise UsageError("a new profile needs a name", fix="as in: ", command="xpusetup profiles new mine")
    path = new_file(name, out, force=force)
    if of_device.device:
        return of_device.write(name, base, path, told)
    if source:
        raise UsageError("--repo, --rev and --version are for a device", fix="add its file: --device FILE")
    return new_profile(name, base or "torch-2.14", path)


@options.command("profiles lock")
def profiles_lock(*, where: options.LockWhere, out: options.Out = "", told: options.ResultOutput) -> AnyResult:
    """Find what a tag, branch or pull request is now, with all that its tree names, and pin it."""
    from xpusetup.commands.profiles import lock
    from xpusetup.ui.live import asking

    with asking(quiet=told.silent) as say:
        return lock(where.find(), out, say)
