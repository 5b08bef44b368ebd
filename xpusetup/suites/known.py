"""data/suites.toml as values: the suites, what they leave out with which versions, and what was published of them."""

from __future__ import annotations

import difflib
import re
from typing import Annotated

from pydantic import Field

from xpusetup.errors import UsageError
from xpusetup.tomltext import parse_toml
from xpusetup.values import Strict, Text, Variable

ROW = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<failed>\d+) \| (?P<passed>\d+) \| (?P<skipped>\d+) \|$", re.MULTILINE)
Counts = dict[str, int]
Place = Annotated[str, Field(pattern=r"^(\.|[A-Za-z0-9_][A-Za-z0-9_./-]*)$")]


class Selection(Strict):
    """A named part of a suite: places, and an expression of pytest's -k."""

    name: Text
    places: list[Place]
    keyword: str = ""


class Suite(Strict):
    """A suite of tests. Its words are explained at the top of data/suites.toml."""

    name: Text
    title: Text
    distribution: Text
    places: list[Place]
    needs: list[Text]
    repo: str = ""
    tag: str = ""
    component: str = ""
    packaged: str = ""
    full: list[Place] = []
    entries: list[Place] = []
    spec: str = ""
    chooses: bool = False
    environment: dict[Variable, str] = {}
    selection: list[Selection] = []


class Exclusion(Strict):
    """Places of a suite that are left out with these versions on this device, and why."""

    suite: Text
    version: Text
    torch: Text
    device: Text
    places: list[Place]
    reason: Text
    source: Text


class Published(Strict):
    """A table of results as it was published, to the letter."""

    id: Text
    suite: Text
    version: Text
    torch: Text
    device: Text
    machine: Text
    source: Text
    markdown: str

    @property
    def rows(self) -> dict[str, Counts]:
        """Its counts by row, in the published order."""
        return {
            found["name"]: {kind: int(found[kind]) for kind in ("failed", "passed", "skipped")}
            for found in ROW.finditer(self.markdown)
        }


class Suites(Strict):
    """All of data/suites.toml."""

    environment: dict[str, dict[Variable, str]]
    suite: list[Suite]
    exclusion: list[Exclusion]
    published: list[Published]

    @property
    def names(self) -> tuple[str, ...]:
        """Give the names of the suites."""
        return tuple(one.name for one in self.suite)

    def find(self, name: str) -> Suite:
        """Give a suite. Raises UsageError for a name that is not known."""
        found = next((one for one in self.suite if one.name == name), None)
        if found is None:
            near = difflib.get_close_matches(name, self.names, 1)
            meant = f"perhaps you meant {near[0]}; " if near else ""
            raise UsageError(f"there is no suite {name!r}", fix=f"{meant}known: {', '.join(self.names)}")
        return found

    def variables(self, suite: Suite, device: str) -> dict[str, str]:
        """Give the variables that a suite is run with on a device, where the caller has not set them."""
        own = {name: value.format(device=device) for name, value in suite.environment.items()}
        return {**self.environment.get(device, {}), **own}

    def excluded(self, suite: Suite, version: str, torch: str, device: str) -> list[Exclusion]:
        """Give what is left out of a suite of this version with this torch."""
        asked = (suite.name, version, device)
        return [
            one
            for one in self.exclusion
            if (one.suite, one.version, one.device) == asked and is_release(torch, one.torch)
        ]

    def fitting(self, suite: str, version: str, torch: str, device: str) -> Published | None:
        """Give what was published for these versions on this device."""
        for one in self.published:
            if (one.suite, one.version, one.device) == (suite, version, device) and is_release(torch, one.torch):
                return one
        return None


def is_release(version: str, release: str) -> bool:
    """Say whether a version of torch belongs to a minor release."""
    return version == release or version.startswith(f"{release}.")


def parse_suites(text: str) -> Suites:
    """Read data/suites.toml. Raises pydantic's ValidationError on anything that it does not know."""
    return Suites.model_validate(parse_toml(text))
