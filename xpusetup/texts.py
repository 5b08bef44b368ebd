"""What the texts of profiles and data files may be: each function gives its text back, or raises ValueError."""

from __future__ import annotations

import re

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pydantic import WithJsonSchema


def check_plain(text: str) -> str:
    """Refuse what is more than a line of text."""
    if not text.isprintable() or "@ROOT@" in text:
        raise ValueError("must be one line of printable text")
    return text


def check_operand(text: str) -> str:
    """Refuse what a program would read as an option."""
    if text.startswith("-"):
        raise ValueError("must not begin with '-': a program would read it as an option")
    return check_plain(text)


def check_inside(path: str) -> str:
    """Refuse a path that leads out of its tree."""
    if not path or path.startswith(("/", "~")) or ".." in path.split("/"):
        raise ValueError("must be a path below the source tree: no leading '/' and no '..'")
    return check_operand(path)


def check_rev(text: str) -> str:
    """Refuse what is no whole commit id."""
    if text != text.lower() and len(text) == 40:  # noqa: PLR2004 - the length of a SHA-1
        raise ValueError("must be lower case, as git prints it")
    if len(text) != 40 or not set(text) <= set("0123456789abcdef"):  # noqa: PLR2004 - the length of a SHA-1
        raise ValueError(f"must be a whole commit id of 40 hexadecimal digits, not {len(text)} characters")
    return text


def check_version(text: str) -> str:
    """Refuse a version in another spelling than that of wheels."""
    if (normal := str(Version(text))) != text:
        raise ValueError(f"must be written as in the name of a wheel: {normal}")
    return text


def check_specifiers(text: str) -> str:
    """Refuse what is no version specifier."""
    SpecifierSet(text)
    return text


PLAIN_PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==\d+(\.\d+)*")
"""What nearly every pin looks like: a profile has a hundred, and reading them as requirements takes time."""


def check_exact(text: str) -> str:
    """Refuse a requirement that is not pinned exactly."""
    if PLAIN_PIN.fullmatch(text):
        return text
    requirement = Requirement(text)
    if [spec.operator for spec in requirement.specifier] != ["=="] or "*" in str(requirement.specifier):
        raise ValueError("must be pinned exactly, as in name==1.2.3")
    return check_operand(text)


def shaped(pattern: str) -> WithJsonSchema:
    """Tell an editor by a pattern what a validator asks for."""
    return WithJsonSchema({"type": "string", "pattern": pattern})
