"""What differs between machines: facts whose values are not the same everywhere, and checks that say different things.

Machines are named by the caller. What differs always, such as times and free memory, is left out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from xpusetup.base.document import to_table
from xpusetup.base.model import Finding
from xpusetup.machine.facts import Facts

ALWAYS = (
    *(
        "taken",
        "program",
        "notes.*",
        "kernel.version",
        "system.kernel",
        "system.user",
        "system.uid",
        "system.groups*",
        "system.joined*",
    ),
    *("resources.memory_available", "resources.disks*", "caches*", "torch.report.seconds", "kernel.messages*"),
    *("userland.level_zero.devices[[]*].uuid", "gaudi.cards[[]*].used_by", "kernel.cmdline", "network.reach*"),
    *("environment.SLURM*", "environment.TMPDIR"),
)
"""Paths of facts that are another's on every machine, or at every time. The kernel's messages are judged by checks."""
KEYS = ("name", "path", "address", "index", "compiler")
"""What tells the entries of a list apart; without it they are told apart by their place."""
BAD = ("warn", "fail", "crash")
NOTHING = "(not seen)"
NEXT = "\n"
THERE = "(there)"
LONGEST = 120


@dataclass(frozen=True)
class SameValue:
    """Machines with the same value."""

    value: str
    machines: tuple[str, ...]


@dataclass(frozen=True)
class MachineDifference:
    """A fact or a finding, by its path or the check's id, and who has which value; the commonest first."""

    id: str
    groups: tuple[SameValue, ...]


def differing_facts(machines: Mapping[str, Facts]) -> tuple[MachineDifference, ...]:
    """Compare facts, as paths into them."""
    flat = {name: dict(_flatten(to_table(facts))) for name, facts in machines.items()}
    paths = dict.fromkeys(path for values in flat.values() for path in values)
    rows = (
        (path, {name: values.get(path, NOTHING) for name, values in flat.items()})
        for path in paths
        if not any(fnmatchcase(path, pattern) for pattern in ALWAYS)
    )
    return _differences(_without_shadows(dict(rows)))


def differing_findings(machines: Mapping[str, Sequence[Finding]]) -> tuple[MachineDifference, ...]:
    """Compare the checks that find fault somewhere: their levels, and what they saw there."""
    said = {name: {each.id: _say(each) for each in findings} for name, findings in machines.items()}
    bad = dict.fromkeys(each.id for findings in machines.values() for each in findings if each.level in BAD)
    return _differences({each: {name: findings.get(each, NOTHING) for name, findings in said.items()} for each in bad})


def _say(finding: Finding) -> str:
    return f"{finding.level}: {finding.seen.partition(NEXT)[0]}" if finding.level in BAD else finding.level


def _flatten(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Give every value below, by its path; an empty list or table stands for itself."""
    if isinstance(value, Mapping) and value:
        for name, each in value.items():
            yield from _flatten(each, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        keys = [_key(each, place) for place, each in enumerate(value)]
        for place, each in enumerate(value):
            again = keys[:place].count(keys[place])
            entry = f"{path}[{keys[place]}{f' {again + 1}' if again else ''}]"
            yield entry, THERE
            yield from _flatten(each, entry)
    else:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        yield path, NOTHING if value in (None, [], {}) else text[:LONGEST]


def _key(value: Mapping[str, Any], place: int) -> str:
    return next((str(value[name]) for name in KEYS if value.get(name)), str(place))


def _without_shadows(rows: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Leave out what is inside of an entry that some machines do not have at all: the entry says it."""
    partly = tuple(f"{path}." for path, values in rows.items() if set(values.values()) == {THERE, NOTHING})
    return {path: values for path, values in rows.items() if not path.startswith(partly)}


def _differences(rows: Mapping[str, Mapping[str, str]]) -> tuple[MachineDifference, ...]:
    return tuple(
        MachineDifference(path, _groups(values)) for path, values in rows.items() if len(set(values.values())) > 1
    )


def _groups(values: Mapping[str, str]) -> tuple[SameValue, ...]:
    by_value: dict[str, list[str]] = {}
    for name, value in values.items():
        by_value.setdefault(value, []).append(name)
    ordered = sorted(by_value.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return tuple(SameValue(value, tuple(names)) for value, names in ordered)
