"""list: the builds that are here."""

from typing import Annotated

from xpusetup.cli import options


@options.command("list", "xpusetup list", "xpusetup list --cache", common="--cache")
def list_builds(
    *,
    cache: Annotated[bool, options.flag("--cache", "Show what is kept for all builds, and its size.")] = False,
    told: options.LongOutput,
) -> options.Answer:
    """List the builds here: release, state, whether verified, size, age."""
    from xpusetup.commands.list import list_builds as make
    from xpusetup.ui.live import waiting

    if cache:
        from xpusetup.commands.cache import size

        with waiting("counting files", quiet=told.silent):
            return size()

    with waiting("measuring what is there", quiet=told.silent):
        return make()
