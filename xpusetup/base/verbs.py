"""The commands of the program by name, as `--help` orders them; their aliases and their old names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST = ("install", "build", "list", "run", "verify", "doctor", "setup", "explain", "emit", "remove")
"""What `--help` shows."""
MORE = {
    "Building": (
        "plan",
        "toolkit",
        "bisect",
        "profiles list",
        "profiles show",
        "profiles check",
        "profiles new",
        "profiles lock",
        "profiles trust",
        "profiles schema",
    ),
    "Using": ("status", "report", "env", "adopt"),
    "Wheels and transport": (
        "wheel check",
        "wheel fits",
        "wheel sign",
        "wheel rebuild",
        "bundle create",
        "bundle verify",
    ),
    "The program itself": ("self", "skill", "setup site", "devices table"),
}
"""What `--help --all` shows besides, under these headings."""
COMMANDS = (*FIRST, *(name for names in MORE.values() for name in names))
BESIDE = ("setup site",)
"""Commands of two words whose first is a command too."""
ALIASES = {"ls": "list", "uninstall": "remove", "update": "self", "dockerfile": "emit dockerfile"}
"""Other words for a command. They are not listed."""
OLD = {
    "test": "verify --suite",
    "devices list": "verify --devices --list",
    "devices check": "verify --devices",
    "cache size": "list --cache",
    "cache prune": "remove --cache",
    "verify-wheel": "wheel check",
    "fits": "wheel fits",
    "sign": "wheel sign",
    "rebuild": "wheel rebuild",
}
"""Names of the release before, and what each is now. They work for one more release, and name the new one."""
MEANT = {
    **dict.fromkeys(("clean", "delete", "rm"), "remove"),
    **dict.fromkeys(("check", "diagnose"), "doctor"),
    **dict.fromkeys(("activate", "shell"), "env"),
    **dict.fromkeys(("info", "show"), "status"),
    "upgrade": "update",
    "version": "--version",
    "fix": "setup",
    "docker": "dockerfile",
}
"""What other tools call a command; such a word is told, not taken."""
VERBS = tuple(dict.fromkeys(name.partition(" ")[0] for name in (*COMMANDS, *ALIASES, "help")))
"""The first words of commands."""


PROFILE, BUILD = "PROFILE", "BUILD"
"""What the argument of a command names."""
_DECLARED: list[Callable[[str], frozenset[str]]] = []


def declare(options_of: Callable[[str], frozenset[str]]) -> None:
    """Let the command line say which options a command has that is about a profile or a build."""
    _DECLARED[:] = [options_of]


def options_about_builds(name: str) -> frozenset[str]:
    """Give the options of a command that is about a profile or a build; none of any other.

    PROFILE or BUILD is among them where its first argument names one.
    """
    return _DECLARED[0](name) if _DECLARED else frozenset()
