"""Machines of public threads: what the doctor says of each against what ailed it, as it was labelled before.

Each has the address of its thread. Of what was posted there only lines that tools print are kept, and names, places and
dates in them are made up. An empty cause: the machine is well, or the lines do not tell; then no cause may be named.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import tomli

from data.diagnosis import diagnose
from xpusetup.base.errors import UsageError
from xpusetup.commands.doctor import Diagnosis, DoctorOptions
from xpusetup.run.workspace import Where

HERE = Path(__file__).parent / "pastes"
POSTS = {path.stem: tomli.loads(path.read_text()) for path in sorted(HERE.glob("*.toml"))}
LEAST = 71
"""Right of them, at least; docs/measured.md has the figures."""


def look(name: str, tmp_path: Path) -> Diagnosis | None:
    """Return what is said of a post; None where nothing in it is recognised."""
    file = tmp_path / f"{name}.txt"
    file.write_text(POSTS[name]["text"])
    with suppress(UsageError):  # nothing in it is recognised
        return diagnose(Where(), DoctorOptions(paste=(str(file),)))
    return None


def first(found: Diagnosis | None) -> str:
    """Return what is named first: a cause, else what an error line means, else what was warned of."""
    if found is None:
        return ""
    warned = [each.id for each in found.findings if each.level == "warn"]
    errors = [each.id for each in found.pasted.causes] if found.pasted else []
    return next(iter([*found.stops["run"], *errors, *warned]), "")


def is_right(post: dict[str, Any], found: Diagnosis | None) -> bool:
    return first(found) in post["cause"] if post["cause"] else found is None or not found.stops["run"]


def is_sound(found: Diagnosis | None) -> bool:
    """Say whether what was recognised has a kind, and no check broke on it."""
    if found is None:
        return True
    return bool(found.pasted and found.pasted.kinds) and "crash" not in {each.level for each in found.findings}


def test_what_is_named_first(tmp_path: Path) -> None:
    found = {name: look(name, tmp_path) for name in POSTS}
    for name, told in found.items():
        assert is_sound(told), name
    wrong = {
        name: (first(told), POSTS[name]["cause"]) for name, told in found.items() if not is_right(POSTS[name], told)
    }
    print(f"{len(POSTS) - len(wrong)} of {len(POSTS)} right; wrong: {wrong}")  # noqa: T201 - the score
    assert len(POSTS) - len(wrong) >= LEAST, wrong


def test_each_has_its_thread() -> None:
    assert len(POSTS) >= 75
    assert all(post["url"].startswith("https://github.com/") for post in POSTS.values())
