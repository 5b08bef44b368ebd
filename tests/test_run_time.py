"""run: what became of Intel's run time, and whether a program with SYCL would still start."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.base.errors import NotReadyError
from xpusetup.machine.environments import LibraryConflict
from xpusetup.machine.parsers import EnvironmentLibraries
from xpusetup.run import run_time
from xpusetup.run.root import Root

if TYPE_CHECKING:
    from pathlib import Path

KEPT = {"torch": "2.14.1+xpu", "intel-sycl-rt": "2026.1.0", "intel-cmplr-lib-ur": "2026.1.0"}


def put(packages: Path, name: str, version: str, requires: str = "") -> None:
    info = packages / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}\n")


def make_root(folder: Path, now: dict[str, str]) -> tuple[Root, Path]:
    """Make a root whose environment was guarded with KEPT, and holds other versions now."""
    prefix = folder / "venv"
    packages = prefix / "lib/python3.12/site-packages"
    for name, version in {**KEPT, **now}.items():
        put(packages, name, version)
    put(packages, "intel-openmp", "2026.2.0", "Requires-Dist: intel-cmplr-lib-ur==2026.2.0\n")
    document = {"schema": 1, "packages": str(packages), "settings": "", "conflicts": []}
    document["distributions"] = [{"name": name, "version": version} for name, version in KEPT.items()]
    (folder / "results").mkdir()
    (folder / "results/guard.json").write_text(json.dumps(document))
    return Root(folder), prefix


def conflict(prefix: Path, **more: Any) -> LibraryConflict:
    words = {"library": f"{prefix}/lib/libsycl.so.9", "first": f"{prefix}/lib/libur_loader.so.0", "level": "fail"}
    return LibraryConflict(kind="symbol", names=["urKernelSetArgValue"], count=3, **{**words, **more})


def answer(monkeypatch: pytest.MonkeyPatch, *conflicts: LibraryConflict) -> list[object]:
    """Let the look at libraries say this, and give how often it was asked."""
    asked: list[object] = []

    def look(prefix: Path, *_rest: object) -> EnvironmentLibraries:
        asked.append(prefix)
        return EnvironmentLibraries(prefix=str(prefix), looked=1, conflicts=list(conflicts))

    monkeypatch.setattr(run_time, "look_at_libraries", look)
    return asked


OTHER = {"intel-cmplr-lib-ur": "2026.2.0"}


def test_a_run_time_that_no_longer_loads_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, prefix = make_root(tmp_path, OTHER)
    answer(monkeypatch, conflict(prefix))
    with pytest.raises(NotReadyError) as caught:
        run_time.hold_run_time(root, prefix)
    assert caught.value.message == (
        "intel-cmplr-lib-ur 2026.1.0 was replaced by 2026.2.0, by intel-openmp 2026.2.0: libsycl.so.9 needs"
        " urKernelSetArgValue and 2 more, which libur_loader.so.0 lacks, so that no program with SYCL starts here"
    )
    assert caught.value.fix == f"{prefix}/bin/python -m pip install --no-deps intel-cmplr-lib-ur==2026.1.0"


@pytest.mark.parametrize(
    "more", [{"first": "/opt/intel/lib/libur_loader.so.0"}, {"level": "warn"}, {"library": "/x/libother.so"}]
)
def test_what_still_loads_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, str]) -> None:
    root, prefix = make_root(tmp_path, OTHER)
    assert answer(monkeypatch, conflict(prefix, **more)) == []
    run_time.hold_run_time(root, prefix)


@pytest.mark.parametrize("now", [{}, {"torch": "2.9.0"}])
def test_where_the_run_time_is_as_it_was_nobody_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: dict[str, str]
) -> None:
    root, prefix = make_root(tmp_path, now)
    asked = answer(monkeypatch, conflict(prefix))
    run_time.hold_run_time(root, prefix)
    assert asked == []


def test_the_guard_keeps_what_is_pinned_in_turn() -> None:
    guard: Any = importlib.import_module("guard_environment")
    found: Any = importlib.import_module("helperlib.env.distributions").Found
    there = {
        name: found(name, "1", "pip", owned=True, source="", requires=requires)
        for name, requires in {
            "torch": ("intel-sycl-rt==2026.1.0", "numpy>=2"),
            "intel-sycl-rt": ("intel-cmplr-lib-ur (==2026.1.0)", "torch==2"),
            "intel-cmplr-lib-ur": ("umf==1.1.*",),
        }.items()
    }
    assert guard.pinned_by(there, ["torch"]) == {"intel-sycl-rt", "intel-cmplr-lib-ur", "umf", "torch"}
