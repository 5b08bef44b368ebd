"""doctor --paste: containers, services, parts not made for each other, and machines that are well."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tomli

from data.diagnosis import diagnose
from xpusetup.base.errors import UsageError
from xpusetup.commands.doctor import DoctorOptions
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from xpusetup.commands.doctor import Diagnosis

DATA = Path(__file__).parent / "data"
POSTS = [post for name in ("boxes", "served") for post in tomli.loads((DATA / f"{name}.toml").read_text())["post"]]
AILING = [post for post in POSTS if "cause" in post]
SOUND = [post for post in POSTS if "cause" not in post]


def look(post: dict[str, Any], tmp_path: Path) -> Diagnosis | None:
    """Give what is said of a post; None where nothing in it is recognised."""
    file = tmp_path / "post.txt"
    file.write_text(post["text"])
    with suppress(UsageError):
        return diagnose(Where(), DoctorOptions(paste=(str(file),)))
    return None


def in_order(found: Diagnosis | None) -> list[tuple[str, str]]:
    """Give all that is named, in the order of the screen, each with its words."""
    if found is None or found.pasted is None:
        return []
    errors = [(each.id, f"{each.cause} {each.fix}") for each in found.pasted.causes]
    by_id = {each.id: f"{each.seen} {each.why} {each.fix.say} {' '.join(each.fix.commands)}" for each in found.findings}
    causes = [(name, by_id[name]) for name in found.stops["run"]]
    warned = [(each.id, by_id[each.id]) for each in found.findings if each.level == "warn"]
    return [*errors, *causes, *warned] if found.pasted.surer else [*causes, *errors, *warned]


@pytest.mark.parametrize("post", AILING, ids=[each["name"] for each in AILING])
def test_the_cause_is_first(post: dict[str, Any], tmp_path: Path) -> None:
    name, words = in_order(look(post, tmp_path))[0]
    assert name in post["cause"]
    assert post["tells"] in words


@pytest.mark.parametrize("post", SOUND, ids=[each["name"] for each in SOUND])
def test_what_is_well_is_left_in_peace(post: dict[str, Any], tmp_path: Path) -> None:
    found = look(post, tmp_path)
    assert [name for name, _ in in_order(found)] == []
    assert found is None or (found.pasted is not None and found.pasted.symptoms == [])
