"""What commands return: values of frozen types, whose texts can be changed in one pass, and their form as JSON.

A field of a result is a key of its JSON document, by the same name; a name that Python keeps for itself ends in an
underscore that the key has not. What was read from a file by pydantic's strict models may stand in a result as it is.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
    Change: TypeAlias = Callable[[str, tuple[str, ...]], str]
    """Gives a text anew; the names are those of the fields and keys that lead to it, from the outside in."""

T = TypeVar("T")


class Document(Protocol):
    """A value of a frozen dataclass: what a command found."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def map_texts(value: T, change: Change) -> T:
    """Give a value in which each text went through a function, those that are keys too. The value stays as it is."""
    return cast("T", _map(value, change, ()))


def _map(value: Any, change: Change, names: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return change(value, names)
    if isinstance(value, dict):
        return {_map(key, change, names): _map(each, change, (*names, str(key))) for key, each in value.items()}
    if type(value) in {list, tuple}:
        return type(value)(_map(each, change, names) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{name: _map(each, change, (*names, key_of(name))) for name, each in _pairs(value)})
    if hasattr(type(value), "model_fields"):  # a model of pydantic, which must not be imported for this
        return value.model_copy(update={name: _map(each, change, (*names, name)) for name, each in value})
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
        return {key_of(name): to_json(each) for name, each in _pairs(value)}
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "model_dump"):
        return cast("Json", value.model_dump(mode="json", by_alias=True))
    raise TypeError(f"JSON has no form of {type(value).__name__}")


def read_as(kind: type[T], found: object) -> T:
    """Read what a script wrote as JSON into a type; keys that the type has not are left out.

    Raises ValueError for what does not fit.
    """
    from pydantic import TypeAdapter  # noqa: PLC0415 - who reads no such document need not wait for it

    return TypeAdapter(kind).validate_python(found)


def key_of(name: str) -> str:
    """Give the key in JSON of a field."""
    return name.removesuffix("_")


def fields_of(value: Document) -> dict[str, Any]:
    """Give the fields of a value by name, to make one of a type that has more."""
    return dict(_pairs(value))


def _pairs(value: Document) -> Iterator[tuple[str, Any]]:
    for field in fields(value):
        yield field.name, getattr(value, field.name)
