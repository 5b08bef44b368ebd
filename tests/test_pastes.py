"""Posts of machines from public threads: what the doctor says of each against what ailed it, as it was labelled before.

`half = "tuned"` were read while the reader was written; `half = "held"` were labelled and judged before anything was
changed for them (docs/doctor.md has those figures), and hold what is read since. `half = "fresh"` are re-creations from
the facts of threads, by someone who did not know the checks, of the half that was tuned to. `half = "walked"` are made
up from what is known to ail such machines, one by one, and were written and labelled before the code that reads them.
`half = "aged"` are what follows from versions, places and builds: half re-created from the facts of threads, half made
up, labelled before the first run and tuned to since.
An empty cause: the machine is well, or the lines do not tell; then no cause may be named.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import tomli

from data.diagnosis import diagnose
from xpusetup.base.errors import UsageError
from xpusetup.commands.doctor import Diagnosis, DoctorOptions
from xpusetup.run.workspace import Where

HERE = Path(__file__).parent / "pastes"
POSTS = {path.stem: tomli.loads(path.read_text()) for path in sorted(HERE.glob("*.toml"))}
LEAST = {"tuned": 17, "held": 17, "fresh": 10, "walked": 89, "aged": 52}
"""Right of each half, at least; docs/doctor.md has the figures."""


def look(name: str, tmp_path: Path) -> Diagnosis | None:
    """Give what is said of a post; None where nothing in it is recognised."""
    file = tmp_path / f"{name}.txt"
    file.write_text(POSTS[name]["text"])
    with suppress(UsageError):  # nothing in it is recognised
        return diagnose(Where(), DoctorOptions(paste=(str(file),)))
    return None


def first(found: Diagnosis | None) -> str:
    """Give what is named first: a cause, else what an error line means, else what was warned of."""
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


@pytest.mark.parametrize("half", LEAST)
def test_what_is_named_first(half: str, tmp_path: Path) -> None:
    names = [name for name, post in POSTS.items() if post["half"] == half]
    found = {name: look(name, tmp_path) for name in names}
    for name, told in found.items():
        assert is_sound(told), name
    wrong = {
        name: (first(found[name]), POSTS[name]["cause"]) for name in names if not is_right(POSTS[name], found[name])
    }
    print(f"{half}: {len(names) - len(wrong)} of {len(names)} right; wrong: {wrong}")  # noqa: T201 - the score
    assert len(names) - len(wrong) >= LEAST[half], wrong


def test_the_collection_is_of_two_halves() -> None:
    halves = [post["half"] for post in POSTS.values()]
    assert len(POSTS) >= 30
    assert halves.count("held") >= halves.count("tuned") >= 17
    assert halves.count("aged") >= 50
    told = [post for post in POSTS.values() if post["half"] not in ("walked", "aged") or "url" in post]
    assert all(post["url"].startswith("https://github.com/") for post in told)
