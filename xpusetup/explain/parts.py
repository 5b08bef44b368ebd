"""What a header, a library or a symbol belongs to, and which package of each system brings it.

One table (data/signatures/parts.toml) serves all failures that only name what is missing: each of its rows becomes a
refinement of those that ask for that kind of name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from xpusetup.base.values import Strict

Kind = Literal["header", "library", "loaded"]
"""What a failure names: `loaded` is a symbol that is missing at run time."""

INSTALL = {
    "debian": "sudo apt-get install {}",
    "fedora": "sudo dnf install {}",
    "suse": "sudo zypper install {}",
    "arch": "sudo pacman -Syu {}",
    "conda": "conda install -c conda-forge {}",
    "pip": "pip install {}",
}
"""How each system installs; conda's and pip's packages go into an environment."""
CALLED = {"debian": "Debian, Ubuntu", "fedora": "Fedora, RHEL", "suse": "SUSE", "arch": "Arch", "conda": "conda-forge"}
ENDS = r"(?=['\"’”»:：?\s]|$)"
PATTERNS: Mapping[Kind, str] = {
    "header": r"[:：] ?<q>(?P<header>(?-i:{names}))" + ENDS,
    "library": r"(?<![\w-])(?P<library>(?-i:lib(?:{names})\.so[.\d]*))(?!\w)",
    "loaded": r"(?:(?P<library>[^\s:]+\.so[.\d]*): )?undefined symbol: (?P<symbol>(?-i:{names})\w*)",
}
CAUSES: Mapping[Kind, str] = {
    "header": (
        "<header> is a header of {what}, whose development files are not installed, or not where the compiler looks"
    ),
    "library": "<library> is of {what}, which is not installed, or not where the loader looks",
    "loaded": (
        "<symbol> is of {what}: the library that is loaded is of another release than the one it was built with, "
        "or was not linked"
    ),
}
FOREIGN = "the code asks for {what} (<{name}>), which is not here, or not where it is looked for"
LACKING = "{what}, a part of oneAPI ({package}) that is not installed, or not switched on in this shell"
ONEAPI: Mapping[Kind, str] = {
    "header": f"<header> comes with {LACKING}",
    "library": f"<library> comes with {LACKING}",
}


@dataclass(frozen=True, kw_only=True)
class Part(Strict):
    """Something that is installed as a whole: what it is called, what belongs to it, and which packages bring it.

    `headers`, `libraries` (without lib and ending), `symbols` (how those of C begin) and `namespaces` (of C++) are
    patterns; `dev` and `run` are packages by system, with and without what a compiler needs. `how` stands in place of
    the advice to install it.
    """

    what: str
    headers: str = ""
    libraries: str = ""
    symbols: str = ""
    namespaces: list[str] = field(default_factory=list)
    oneapi: bool = False
    dev: dict[str, str] = field(default_factory=dict)
    run: dict[str, str] = field(default_factory=dict)
    how: str = ""
    commands: list[str] = field(default_factory=list)
    source: str = ""


def refine(part: Part, kind: Kind) -> dict[str, Any] | None:
    """Give the refinement that a part is for failures that name this kind; nothing where it has no such name."""
    names = _names(part, kind)
    if not names:
        return None
    package = next(iter((part.dev or part.run).values()), "")
    causes = ONEAPI if part.oneapi and kind in ONEAPI else CAUSES
    cause = causes[kind] if package or kind == "loaded" else FOREIGN.replace("{name}", kind)
    return {
        "patterns": [PATTERNS[kind].replace("{names}", names)],
        "where": "line",
        "confidence": "medium",
        "cause": cause.format(what=part.what, package=package),
        "fix": part.how or _advice(part, kind),
        "commands": list(_commands(part, kind)),
        "source": part.source,
    }


def _names(part: Part, kind: Kind) -> str:
    """Give the pattern of the names of this kind."""
    if kind == "loaded":
        return "|".join(filter(None, [part.symbols, *(_mangled(space) for space in part.namespaces)]))
    named = part.headers if kind == "header" else part.libraries
    return named.replace(r"\S", r"[\w./+-]")


def _mangled(namespace: str) -> str:
    """Give how names of a namespace begin after a compiler has mangled them."""
    return r"_Z(?:T[VIS]|GV|Th\w+_)?N?K?" + "".join(f"{len(name)}{name}" for name in namespace.split("::"))


def _advice(part: Part, kind: Kind) -> str:
    """Say what to install, under the name that each system has for it."""
    if kind == "loaded":
        return "See which one is loaded, and bring both to one release: install them from one place, or build again."
    switch = "Switch oneAPI on; where it lacks that part, install it: " if part.oneapi else "Install it: "
    named: dict[str, list[str]] = {}
    for system, package in _packages(part, kind).items():
        if system in CALLED:
            named.setdefault(package, []).append(CALLED[system])
    listed = ", ".join(f"{package} ({', '.join(systems)})" for package, systems in named.items())
    return f"{switch}{listed}." if listed else "Install it with its development files."


def _commands(part: Part, kind: Kind) -> Iterator[str]:
    """Give what to paste: the way of each system, of which only its own is shown."""
    if kind == "loaded":
        yield "ldd <library> | grep -E 'so' | sort"
        return
    yield from part.commands
    if part.oneapi:
        yield "source /opt/intel/oneapi/setvars.sh"
    for system, package in _packages(part, kind).items():
        yield INSTALL[system].format(package)


def _packages(part: Part, kind: Kind) -> dict[str, str]:
    return {**part.dev, **part.run} if kind == "library" else part.dev or part.run
