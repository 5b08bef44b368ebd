"""What commands return: values of frozen types, whose texts can be changed in one pass, and their form as JSON.

A field of a result is a key of its JSON document, by the same name; a name that Python keeps for itself ends in an
underscore that the key has not. A table that was read from a file may stand in a result as it is.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar, cast

from xpusetup.base.command import Advice, Command

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

    Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
    Change: TypeAlias = Callable[[str, tuple[str, ...]], str]
    """Gives a text anew; the names are those of the fields and keys that lead to it, from the outside in."""

T = TypeVar("T")


class UnfitError(ValueError):
    """What a file says does not fit its type. `faults` are pydantic's, all of the file: type, place, message, value."""

    def __init__(self, text: str, faults: Sequence[ErrorDetails]) -> None:
        super().__init__(text)
        self.faults = faults


class Document(Protocol):
    """A value of a frozen dataclass: what a command found."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def map_texts(value: T, change: Change) -> T:
    """Give a value in which each text went through a function, those that are keys too. The value stays as it is."""
    return cast("T", _map(value, change, ()))


def _map(value: Any, change: Change, names: tuple[str, ...]) -> Any:
    if isinstance(value, Advice):
        return Advice(*(_map(part, change, names) for part in value.parts))
    if isinstance(value, str):
        return value.like(change(value, names)) if isinstance(value, Command) else change(value, names)
    if isinstance(value, dict):
        return type(value)(
            (_map(key, change, names), _map(each, change, (*names, str(key)))) for key, each in value.items()
        )
    if type(value) in {list, tuple}:
        return type(value)(_map(each, change, names) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{name: _map(each, change, (*names, key_of(name))) for name, each in _pairs(value)})
    return value


def to_json(value: object) -> Json:
    """Give a value as JSON has it. Raises TypeError for what JSON has no form of."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {str(key): to_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {key_of(name): to_json(each) for name, each in _pairs(value) if not _is_unsaid(value, name, each)}
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"JSON has no form of {type(value).__name__}")


def to_table(value: Document) -> dict[str, Any]:
    """Give a value as the table that JSON and TOML have it as."""
    return cast("dict[str, Any]", to_json(value))


def to_told(value: Document) -> dict[str, Any]:
    """Give the table of a value without what is as by default, nor what is None."""
    said = {name: each for name, each in _pairs(value) if each is not None and not _is_default(value, name, each)}
    return {key_of(name): _told(each) for name, each in said.items()}


def _told(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_told(each) for each in value]
    if isinstance(value, dict):
        return {key: _told(each) for key, each in value.items()}
    return to_told(value) if is_dataclass(value) and not isinstance(value, type) else value


def to_text(value: object) -> str:
    """Give a value as JSON in one line."""
    return json.dumps(to_json(value), separators=(",", ":"), ensure_ascii=False)


def read_as(kind: type[T], found: object) -> T:
    """Read what a file says, or what a script wrote as JSON, into a type.

    Raises UnfitError for what does not fit. Keys that the type has not are left out, but for a table of
    base/values.py, which refuses them.
    """
    reader: TypeAdapter[T] = reader_of(cast("Hashable", kind))
    return _read(partial(reader.validate_python, found))


def read_json_as(kind: type[T], text: str) -> T:
    """Read JSON into a type. Raises as read_as does."""
    reader: TypeAdapter[T] = reader_of(cast("Hashable", kind))
    return _read(partial(reader.validate_json, text))


def _read(read: Callable[[], T]) -> T:
    from pydantic import ValidationError  # noqa: PLC0415 - who reads nothing new need not wait for it

    try:
        return read()
    except ValidationError as error:
        raise UnfitError(str(error), error.errors()) from error


@cache
def reader_of(kind: Hashable) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - same

    return TypeAdapter(cast("Any", kind))


def key_of(name: str) -> str:
    """Give the key in JSON of a field."""
    return name.removesuffix("_")


def fields_of(value: Document) -> dict[str, Any]:
    """Give the fields of a value by name, to make one of a type that has more."""
    return dict(_pairs(value))


def _pairs(value: Document) -> Iterator[tuple[str, Any]]:
    for field in fields(value):
        yield field.name, getattr(value, field.name)


def _is_unsaid(value: Document, name: str, each: object) -> bool:
    return name in getattr(value, "UNSAID", ()) and _is_default(value, name, each)


def _is_default(value: Document, name: str, each: object) -> bool:
    defaults = _defaults(type(value))
    return name in defaults and defaults[name] == each


@cache
def _defaults(kind: type[Document]) -> dict[str, Any]:
    told = {each.name: each.default for each in fields(kind) if each.default is not MISSING}
    return told | {each.name: each.default_factory() for each in fields(kind) if each.default_factory is not MISSING}
