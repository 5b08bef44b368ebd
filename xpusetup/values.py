"""The values that data files hold, each checked as strictly as what is made of it needs; and what every table is."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

Confidence = Literal["confirmed", "likely", "unconfirmed"]


def _plain(text: str) -> str:
    if not text.isprintable() or "@ROOT@" in text:
        raise ValueError("must be one line of printable text")
    return text


def _operand(text: str) -> str:
    if text.startswith("-"):
        raise ValueError("must not begin with '-': a program would read it as an option")
    return _plain(text)


def _inside(path: str) -> str:
    if not path or path.startswith(("/", "~")) or ".." in path.split("/"):
        raise ValueError("must be a path below the source tree: no leading '/' and no '..'")
    return _operand(path)


def _rev(text: str) -> str:
    if text != text.lower() and len(text) == 40:  # noqa: PLR2004 - the length of a SHA-1
        raise ValueError("must be lower case, as git prints it")
    if len(text) != 40 or not set(text) <= set("0123456789abcdef"):  # noqa: PLR2004 - the length of a SHA-1
        raise ValueError(f"must be a whole commit id of 40 hexadecimal digits, not {len(text)} characters")
    return text


def _version(text: str) -> str:
    if (normal := str(Version(text))) != text:
        raise ValueError(f"must be written as in the name of a wheel: {normal}")
    return text


def _specifiers(text: str) -> str:
    SpecifierSet(text)
    return text


PLAIN_PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==\d+(\.\d+)*")
"""What nearly every pin looks like: a profile has a hundred, and reading them as requirements takes time."""


def _exact(text: str) -> str:
    if PLAIN_PIN.fullmatch(text):
        return text
    requirement = Requirement(text)
    if [spec.operator for spec in requirement.specifier] != ["=="] or "*" in str(requirement.specifier):
        raise ValueError("must be pinned exactly, as in name==1.2.3")
    return _operand(text)


def _shaped(pattern: str) -> WithJsonSchema:
    """Tell an editor by a pattern what a validator asks for."""
    return WithJsonSchema({"type": "string", "pattern": pattern})


Text = Annotated[str, AfterValidator(_plain)]
Operand = Annotated[str, AfterValidator(_operand), _shaped("^(?!-)")]
Inside = Annotated[str, AfterValidator(_inside), _shaped(r"^(?![/~-])(?!(.*/)?\.\.(/|$)).+$")]
Rev = Annotated[str, AfterValidator(_rev), _shaped("^[0-9a-f]{40}$")]
VersionText = Annotated[str, AfterValidator(_version)]
Specifiers = Annotated[str, AfterValidator(_specifiers)]
Exact = Annotated[str, AfterValidator(_exact), _shaped(r"^[A-Za-z0-9][^=<>!~]*==[^*]+$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9._-]*$")]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Environment = dict[Variable, Text]


class Strict(BaseModel):
    """No unknown key, no coercion, no change."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class Sourced(Strict):
    """A fact with where it comes from."""

    source: Text
    confidence: Confidence
