"""What images are made of (data/images.toml): base images, and what a system has of its own.

Words: a *system* is the distribution inside an image; its *base* is the image that it begins from.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from xpusetup.errors import UsageError
from xpusetup.load import parse_data
from xpusetup.platforms import DriverPackages, Line, Manager
from xpusetup.values import Name, Operand, Sourced, Specifiers, Strict, Text, VersionText

if TYPE_CHECKING:
    from collections.abc import Iterable

Stage = Literal["runtime", "devel"]
Origin = Literal["source", "wheels"]
Dialect = Literal["buildkit", "portable"]
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
REFERENCE = re.compile(r"[a-z0-9][a-z0-9._:/-]*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?")
"""How the name of an image may look: host and path, tag, digest."""


class ImageSystem(Sourced):
    """A system that images can be made of. `python_inside`: the base image has its Pythons already."""

    id: Name
    name: Text
    families: list[Name] = Field(min_length=1)
    release: Text
    manager: Manager
    base: Operand
    digest: Annotated[str, Field(pattern=r"^(sha256:[0-9a-f]{64})?$")] = ""
    python: VersionText
    other_pythons: list[VersionText] = []
    python_packages: list[Operand] = []
    python_inside: bool = False
    glibc: VersionText
    gcc: VersionText
    cc: Operand = "gcc"
    cxx: Operand = "g++"
    toolkits: Specifiers = ""
    build: list[Operand]
    run: list[Operand]
    drivers: dict[Line, DriverPackages] = {}

    @property
    def pythons(self) -> list[str]:
        """All Pythons, the one that is taken without being asked for first."""
        return [self.python, *self.other_pythons]

    @property
    def reference(self) -> str:
        """The base image, by its digest where that is known."""
        return f"{self.base}@{self.digest}" if self.digest else self.base


class PackageVersion(Sourced):
    """The exact version of a package of the toolkit."""

    name: Operand
    manager: Manager
    version: Operand


class ImageTable(Strict):
    """data/images.toml, with the day on which it was collected."""

    collected: dt.date
    system: list[ImageSystem] = Field(min_length=1)
    package: list[PackageVersion] = []

    def find(self, name: str) -> ImageSystem:
        """Give a system by its id. Raises UsageError with the nearest one."""
        ids = [each.id for each in self.system]
        if name not in ids:
            close = difflib.get_close_matches(name, ids, n=1, cutoff=0.4)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise UsageError(f"nothing is known of images of {name!r}{hint}", fix=f"--os takes: {', '.join(ids)}")
        return next(each for each in self.system if each.id == name)

    def versions(self, manager: Manager) -> dict[str, str]:
        """Give the exact versions that are known of a package manager's packages."""
        return {each.name: each.version for each in self.package if each.manager == manager}


def parse_images(text: str) -> ImageTable:
    """Read data/images.toml. Raises UsageError with all errors of the file."""
    return parse_data(text, ImageTable, "images.toml")


def check_reference(text: str) -> str:
    """Give the name of an image back. Raises UsageError for what no engine would take for one."""
    if not REFERENCE.fullmatch(text):
        fix = "name it as engines do: [HOST/]NAME:TAG or [HOST/]NAME@sha256:DIGEST"
        raise UsageError(f"--base {text!r} is no name of an image", fix=fix)
    if "@" not in text and ":" not in text.rsplit("/", 1)[-1]:
        fix = f"add a tag or a digest, as in {text}:24.04"
        raise UsageError(f"--base {text} names neither a tag nor a digest: it means another image every month", fix=fix)
    return text


def has_digest(reference: str) -> bool:
    """Say whether an image is named by its content."""
    return DIGEST.search(reference) is not None


def parse_package_pins(texts: Iterable[str]) -> dict[str, str]:
    """Read PACKAGE=VERSION. Raises UsageError for anything else."""
    found = {}
    for text in texts:
        name, sign, version = text.partition("=")
        if not (re.fullmatch(r"[a-z0-9][a-z0-9+._-]*", name) and sign and re.fullmatch(r"[0-9][\w.+:~-]*", version)):
            fix = "as the package manager writes it: --pin intel-pti-dev-0.9=0.9.0-33"
            raise UsageError(f"--pin {text!r} is not PACKAGE=VERSION", fix=fix)
        found[name] = version
    return found
