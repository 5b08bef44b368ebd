"""What a form of a plan is asked and what it gives: the two ends of every kind that `emit` knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from xpusetup.commands.places import Where
    from xpusetup.model import Request

FOLDER = "@FOLDER@"
"""Stands in `Form.start` for the folder that is written."""
SOME = frozenset(
    {"from", "os", "target", "dialect", "base", "driver", "pin", "label", "gpu-label", "extension", "verify"}
)
"""The options that some forms know; all know the others."""
COMPILING = ("rev", "set", "only", "until")
"""The options that choose what is compiled, and how."""


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


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A form of a plan: what makes its files, and which options mean something to it beside those of every form.

    `make` raises XpuError for what this form cannot be, before anything is written. `origin` is where its packages are
    from unless --from says so.
    """

    make: Callable[[Order], Form]
    options: frozenset[str] = frozenset()
    origin: str = "source"


def check_options(name: str, kinds: Mapping[str, Kind], order: Order) -> None:
    """Raise UsageError for what a form does not know: no option is passed over in silence."""
    asked, kind = _asked(order), kinds[name]
    for option in asked:
        if option in SOME and option not in kind.options:
            knowing = [other for other, each in kinds.items() if option in each.options]
            fix = f"leave it out; the forms that know it: {', '.join(knowing)}"
            raise UsageError(f"--{option} means nothing to the form {name}", fix=fix)
    origin = order.options.get("from") or kind.origin
    if origin == "wheels" and (idle := [option for option in asked if option in COMPILING]):
        raise UsageError(
            f"--{idle[0]} means nothing to wheels as they were published: nothing is compiled",
            fix=f"leave --{idle[0]} out, or: --from source",
        )


def _asked(order: Order) -> list[str]:
    """Name the options that were given, as people write them."""
    place, request = order.places[0], order.request
    given = {
        **order.options,
        "rev": place.rev,
        "only": request.only,
        "until": request.until,
        "set": request.set,
        "verify": "" if request.verify == "auto" else request.verify,
    }
    return [name.replace("_", "-") for name, value in given.items() if value]
