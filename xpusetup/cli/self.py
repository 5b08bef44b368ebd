"""self: what this program is."""

from xpusetup.cli import options


@options.command("self", "xpusetup self", "xpusetup self --json")
def show_self(*, told: options.ResultOutput) -> options.Answer:
    """Show the version, how to update, and where files are kept."""
    from xpusetup.commands.self import describe

    return describe()
