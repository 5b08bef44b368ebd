"""What is kept of pip's report is the same for the same wheels, whichever pip and whichever place they came from."""

from __future__ import annotations

import hashlib
import importlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

keep_report: Any = importlib.import_module("keep_report")
TOLD = hashlib.sha256(b"wheel").hexdigest()


@pytest.mark.parametrize("archive", [{"archive_info": {}}, {}, {"archive_info": {"hashes": {"sha256": TOLD}}}])
def test_a_file_on_this_disk_has_its_hash(archive: dict[str, Any], tmp_path: Path) -> None:
    """Debian 12 has pip 23.0, which told none, and a build from a bundle had other keys than one with the network."""
    wheel = tmp_path / "a b.whl"
    wheel.write_bytes(b"wheel")
    assert keep_report.hash_of({"url": wheel.as_uri(), **archive}) == TOLD


def test_what_is_elsewhere_has_the_hash_that_was_told() -> None:
    assert keep_report.hash_of({"url": "https://x.invalid/a.whl", "archive_info": {"hashes": {"sha256": "12"}}}) == "12"
    assert keep_report.hash_of({"url": "https://x.invalid/a.whl"}) == ""
