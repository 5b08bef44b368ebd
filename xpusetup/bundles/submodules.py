"""Submodules as a commit names them: `.gitmodules` as git lists it, held against the links in the tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

KEY = re.compile(r"submodule\.(?P<name>.*)\.(?P<what>path|url|update)", re.DOTALL)


@dataclass(frozen=True)
class Submodule:
    """One submodule: its name, its folder, its address as written, and the commit that it is pinned to."""

    name: str
    path: str
    address: str
    rev: str


def parse_submodules(listed: str, links: Iterable[str]) -> list[Submodule]:
    """Read `git config --null --list` of .gitmodules and the `160000` lines of `git ls-tree -z`.

    Those that say `update = none` are left out, as git leaves them.
    """
    pinned = {path: words.split()[2] for words, _tab, path in (line.partition("\t") for line in links)}
    told: dict[str, dict[str, str]] = {}
    for entry in listed.split("\0"):
        key, _break, value = entry.partition("\n")
        if found := KEY.fullmatch(key):
            told.setdefault(found["name"], {})[found["what"]] = value
    return [
        Submodule(name, values["path"], values["url"], pinned[values["path"]])
        for name, values in sorted(told.items())
        if values.get("path") in pinned and "url" in values and values.get("update") != "none"
    ]


def has_files(path: str, sparse: Iterable[str]) -> bool:
    """Say whether a tree of which only some folders get files has some at a path or below; without folders all do."""
    folders = [f"{folder}/" for folder in sparse]
    return not folders or any(each.startswith(f"{path}/") or f"{path}/".startswith(each) for each in folders)


def resolve_address(base: str, address: str) -> str:
    """Give the address of a submodule, which may be written relative to that of the tree that names it."""
    if not address.startswith(("./", "../")):
        return address
    base = base.rstrip("/")
    while address.startswith(("./", "../")):
        step, _slash, address = address.partition("/")
        if step == "..":  # up to a slash, or to the colon of `host:path`, which stays
            cut = max(base.rfind("/"), base.rfind(":"))
            base = base[: cut + 1] if base[cut : cut + 1] == ":" else base[:cut]
    return f"{base}{'' if base.endswith(':') else '/'}{address}"
