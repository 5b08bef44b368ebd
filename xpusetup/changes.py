"""Which input of a step changed: what it kept when it was done, beside what it would follow from now."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EXPORT = re.compile(r"^export ([A-Za-z_][A-Za-z0-9_]*)=(.*)$", re.MULTILINE)
PATIENCE = 60
"""Characters of a value that a screen shows before it cuts it short."""


def find_changes(before: str, inputs: str, script: str) -> tuple[str, ...]:
    """Name every input that is another than it was; empty where nothing was kept to compare with.

    `before` is what the step kept: the inputs of its key, an empty line, and its script.
    """
    old_inputs, apart, old_script = before.partition("\n\n")
    if not apart:
        return ()
    return (*_changed_inputs(old_inputs, inputs), *_changed_script(old_script, script))


def summarise(changed: tuple[str, ...]) -> str:
    """Say in a few words why a step is stale."""
    if not changed:
        return "what it depends on changed"
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"{changed[0]}{more}"


def _changed_inputs(old: str, new: str) -> Iterator[str]:
    was, now = _named(old), _named(new)
    if was.get("root") != now.get("root"):
        yield f"root {was.get('root')} → {now.get('root')}"
    before = {name for name in was if name.startswith("after ")}
    after = {name for name in now if name.startswith("after ")}
    yield from (f"it no longer comes {name}" for name in sorted(before - after))
    yield from (f"it now comes {name}" for name in sorted(after - before))
    yield from (
        f"another result of {name.removeprefix('after ')}" for name in sorted(before & after) if was[name] != now[name]
    )
    if was.get("tools") != now.get("tools"):
        yield f"tools: {was.get('tools', 'none')} → {now.get('tools', 'none')}"


def _named(inputs: str) -> dict[str, str]:
    """Read the inputs of a key; the lines after those that begin with a known word identify compiler and toolkit."""
    found: dict[str, str] = {}
    tools = []
    for line in inputs.splitlines():
        first, _, rest = line.partition(" ")
        if first == "after":
            name, _, result = rest.partition(" ")
            found[f"after {name}"] = result
        elif first in {"xpusetup", "root", "script"}:
            found[first] = rest
        else:
            tools.append(line)
    return {**found, **({"tools": ", ".join(tools)} if tools else {})}


def _changed_script(old: str, new: str) -> Iterator[str]:
    was, now = dict(EXPORT.findall(old)), dict(EXPORT.findall(new))
    for name in sorted({*was, *now}):
        if was.get(name) != now.get(name):
            yield f"env {name} {_short(was.get(name, 'unset'))} → {_short(now.get(name, 'unset'))}"
    before, after = _lines(old), _lines(new)
    yield from (f"no longer: {_short(line)}" for line in before if line not in after)
    yield from (f"now: {_short(line)}" for line in after if line not in before)


def _lines(script: str) -> list[str]:
    """Give the lines that do something, long commands in one, without comments and without variables."""
    joined = EXPORT.sub("", script).replace(" \\\n", "")
    lines = (" ".join(line.split()) for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _short(text: str) -> str:
    plain = text.replace('"$ROOT"', "ROOT")
    return plain if len(plain) <= PATIENCE else f"{plain[: PATIENCE - 1]}…"
