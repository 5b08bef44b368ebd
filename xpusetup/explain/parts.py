"""What a header, a library, a symbol or a package's name belongs to, and which package of each system brings it.

One table (data/signatures/parts.toml) serves all failures that only name what is missing: each of its rows becomes a
refinement of those that ask for that kind of name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from xpusetup.base.values import Strict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


Kind = Literal["header", "library", "link", "symbol", "loaded", "package", "gone"]
"""What a failure names: `link` is a library on a link line, `symbol` is missing there, `loaded` at run time;
`gone` is what a release of a package of Python took out (gone.toml)."""

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
NAMED: Mapping[Kind, str] = {"link": "library", "package": "name"}
"""The group that finds the name, where it is not called as its kind."""
ENDS = r"(?=['\"’”»:：?\s]|$)"
PATTERNS: Mapping[Kind, str] = {
    "header": r"[:：] ?<q>(?P<header>(?-i:{names}))" + ENDS,
    "library": r"(?<![\w-])(?P<library>(?-i:lib(?:{names})\.so[.\d]*))(?!\w)",
    "link": r"(?:cannot find|unable to find library|nicht finden|找不到) -l(?P<library>(?-i:{names}))(?![\w+-])",
    "symbol": (
        r"undefined (?:reference to|symbol:) <q>?(?:(?:typeinfo|vtable|VTT|thunk|variable) (?:for|to) )?"
        r"(?P<symbol>(?-i:{names})[\w:]*)"
    ),
    "loaded": r"(?:(?P<library>[^\s:]+\.so[.\d]*): )?undefined symbol: (?P<symbol>(?-i:{names})\w*)",
    "package": r"(?:<Q>|\bfind |\bFind|\bpackage |: )<q>?(?P<name>(?:{names}))(?![\w-])",
}
CAUSES: Mapping[Kind, str] = {
    "header": (
        "<header> is a header of {what}, whose development files are not installed, or not where the compiler looks"
    ),
    "library": "<library> is of {what}, which is not installed, or not where the loader looks",
    "link": "lib<library> is of {what}: its development files are not installed, or not where the linker looks",
    "symbol": "<symbol> is of {what}, which is missing on the link line, or of another release than its headers",
    "loaded": (
        "<symbol> is of {what}: the library that is loaded is of another release than the one it was built with, "
        "or was not linked"
    ),
    "package": (
        "<name> is not found: the development files of {what} are not installed, or lie in a folder that was not named"
    ),
}
FOREIGN = "the code asks for {what} (<{name}>), which is not here, or not where it is looked for"
LACKING = "{what}, a part of oneAPI ({package}) that is not installed, or not switched on in this shell"
ONEAPI: Mapping[Kind, str] = {
    "header": f"<header> comes with {LACKING}",
    "library": f"<library> comes with {LACKING}",
    "link": f"lib<library> comes with {LACKING}",
    "package": f"<name> is not found: it comes with {LACKING}",
}


@dataclass(frozen=True, kw_only=True)
class Part(Strict):
    """Something that is installed as a whole: what it is called, what belongs to it, and which packages bring it.

    `headers`, `libraries` (without lib and ending), `symbols` (how those of C begin), `namespaces` (of C++) and
    `packages` (as CMake and pkg-config call it) are patterns; `dev` and `run` are packages by system, with and without
    what a compiler needs. `how` stands in place of the advice to install it.
    """

    what: str
    headers: str = ""
    libraries: str = ""
    symbols: str = ""
    namespaces: list[str] = field(default_factory=list)
    packages: str = ""
    oneapi: bool = False
    flag: str = ""
    dev: dict[str, str] = field(default_factory=dict)
    run: dict[str, str] = field(default_factory=dict)
    how: str = ""
    commands: list[str] = field(default_factory=list)
    source: str = ""


def refine(part: Part, kind: Kind) -> dict[str, Any] | None:
    """Give the refinement that a part is for failures that name this kind; nothing where it has no such name."""
    names = _names(part, kind) if kind in PATTERNS else ""
    if not names:
        return None
    package = next(iter((part.dev or part.run).values()), "")
    causes = ONEAPI if part.oneapi and kind in ONEAPI else CAUSES
    cause = causes[kind] if package or kind == "loaded" else FOREIGN.replace("{name}", NAMED.get(kind, kind))
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
    if kind == "symbol":
        spaces = [*(f"{space}::" for space in part.namespaces), *(_mangled(space) for space in part.namespaces)]
        return "|".join(filter(None, [part.symbols, *spaces]))
    if kind == "loaded":
        return "|".join(filter(None, [part.symbols, *(_mangled(space) for space in part.namespaces)]))
    named = {"header": part.headers, "package": part.packages}.get(kind, part.libraries)
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
    flag = f"Add {part.flag} behind the objects. " if part.flag and kind == "symbol" else ""
    return f"{flag}{switch}{listed}." if listed else f"{flag}Install it with its development files."


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
