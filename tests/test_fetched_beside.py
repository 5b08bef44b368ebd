"""A second root takes the wheels that the first one fetched, as the same files; and nothing else that lies there."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

from standins.wheels import pack_wheel

if TYPE_CHECKING:
    from pathlib import Path

PIN = "tiny-wheel==1.0+cpu"


@pytest.fixture
def fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give what fetches the wheel into a root by its name; an index is asked through `asked` alone."""
    helper: Any = importlib.import_module("fetch_wheel")
    asked: list[Path] = []

    def download(_pin: Any, _index: str, folder: Path, _record: Path) -> None:
        asked.append(folder)
        pack_wheel(folder, "tiny-wheel", "1.0+cpu", {"tiny.py": b"1"})

    def call(root: str, hashes: str = "") -> Path:
        place = tmp_path / root
        place.mkdir(exist_ok=True)
        (place / "pins.txt").write_text(f"{PIN}{hashes}\n")
        words = ["--distribution", "tiny-wheel", "--version", "1.0+cpu", "--requirements", str(place / "pins.txt")]
        words += ["--record", str(place / "origins"), "--into", str(place / "wheels")]
        monkeypatch.setattr("sys.argv", ["fetch_wheel.py", *words])
        helper.main()
        return next((place / "wheels").glob("*.whl"))

    monkeypatch.setattr(helper, "download", download)
    call.asked = asked  # type: ignore[attr-defined]
    return call


def test_the_second_root_fetches_nothing(fetch: Any) -> None:
    first, second = fetch("one"), fetch("two")
    assert len(fetch.asked) == 1
    assert first.samefile(second)
    records = [each.parent.parent / "origins" for each in (first, second)]
    assert [path.read_text() for path in records[0].rglob("tiny*")] == [
        path.read_text() for path in records[1].rglob("tiny*")
    ]


def test_what_was_built_is_not_taken_for_what_was_fetched(fetch: Any, tmp_path: Path) -> None:
    pack_wheel(tmp_path / "built/wheels", "tiny-wheel", "1.0+cpu", {"tiny.py": b"built"})
    fetch("two")
    assert len(fetch.asked) == 1


def test_what_was_changed_since_is_not_taken(fetch: Any) -> None:
    fetch("one").write_bytes(b"changed")
    fetch("two")
    assert len(fetch.asked) == 2


def test_only_the_file_that_is_held_to_is_taken(fetch: Any) -> None:
    fetch("one")
    fetch("two", f" --hash=sha256:{'a' * 64}")  # the stand-in of an index does not look at hashes
    assert len(fetch.asked) == 2
