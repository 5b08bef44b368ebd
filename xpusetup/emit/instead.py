"""What is said where a form cannot be of wheels, or cannot be compiled where it runs."""

from collections.abc import Iterable, Mapping
from typing import Any

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import UsageError
from xpusetup.config.profile import Profile


def compile_instead(origin: str, options: Mapping[str, Any]) -> Command:
    """Give the command that compiles instead; a form whose `origin` is wheels needs a runner for it."""
    label = ("--label", "LABEL") if origin == "wheels" and not options.get("label") else ()
    again = ("--from", "source", *label)
    return Command(f"the same command with {' '.join(again)}", again=again, gaps=label[1:])


def check_published(profiles: Iterable[Profile], fix: Command) -> None:
    """Refuse a profile of which there are no wheels. Raises UsageError."""
    for profile in profiles:
        if profile.published is None and profile.installer is None:
            raise UsageError(f"{profile.name} names no published wheels", fix="compile it: ", command=fix)


def name_runner(*, published: bool) -> Advice:
    """Give what mends a build from source without a runner; wheels only where they were published."""
    label = Command("the same command with --label LABEL", again=("--label", "LABEL"), gaps=("LABEL",))
    wheels = Command("the same command with --from wheels", again=("--from", "wheels"))
    return Advice("name a runner that has them: ", label, *(("; or take the wheels: ", wheels) if published else ()))
