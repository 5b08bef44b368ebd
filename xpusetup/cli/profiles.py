"""profiles: what ships, what one says, whether a file is right; schema, new ones and locks."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from xpusetup.base.errors import UsageError
from xpusetup.cli import complete, options

Name = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A profile's name or file.", autocompletion=complete.profiles)
]


@options.command("profiles list", "xpusetup profiles list", "xpusetup profiles list --json")
def profiles_list(*, told: options.ResultOutput) -> options.Answer:
    """List the profiles that ship with xpusetup."""
    from xpusetup.commands.profiles import list_profiles

    return list_profiles()


@options.command("profiles show", "xpusetup profiles show 2.14", "xpusetup profiles show sim --json")
def profiles_show(*, name: Name, told: options.LongOutput) -> options.Answer:
    """Show all of a profile, with the source of each pin."""
    from xpusetup.commands.profiles import show_profile

    return show_profile(name)


@options.command("profiles check", "xpusetup profiles check mine.toml", "xpusetup profiles check sim")
def profiles_check(*, name: Name, told: options.ResultOutput) -> options.Answer:
    """Check a profile's file, and show all its errors."""
    from xpusetup.commands.profiles import check_profile

    return check_profile(name)


@options.command("profiles trust", "xpusetup profiles trust mine.toml", "xpusetup profiles trust mine.toml acme.toml")
def profiles_trust(
    *,
    file: Annotated[list[str], typer.Argument(metavar="FILE", help="Profiles, and files that they name.")],
    told: options.ResultOutput,
) -> options.Answer:
    """Trust a file that others can write, as it is now. A change needs new trust."""
    from xpusetup.commands.profiles import trust_files

    return trust_files(file)


@options.command("profiles schema", "xpusetup profiles schema > profile.schema.json", "xpusetup profiles schema --json")
def profiles_schema(*, told: options.ResultOutput) -> options.Answer:
    """Print the JSON Schema of profile files, for editors."""
    from xpusetup.commands.profiles import make_schema

    return make_schema()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ForDevice:
    """The device that a new profile is for, and where its source is."""

    device: Annotated[str, options.value("--device", "FILE", "For this accelerator: its device file or name.")] = ""
    repo: Annotated[str, options.value("--repo", "URL", "With --device: where its source is.")] = ""
    rev: Annotated[str, options.value("--rev", "REF", "With --device: tag, branch or commit of it.")] = ""
    version: Annotated[str, typer.Option("--version", help="With --device: the version of its wheel.")] = ""

    def write(self, name: str, base: str, path: Path, told: options.ResultOutput) -> options.Answer:
        """Write the profile of the device."""
        from xpusetup.commands.profiles import new_for_device
        from xpusetup.config.new_profile import NewProfileOptions
        from xpusetup.ui.live import asking

        asked = NewProfileOptions(repo=self.repo, rev=self.rev, version=self.version)
        with asking(quiet=told.silent) as say:
            return new_for_device(name, self.device, asked, base=base, path=path, say=say)


Base = Annotated[str, options.value("--from", "NAME", "The profile to begin with.", "torch-2.14; for a device sim")]


@options.command(
    "profiles new",
    "xpusetup profiles new mine --from torch-2.14",
    "xpusetup profiles new acme-1 --device acme.toml --repo https://github.com/acme/torch_acme --rev v1.0",
    common="--from --device --out",
)
def profiles_new(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the new profile.")] = "",
    base: Base = "",
    of_device: ForDevice,
    out: options.Out = "",
    told: options.ResultOutput,
) -> options.Answer:
    """Write a new profile: a copy, or one for a device."""
    from xpusetup.commands.profiles import new_file, new_profile

    source = any((of_device.repo, of_device.rev, of_device.version))
    if not name:
        raise UsageError("a new profile needs a name", fix="as in: ", command="xpusetup profiles new mine")
    path = new_file(name, out)
    if of_device.device:
        return of_device.write(name, base, path, told)
    if source:
        raise UsageError("--repo, --rev and --version are for a device", fix="add its file: --device FILE")
    return new_profile(name, base or "torch-2.14", path)


@options.command(
    "profiles lock",
    "xpusetup profiles lock 2.14 --rev torch=main",
    "xpusetup profiles lock 2.14 -o mine.toml",
    takes=options.ProfileName,
    common="--rev --out",
)
def profiles_lock(*, where: options.LockWhere, out: options.Out = "", told: options.ResultOutput) -> options.Answer:
    """Pin each tag, branch and pull request of a profile to the commit that it is now."""
    from xpusetup.commands.profiles import lock
    from xpusetup.ui.live import asking

    with asking(quiet=told.silent) as say:
        return lock(where.find(), out, say)
