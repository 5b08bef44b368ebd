"""doctor --paste: what is named first in made-up posts (data/posts.toml), and that sound machines are left in peace."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tomli

from data.pasting import look
from xpusetup.base.errors import UsageError

if TYPE_CHECKING:
    from xpusetup.commands.doctor import Diagnosis

POSTS: list[dict[str, Any]] = tomli.loads((Path(__file__).parent / "data/posts.toml").read_text())["post"]
AILING = [post for post in POSTS if "cause" in post]
SOUND = [post for post in POSTS if "cause" not in post]


def in_order(found: Diagnosis) -> list[tuple[str, str]]:
    """Return all that is named, in the order of the screen, each with its words."""
    assert found.pasted is not None
    errors = [(each.id, f"{each.cause} {each.fix}") for each in found.pasted.causes]
    by_id = {each.id: f"{each.seen} {each.why} {each.fix.say} {' '.join(each.fix.commands)}" for each in found.findings}
    causes = [(name, by_id[name]) for name in found.stops["run"]]
    warned = [(each.id, by_id[each.id]) for each in found.findings if each.level == "warn"]
    return [*errors, *causes, *warned] if found.pasted.surer else [*causes, *errors, *warned]


@pytest.mark.parametrize("post", AILING, ids=[each["name"] for each in AILING])
def test_the_cause_is_first(post: dict[str, Any], tmp_path: Path) -> None:
    name, words = in_order(look(post["text"], tmp_path))[0]
    assert name in post["cause"]
    assert post.get("tells", "") in words


@pytest.mark.parametrize("post", SOUND, ids=[each["name"] for each in SOUND])
def test_a_sound_machine_is_left_in_peace(post: dict[str, Any], tmp_path: Path) -> None:
    with suppress(UsageError):  # nothing in it is recognised
        found = look(post["text"], tmp_path)
        assert found.pasted is not None
        assert [name for name, _ in in_order(found)] == []
        assert found.pasted.symptoms == []
