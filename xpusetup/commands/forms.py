"""What a form of a plan is asked and what it gives: the two ends of every kind that `emit` knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.commands.workspace import Where
    from xpusetup.model import Request

FOLDER = "@FOLDER@"
"""Stands in `Form.start` for the folder that is written."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What was asked of a form: for which profiles and places (several make a matrix), and what its options say."""

    places: tuple[Where, ...]
    request: Request
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def only_place(self) -> Where:
        """The one place, for a form that has no matrix. Raises UsageError where there are several."""
        if len(self.places) != 1:
            raise UsageError("this form is for one profile", fix="name one --profile, and write the others elsewhere")
        return self.places[0]


@dataclass(frozen=True, kw_only=True)
class Form:
    """What a form consists of: texts by file name, the shell line that begins with them, and what is worth saying."""

    files: Mapping[str, str]
    start: str = ""
    notes: tuple[str, ...] = ()


class Kind(Protocol):
    """A form of a plan."""

    def __call__(self, order: Order) -> Form:
        """Give the files. Raises XpuError for what this form cannot be, before anything is written."""
