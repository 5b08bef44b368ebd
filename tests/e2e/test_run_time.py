"""Run-time wheels of different days, as they are published: what the guard refuses, and what `run` refuses after it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.environments import Place, Shop
from e2e.support import CHECKOUT, caller
from xpusetup.base.errors import NotReadyError
from xpusetup.run.root import Root
from xpusetup.run.run_time import hold_run_time

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("doctor")]
OLD = ("intel-sycl-rt==2026.1.0", "intel-cmplr-lib-ur==2026.1.0", "umf==1.1.0")
NEW = ("intel-openmp==2026.2.0", "intel-cmplr-lib-ur==2026.2.0")


def test_what_replaces_the_loader_is_refused_or_told(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path / "shop", *OLD, *NEW)
    place = shop.install(Place.make(tmp_path / "venv"), *OLD)
    root, guard = tmp_path / "root", CHECKOUT / "xpusetup/helpers/guard_environment.py"
    words = ("--pin", "intel-sycl-rt", "--constraints", tmp_path / "kept.txt", "--out", root / "results/guard.json")
    (root / "results").mkdir(parents=True)
    subprocess.run((place.python, guard, *words), check=True, env=caller(tmp_path / "home"))
    assert {"umf==1.1.0", "intel-cmplr-lib-ur==2026.1.0"} <= {*(tmp_path / "kept.txt").read_text().splitlines()}
    hold_run_time(Root(root), place.prefix)
    with pytest.raises(AssertionError, match="ResolutionImpossible"):
        shop.install(place, *NEW)
    (place.prefix / "pip.conf").unlink()  # as uv, which reads none
    shop.install(place, *NEW)
    told = r"replaced by 2026\.2\.0, by intel-openmp 2026\.2\.0: libsycl\.so\.9 needs ur"
    with pytest.raises(NotReadyError, match=told):
        hold_run_time(Root(root), place.prefix)
    shop.install(place, OLD[1])
    hold_run_time(Root(root), place.prefix)
