"""data/fallbacks.toml as values: the published tables, and which release's built-in list names which operator."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Literal

from pydantic import Field, model_validator

from xpusetup.tomltext import parse_toml
from xpusetup.values import Strict

ROW = re.compile(r"^\| `(?P<name>[\w:.]+)` *\| (?P<how>Enabled|Manual) *\|$", re.MULTILINE)
SPACE = "aten::"


class Published(Strict):
    """A table as it was published: its text to the letter, for which release, and what was run."""

    id: str
    release: str
    workload: str
    source: str
    markdown: str

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Its operators, each with how it gets to the CPU, in the published order."""
        return ROW.findall(self.markdown)


class BuiltIn(Strict):
    """Where a release's built-in list stands, and how many operators it names."""

    release: str
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    path: str
    operators: int
    date: str = ""


class Span(Strict):
    """Operators that are on the lists of all releases from `first` to `last`."""

    first: str
    last: str
    operators: list[str]


class Kernel(Strict):
    """Operators that never were on a list, and the first release that has an XPU kernel for them."""

    since: str
    source: str
    operators: list[str]


class Known(Strict):
    """All of data/fallbacks.toml. An operator's name here begins with its `aten::`, in a built-in list it does not."""

    source: str
    table: list[Published]
    built_in: list[BuiltIn]
    span: list[Span]
    kernel: list[Kernel]

    @model_validator(mode="after")
    def lists_are_whole(self) -> Known:
        """Refuse a list that holds more or fewer operators than its file."""
        for one in self.built_in:
            if (found := len(self.names(one.release))) != one.operators:
                raise ValueError(f"the list of {one.release} has {one.operators} operators, the spans give {found}")
        return self

    @property
    def releases(self) -> tuple[str, ...]:
        """Every release of which the list is known, the oldest first; the last is PyTorch's main branch."""
        return tuple(one.release for one in self.built_in)

    @cached_property
    def _listed(self) -> dict[str, tuple[str, ...]]:
        order = self.releases
        return {
            SPACE + name: order[order.index(span.first) : order.index(span.last) + 1]
            for span in self.span
            for name in span.operators
        }

    @cached_property
    def _published(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for table in self.table:
            for name, _how in table.rows:
                found.setdefault(name, set()).add(table.release)
        return found

    def names(self, release: str) -> tuple[str, ...]:
        """Give the built-in list of a release, by name."""
        return tuple(sorted(name for name, releases in self._listed.items() if release in releases))

    def is_listed(self, name: str, release: str = "") -> bool:
        """Say whether an operator is on the list of this release, or of any."""
        releases = self._listed.get(name, ())
        return release in releases if release in self.releases else bool(releases)

    def releases_of(self, name: str) -> tuple[str, ...]:
        """Give the releases with which the operator runs on the CPU: by their lists, or as published."""
        seen = {*self._listed.get(name, ()), *self._published.get(name, ())}
        return tuple(release for release in self.releases if release in seen)

    def native_since(self, name: str) -> str | None:
        """Give the first release whose list names it no longer; None where the newest does, or nothing is known."""
        for kernel in self.kernel:
            if name.removeprefix(SPACE) in kernel.operators:
                return kernel.since
        releases = self.releases_of(name)
        after = self.releases[self.releases.index(releases[-1]) + 1 :] if releases else ()
        return after[0] if after else None


def parse_known(text: str) -> Known:
    """Read data/fallbacks.toml. Raises pydantic's ValidationError on anything that it does not know."""
    return Known.model_validate(parse_toml(text))


How = Literal["Enabled", "Manual", "Forced", "Silent", "Missing"]
MEANING: dict[How, str] = {
    "Enabled": "it runs on the CPU by itself: it is on the built-in list, or the device says so",
    "Manual": "it ends the program unless PYTORCH_ENABLE_XPU_FALLBACK=1 is set; then it runs on the CPU",
    "Forced": "PYTORCH_XPU_FALLBACK_OP sends it to the CPU",
    "Silent": "the device's catch-all takes it, which runs it on the CPU and says nothing",
    "Missing": "the device has neither a kernel nor a fallback for it: it ends the program",
}
