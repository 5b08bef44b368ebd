"""A profile by its name, its file or its text, with its patches: a Profile, or every error of the file at once."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from xpusetup.base.document import UnfitError, key_of, read_as
from xpusetup.base.errors import UsageError
from xpusetup.base.text import command_on_one_line, hint_at_nearest, without_credentials
from xpusetup.base.values import Table, TomlError, parse_toml
from xpusetup.config.profile import (
    Component,
    PatchFile,
    Profile,
    SkippedComponent,
    SourceComponent,
    WheelComponent,
    find_cycle,
)
from xpusetup.config.request import read_patch
from xpusetup.system.environment import from_home
from xpusetup.system.kept import keep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails


# What a profile says of its own folder and of the home: patches, whose files lie beside its own, and repositories.


def _change_sources(profile: Profile, change: Callable[[SourceComponent], SourceComponent]) -> Profile:
    """Change what is built from source, also in place of a ready wheel. Nothing is copied where nothing changes."""
    parts = [_change_source(part, change) for part in profile.components]
    unchanged = all(part is old for part, old in zip(parts, profile.components, strict=True))
    return profile if unchanged else replace(profile, components=parts)


def _change_source(part: Component, change: Callable[[SourceComponent], SourceComponent]) -> Component:
    if isinstance(part, WheelComponent) and part.from_source:
        source = change(part.from_source)
        return part if source is part.from_source else replace(part, from_source=source)
    return change(part) if isinstance(part, SourceComponent) else part


def read_patches(profile: Profile, folder: Path) -> Profile:
    """Give a profile with the texts of its patches, whose files are named from its own folder.

    Raises UsageError for one that is not there.
    """
    return _change_sources(profile, lambda part: _patch_source(part, folder))


def _patch_source(part: SourceComponent, folder: Path) -> SourceComponent:
    if not any(each.patches for each in (part, *part.vendored)):
        return part
    vendored = [replace(item, patches=_with_texts(item.patches, folder)) for item in part.vendored]
    return replace(part, patches=_with_texts(part.patches, folder), vendored=vendored)


def _with_texts(patches: Sequence[PatchFile], folder: Path) -> list[PatchFile]:
    return [_with_text(patch, folder) for patch in patches]


def _with_text(patch: PatchFile, folder: Path) -> PatchFile:
    if patch.text:
        return patch
    path = folder.absolute() / from_home(patch.file)
    return replace(patch, text=read_patch(path, "name it from the folder of the profile"))


def expand_home(profile: Profile) -> Profile:
    """Give a profile whose repositories below ~ are named from / on, for git itself takes ~ for a name."""
    return _change_sources(profile, _expand_source)


def _expand_source(part: SourceComponent) -> SourceComponent:
    if not any(repo.startswith("~/") for repo in (part.repo, *(item.repo for item in part.vendored))):
        return part
    vendored = [replace(item, repo=_from_home(item.repo)) for item in part.vendored]
    return replace(part, repo=_from_home(part.repo), vendored=vendored)


def _from_home(repo: str) -> str:
    return str(from_home(repo)) if repo.startswith("~/") else repo


# From the text of a profile to a Profile, or to every error of the file at once.


Item = TypeVar("Item")
Data = TypeVar("Data", bound=Table)
SHOWN = 200
"""Characters of a wrong value that are shown."""
MOST = 10**30
"""A longer number takes Python long to write, or is refused."""
INHERITING = {"inherits", "inherit", "extends", "base", "parent", "include", "includes", "import", "imports"}
SHOULD = re.compile(r"^(?:Input|String|List|Dictionary|Value|Keys?) should ")
SAID = {
    "be a valid string": "be text in quotes",
    "be a valid boolean": "be true or false",
    "be a valid number": "be a number",
    "be a valid integer": "be a whole number",
    "be a valid list": "be a list: [...], or for tables [[...]]",
    "be a valid dictionary": "be a table",
    "match pattern '^[a-z][a-z0-9._-]*$'": "be small letters, digits and any of . _ -, and begin with a letter",
    "match pattern '^[0-9a-f]{4}$'": "be four hexadecimal digits in small letters, without 0x",
    "match pattern '^/[!-~]+$'": "be a path that begins with /",
    r"match pattern '^[a-z0-9_]+(\.[a-z0-9_]+)+$'": "be a check, as in api.mem_get_info",
    "match pattern '^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$'": "be letters, digits and any of . _ -",
    r"match pattern '^\S+$'": "be one word, without spaces",
    "match pattern '^[A-Za-z_][A-Za-z0-9_]*$'": "be the name of a variable: letters, digits and _",
}
"""What pydantic says of a value, and how people say it."""
CLASSES: dict[str, type[Table]] = {"source": SourceComponent, "wheel": WheelComponent, "skip": SkippedComponent}


def parse_profile(text: str, origin: str) -> Profile:
    """Read a profile; `origin` names the file in messages. Raises UsageError with all errors of the file."""
    return keep(Profile, text, lambda: _parse_profile(text, origin))


def read_profile(document: object) -> Profile:
    """Read a profile as a lock holds it. Raises UnfitError."""
    return keep(Profile, json.dumps(document), lambda: read_as(Profile, document))


def _parse_profile(text: str, origin: str) -> Profile:
    try:
        data = parse_toml(text)
        profile = read_as(Profile, data)
    except TomlError as error:
        raise UsageError(
            f"{origin} is not TOML: {error}", fix=f"correct the line, then: {_check_again(origin)}"
        ) from error
    except UnfitError as error:
        raise _refuse(origin, text, [*describe(error, Profile, data), *_find_between(data)]) from error
    if lines := list(_find_between(data)):
        raise _refuse(origin, text, lines)
    return profile


def is_stack(text: str) -> bool:
    """Say whether a file is that of a stack: it names the profile of its torch, and members."""
    try:
        data = parse_toml(text)
    except TomlError:
        return False
    return "members" in data or isinstance(data.get("torch"), str)


def parse_data(text: str, model: type[Data], origin: str) -> Data:
    """Read a data file of the program's own. Raises UsageError with all errors of the file."""
    return keep(model, text, lambda: _parse_data(text, model, origin))


def _parse_data(text: str, model: type[Data], origin: str) -> Data:
    data: dict[str, Any] = {}
    try:
        data = parse_toml(text)
        return read_as(model, data)
    except TomlError as error:
        raise UsageError(
            f"{origin} is not TOML: {error}", fix=_quote(error) or f"correct the line of {origin}"
        ) from error
    except UnfitError as error:
        lines = with_lines(origin, text, describe(error, model, data))
        raise UsageError("\n".join(lines), fix=f"correct {origin}") from error


def _quote(error: TomlError) -> str:
    """Give how a text is written that stands in no quotes, as in `root = /shared`; empty where it is something else."""
    line = error.doc.splitlines()[error.lineno - 1 : error.lineno]
    bare = re.fullmatch(r"\s*([\w.-]+)\s*=\s*([A-Za-z/~$][^\"'#]*?)\s*(#.*)?", "".join(line))
    return f'put it in quotes: {bare[1]} = "{bare[2]}"' if bare else ""


def _refuse(origin: str, text: str, lines: Iterable[str]) -> UsageError:
    said = "\n".join(with_lines(origin, text, lines))
    return UsageError(said, fix=f"correct the file, then: {_check_again(origin)}")


def _check_again(origin: str) -> str:
    return command_on_one_line(("xpusetup", "profiles", "check", origin))


# The lines of a file on which its values begin. The reader of TOML does not tell them: so it reads the beginning of
# the file up to each line, and what is new in it since the line before began there.


LONG = 1000
"""Lines of the longest file that is read so: each line costs one reading. In a longer one nobody is told lines."""


def with_lines(origin: str, text: str, said: Iterable[str]) -> list[str]:
    """Put before each error of a file its name, and the line of what it is about, or else of the table around it."""
    places = find_lines(text)
    lines = ((_line_of(words, places), words) for words in said)
    return [f"{origin}:{line}: {words}" if line else f"{origin}: {words}" for line, words in lines]


def _line_of(words: str, places: Mapping[str, int]) -> int:
    path = words.partition(": ")[0].removesuffix(".[key]")
    while path and path not in places:
        path = path.rpartition(".")[0]
    return places.get(path, 0)


def find_lines(text: str) -> dict[str, int]:
    """Give for each place of a file, as people name it, the line on which it begins; of twins the last."""
    lines, first = text.split("\n"), 1
    found: dict[tuple[int | str, ...], int] = {}
    data: Any = None
    for number in range(1, len(lines) + 1) if len(lines) <= LONG else ():
        try:
            data = parse_toml("\n".join(lines[:number]))
        except TomlError:
            continue  # a value over several lines
        new = [loc for loc in _places(data) if loc not in found]
        found |= {loc: _line_within(lines, first, number, loc, data) for loc in new}
        first = number + 1
    return {".".join(_where(loc, data, tagged=False)): line for loc, line in found.items()}


def _places(data: Any, before: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield (*before, key)
        yield from _places(value, (*before, key))


def _line_within(lines: Sequence[str], first: int, last: int, loc: tuple[int | str, ...], data: Any) -> int:
    """Give the line of a place whose statement is on these: that of a text which stands on one of its own."""
    for part in loc:
        data = data[part]
    if isinstance(data, str) and first < last:
        return next((number for number in range(first, last + 1) if data in lines[number - 1]), first)
    return first


def _find_between(data: dict[str, Any]) -> Iterator[str]:
    """Say what is wrong between the parts of a file, in which anything else may be wrong too."""
    if not data.get("components") and "installer" not in data:
        yield "components: there is none, and no [installer] of the device's maker"
    parts = [part for part in _items(data, "components", dict) if isinstance(part.get("name"), str)]
    names = [part["name"] for part in parts]
    waits = {part["name"]: _items(part, "after", str) for part in parts}
    yield from (f"components.{name}: this name stands twice" for name in sorted({*names}) if names.count(name) > 1)
    for name, others in waits.items():
        unknown = [other for other in others if other not in names]
        path = f"components.{name}.after"
        yield from (f"{path}: there is no component {other!r}{_nearest_word(other, names)}" for other in unknown)
    if cycle := find_cycle(waits):
        yield f"components.{cycle[0]}.after: these wait for each other: {' -> '.join(cycle)}"
    yield from _find_doubled_pins(data.get("build_requirements"))
    yield from _find_old_cmake(data)


def _find_doubled_pins(requirements: Any) -> Iterator[str]:
    pins = _items(requirements, "pins", str) if isinstance(requirements, dict) else []
    names = [canonicalize_name(pin.split("==")[0]) for pin in pins]
    marked = {canonicalize_name(pin.split("==")[0]) for pin in pins if ";" in pin}
    doubled = {name for name in names if names.count(name) > 1}
    yield from (f"build_requirements.pins: {name} is pinned twice" for name in sorted(doubled - marked))


def _find_old_cmake(data: dict[str, Any]) -> Iterator[str]:
    requirements, wanted = data.get("build_requirements"), data.get("cmake")
    pins = _items(requirements, "pins", str) if isinstance(requirements, dict) else []
    pinned = next((pin.split(";")[0].strip() for pin in pins if pin.startswith("cmake==")), "")
    if not isinstance(wanted, str) or not wanted or not pinned:
        return
    with suppress(InvalidSpecifier, InvalidVersion):  # said elsewhere
        if not SpecifierSet(wanted).contains(pinned.removeprefix("cmake==")):
            yield f"build_requirements.pins: {pinned} is not the {wanted} that this release takes"


def _items(table: dict[str, Any], key: str, kind: type[Item]) -> list[Item]:
    found = table.get(key)
    return [item for item in found if isinstance(item, kind)] if isinstance(found, list) else []


def describe(error: UnfitError, model: type[Table], data: Any) -> list[str]:
    """Say what is wrong in a file: a line for each error, with its key path and the nearest name."""
    return [_say(details, model, data) for details in error.faults]


def _say(details: ErrorDetails, model: type[Table], data: Any) -> str:
    where = list(_where(details["loc"], data))
    path = ".".join(where) or "(file)"
    if details["type"] == "unexpected_keyword_argument":
        known = _fields_at(details["loc"], model)
        return f"{path}: unknown key{_nearest_word(where[-1], known)}"
    if details["type"] in {"union_tag_not_found", "union_tag_invalid"}:
        return f"{path}: needs a kind, one of {', '.join(CLASSES)}{_kind_of(details['input'])}"
    if details["type"] == "dataclass_type":
        return f"{path}: must be a table{_given(details['input'])}"
    if details["type"] == "missing":
        return f"{path}: is missing"
    return f"{path}: {_plain(details['msg'])}{_given(details['input'])}"


def _kind_of(table: Any) -> str:
    kind = table.get("kind") if isinstance(table, dict) else None
    return _given(kind) if isinstance(kind, str) else ""


def _plain(message: str) -> str:
    message = SHOULD.sub("must ", message.removeprefix("Value error, "))
    return next((f"must {words}" for said, words in SAID.items() if message == f"must {said}"), message)


def _where(loc: tuple[int | str, ...], data: Any, *, tagged: bool = True) -> Iterator[str]:
    """Give a place as people name it: a component by its name, and without the kind that pydantic puts behind it."""
    tagged = tagged and loc[:1] == ("components",) and bool(loc[2:3]) and loc[2] in CLASSES
    for part in (*loc[:2], *loc[3:]) if tagged else loc:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            data = None
        named = isinstance(part, int) and isinstance(data, dict) and isinstance(data.get("name"), str)
        yield data["name"] if named else str(part)


def _given(value: Any) -> str:
    """Say what stands there, unless that is longer than anyone reads; a password is not said again."""
    if isinstance(value, str):
        plain, hidden = without_credentials(value[:SHOWN])
        return f" (here: {plain!r}{' ...' if len(value) > SHOWN else ''})" if not hidden else ""
    shown = isinstance(value, float) or (isinstance(value, int) and abs(value) < MOST)
    return f" (here: {value!r})" if shown else ""


def _nearest_word(word: str, known: Iterable[str]) -> str:
    known = list(known)
    if word in INHERITING and "components" in known:
        return "; nothing is inherited, a profile is whole; copy one: xpusetup profiles new NAME --from PROFILE"
    return hint_at_nearest(word, known, "'{}'") or f"; known: {', '.join(sorted(known))}"


def _fields_at(loc: tuple[int | str, ...], model: type[Table]) -> list[str]:
    for part in loc[:-1]:
        model = CLASSES.get(str(part)) or _first_table(get_type_hints(model).get(str(part))) or model
    return [key_of(name) for name in model.__dataclass_fields__]


def _first_table(annotation: Any) -> type[Table] | None:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    found = (_first_table(part) for part in get_args(annotation))
    return next((model for model in found if model is not None), None)
