"""The parts of `make e2e-onednn` that need no compiler: what of a plan it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from real import onednn_build
from real.onednn_build import RELEASES

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_is_done_unless_files_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["onednn_build", "/nowhere"])
    for release in RELEASES:
        monkeypatch.delenv(release.variable, raising=False)
    with pytest.raises(SystemExit, match="TORCH_FINDMKLDNN_2_7=FILE"):
        onednn_build.main()


def test_the_addresses_of_a_fetch_lead_to_a_clone(tmp_path: Path) -> None:
    found = onednn_build.step_settings(("python", "fetch_source.py", "--repo", "https://a.invalid/x"), tmp_path)
    pairs = {found[f"GIT_CONFIG_KEY_{number}"]: found[f"GIT_CONFIG_VALUE_{number}"] for number in range(3)}
    assert pairs[f"url.{tmp_path}.insteadOf"] == "https://a.invalid/x"
    assert found["GIT_CONFIG_COUNT"] == "3"
