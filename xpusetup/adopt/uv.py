"""uv: pyproject.toml of a project whose torch stays. Pure; comments and order of the file stay as they are.

Overrides go before every requirement, also those of other distributions, and `tool.uv.sources` holds for them as well
(seen with uv 0.13.9): so that torch needs to be no dependency of the project.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import tomlkit
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Comment, Table

from xpusetup.adopt.keeping import FAMILY, INDEX_NAME, NEVER, Keeping
from xpusetup.base.errors import UsageError

OVERRIDES = "override-dependencies"
ODD = (LookupError, TypeError, AttributeError, ValueError, TOMLKitError, UsageError)
"""What tomlkit and we raise where something is no table, or is written in pieces of which tomlkit loses count."""
OF_TORCH = re.compile(r"torch|/whl/(?:nightly/)?(?:xpu|cpu|cu\d+|rocm)", re.IGNORECASE)
"""Addresses and names of indexes that have torch."""
UNSAFE = "is written in a form that cannot be edited safely"
HEAD = re.compile(r"^\[tool\.uv\]\s*\n(?=\s*\[)", re.MULTILINE)
"""The head of a table that holds tables alone: none is needed, and tomlkit leaves the one that held more."""


def is_project(text: str) -> bool:
    document = _parse(text).unwrap()
    tool = document.get("tool", {})
    return "project" in document or (isinstance(tool, dict) and "uv" in tool)


def find_refused(text: str, keeping: Keeping) -> list[str]:
    """Give the constraints of a project that uv holds beside our overrides, and that no torch that stays fulfils."""
    uv = _parse(text).unwrap().get("tool", {}).get("uv", {})
    return [each for each in uv.get("constraint-dependencies", ()) if keeping.refuses(each)]


def find_taken(lock: str, urls: Collection[str]) -> list[str]:
    """Give what a lock has from an index, without torch and its companions."""
    found = re.findall(
        r'^name = "([^"]+)"\r?\nversion = "[^"]+"\r?\nsource = \{ registry = "([^"]+)" \}', lock, re.MULTILINE
    )
    return sorted(name for name, url in found if url.rstrip("/") in urls and name not in FAMILY)


def find_open(text: str, lock: str, relock: str) -> Iterator[str]:
    """Give what has to be changed where torch's index is asked for every package, each with the lines to write.

    uv takes all that an index has from there, if it is named before the package index; torch's holds few versions of
    what torch requires, often not for each Python. What a lock has from there stays until it is asked for anew.
    """
    uv = _parse(text).unwrap().get("tool", {}).get("uv", {})
    sources = (each for name, each in uv.get("sources", {}).items() if canonicalize_name(name) in FAMILY)
    named = {each["index"] for each in sources if isinstance(each, dict) and "index" in each}
    open_ones = [
        one
        for one in uv.get("index", ())
        if not one.get("explicit") and not _is_ours(one) and (one.get("name") in named or OF_TORCH.search(_all_of(one)))
    ]
    told = "is asked for every package, and uv takes all that it has from there"
    for one in open_ones:
        name = "" if one.get("name") else 'name = "torch-as-it-was"\n'
        yield f"the index {one.get('name') or one.get('url')} {told}; below its url write:\n{name}explicit = true"
    for key in ("index-url", "extra-index-url"):
        urls = [each for each in _listed(uv.get(key)) if OF_TORCH.search(each)]
        yield from (f"{key} names {url}, which {told}; take it out: {INDEX_NAME} is asked for torch" for url in urls)
        open_ones += urls
    strategy = uv.get("index-strategy", "first-index")
    if open_ones and strategy != "first-index":
        yield f'take out index-strategy = "{strategy}": with it any index may bring any package'
    taken = find_taken(
        lock, {each.get("url", "").rstrip("/") if isinstance(each, dict) else each for each in open_ones}
    )
    if taken:
        words = " ".join((relock, *(f"--upgrade-package {each}" for each in taken)))
        yield f"then, for what uv.lock has from there:\n{words}"


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _all_of(index: Any) -> str:
    return f"{index.get('name', '')} {index.get('url', '')}"


def find_locked(text: str, name: str) -> set[str]:
    """Give the versions of a distribution that uv.lock holds; by line, because it may be large."""
    return set(re.findall(rf'^name = "{name}"\r?\nversion = "([^"]+)"', text, re.MULTILINE))


def holds_member(text: str, member: str, matches: Callable[[str], Collection[str]]) -> bool:
    """Say whether a file is that of a workspace with this member; `matches` gives the folders of a pattern."""
    try:
        space = _parse(text).unwrap()["tool"]["uv"]["workspace"]
        named, out = (space.get(key, ()) for key in ("members", "exclude"))
        return any(member in matches(each) for each in named) and not any(member in matches(each) for each in out)
    except ODD:
        return False


def adopt_uv(text: str, keeping: Keeping) -> str:
    """Give pyproject.toml with overrides, sources and the index that keep torch.

    Raises UsageError for a file in a form in which that cannot be taken back out of it.
    """
    there = _parse(text).unwrap()
    try:
        found = _adopted(text, keeping)
        same = _parse(_left(found, text, keeping)).unwrap() == there
    except ODD:
        same = False
    if not same:
        fix = "write it as tables, [tool.uv] and [tool.uv.sources], then the same command again"
        raise UsageError(f"tool.uv of pyproject.toml {UNSAFE}", fix=fix)
    return _with_ends_of(text, found)


def _adopted(text: str, keeping: Keeping) -> str:
    document = _parse(text)
    uv = _table(_table(document, "tool", is_super=True), "uv")
    kept = (f"{one.name} ; {NEVER}" if one.kind == "outside" else one.pin for one in keeping.pinned)
    _write_overrides(uv, keeping, [*kept, *(f"{name} ; {NEVER}" for name in keeping.never)], kept=True)
    indexes = keeping.indexes
    for one in keeping.pinned:
        if one.kind in {"wheel", "index"}:
            table = _table(uv, "sources")
            _drop_alike(table, one.name)
            table[one.name] = _inline({"path": one.source} if one.kind == "wheel" else {"index": indexes[one.source]})
    if indexes:
        _drop_index(uv)
    for url, name in indexes.items():
        if "index" not in uv:
            uv["index"] = tomlkit.aot()
        index = tomlkit.table()
        index.update({"name": name, "url": url, "explicit": True})
        uv["index"].append(index)
    return _checked(tomlkit.dumps(document))


def leave_uv(text: str, before: str, keeping: Keeping) -> str:
    """Take it back out of a file that was changed since: what the file had of these names comes back.

    Raises UsageError for a file that was brought into a form in which that cannot be done.
    """
    _parse(text)
    try:
        return _with_ends_of(text, _left(text, before, keeping))
    except ODD:
        fix = "take our lines out by hand (those of torch's names), then the same command again"
        raise UsageError(f"tool.uv of pyproject.toml {UNSAFE}", fix=fix) from None


def _left(text: str, before: str, keeping: Keeping) -> str:
    document, tool = _parse(text), _parse(before).get("tool", {})
    old, uv = tool.get("uv", {}), document.get("tool", {}).get("uv")
    if uv is None:
        return text
    _restore_overrides(uv, old, keeping)
    for name in keeping.names:
        _drop_alike(uv.get("sources", {}), name)
    for name, value in old.get("sources", {}).items():
        if canonicalize_name(name) in keeping.names:
            _table(uv, "sources")[name] = _as_line(value)
    lost: list[str] = []
    if not any(map(_is_ours, old.get("index", ()))):
        lost += _drop_index(uv)
    lost += _prune(document, uv, tool)
    found = "".join((tomlkit.dumps(document), *(f"{comment}\n" for comment in lost)))
    return _checked(found if HEAD.search(before) else HEAD.sub("", found))


def _with_ends_of(text: str, found: str) -> str:
    """Give a text with the line ends of another, where those are all of one kind; tomlkit adds lines with its own."""
    all_crlf = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    return found.replace("\r\n", "\n").replace("\n", "\r\n") if all_crlf else found


def _parse(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        fix = "correct the file, then the same command again"
        raise UsageError(f"pyproject.toml is no TOML: {error}", fix=fix) from None


def _checked(text: str) -> str:
    """Hold that what was written can be read again."""
    _parse(text)
    return text


def _table(parent: Any, name: str, *, is_super: bool = False) -> Any:
    if name not in parent:
        parent[name] = tomlkit.table(is_super_table=is_super)
    return parent[name]


def _inline(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    table.update(value)
    return table


def _as_line(item: Any) -> Any:
    """Give what a key had in the form that stands behind its name: tables of their own have no place among keys."""
    if isinstance(item, Table):
        return _inline(item.unwrap())
    if not isinstance(item, AoT):
        return item
    array = tomlkit.array()
    array.extend([_inline(each) for each in item.unwrap()])
    return array


def _name_of(requirement: str) -> str:
    try:
        return canonicalize_name(Requirement(requirement).name)
    except InvalidRequirement:
        return ""


def _write_overrides(uv: Any, keeping: Keeping, values: Iterable[str], *, kept: bool) -> None:
    """Write overrides in the place of those that are there of the same names; what is said of others stays."""
    there, values = uv.get(OVERRIDES, ()), list(values)
    if not all(isinstance(each, str) for each in there):
        raise TypeError(OVERRIDES)
    others = [str(each) for each in there if _name_of(str(each)) not in keeping.names]
    if "#" in getattr(there, "as_string", str)():
        for number in reversed(range(len(there))):
            if _name_of(str(there[number])) in keeping.names:
                del there[number]
        for value in values:
            there.add_line(value)
    elif others or values or kept:
        array = tomlkit.array()
        array.extend([*others, *values])
        uv[OVERRIDES] = array.multiline(multiline=True)
    else:
        uv.pop(OVERRIDES, None)


def _restore_overrides(uv: Any, old: Any, keeping: Keeping) -> None:
    """Give the overrides that were there before: as they were, where somebody changed none but ours."""
    before = [str(each) for each in old.get(OVERRIDES, ())]
    ours = [each for each in before if _name_of(each) in keeping.names]
    others = [str(each) for each in uv.get(OVERRIDES, ()) if _name_of(str(each)) not in keeping.names]
    if OVERRIDES in old and others == [each for each in before if each not in ours]:
        uv[OVERRIDES] = old[OVERRIDES]
    else:
        _write_overrides(uv, keeping, ours, kept=OVERRIDES in old)


def _drop_alike(table: Any, name: str) -> None:
    for each in [each for each in table if canonicalize_name(each) == name]:
        del table[each]


def _is_ours(index: Any) -> bool:
    return str(index.get("name", "")).startswith(INDEX_NAME)


def _drop_index(uv: Any) -> list[str]:
    """Take our indexes out; gives the comments that somebody put below it, as at the end of the file."""
    there = uv.get("index", [])
    ours = [number for number, one in enumerate(there) if _is_ours(one)]
    lost = [comment for number in ours for comment in _comments(there[number])]
    if ours and len(ours) == len(there):
        del uv["index"]
        return lost
    for number in reversed(ours):
        del there[number]
    return lost


def _prune(document: Any, uv: Any, tool: Any) -> list[str]:
    """Take empty tables out that were not there before; gives the comments in them."""
    lost: list[str] = []
    if "sources" in uv and not uv["sources"] and "sources" not in tool.get("uv", {}):
        lost += _comments(uv["sources"])
        del uv["sources"]
    if not uv and "uv" not in tool:
        lost += _comments(uv)
        del document["tool"]["uv"]
        if not document["tool"]:
            del document["tool"]
    return lost


def _comments(table: Any) -> list[str]:
    return [item.as_string().strip() for _, item in table.value.body if isinstance(item, Comment)]
