"""The commands of the program by name, as `--help` orders them; their aliases and their old names."""

import shlex
from collections.abc import Callable, Mapping, Sequence

FIRST = ("install", "build", "list", "run", "verify", "doctor", "setup", "explain", "emit", "remove")
"""What `--help` shows."""
MORE = {
    "Building": (
        "plan",
        "toolkit",
        "try",
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
    "demo": "build sim",
    "docker": "dockerfile",
    "site": "setup site",
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


def name_build(takes: frozenset[str], told: Mapping[str, Sequence[str]]) -> list[str]:
    """Give the words of options about a build (option -> values): what it is called first, where a command takes that.

    `takes`: what the command declares. A build in a folder of its own is named by its options alone.
    """
    names, profiles = told.get("--name", ()), told.get("--profile", ())
    word: Sequence[str] = ()
    left = dict(told)
    if BUILD in takes and not told.get("--root") and len(names or profiles) == 1:
        word, left = names or profiles, {**left, "--name": (), "--profile": ()}
    elif PROFILE in takes and len(profiles) == 1:
        word, left = profiles, {**left, "--profile": ()}
    return [*word, *(part for option, values in left.items() for value in values for part in (option, value))]


def sort_words(words: Sequence[str]) -> dict[str, list[str]]:
    """Give the values of each option of a build or a request, the one that takes none left out."""
    given: dict[str, list[str]] = {}
    rest = iter(word for word in words if word != "--require-hashes")
    for option, value in zip(rest, rest, strict=False):
        given.setdefault(option, []).append(value)
    return given


def about_build(verb: str, options: str) -> str:
    """Give a command with the options of a build, each with its value, as in `--profile sim --into ENV`."""
    told = sort_words(shlex.split(options))
    return shlex.join(("xpusetup", *verb.split(), *name_build(options_about_builds(verb), told)))
