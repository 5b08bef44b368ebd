"""The guard: a unit test can neither start a process nor reach the network, and sees nothing of the caller's place."""

from __future__ import annotations

import os
import socket
import subprocess
from typing import TYPE_CHECKING, NoReturn

import git  # noqa: F401 - it asks git for its version when it is imported: before the guard
import pytest
from hypothesis import settings

from xpusetup.base.errors import NotReadyError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

os.environ.pop("COLUMNS", None)  # the terminal of whoever runs the tests; a test that is about the width sets its own
LONG = int(os.environ.get("XPUSETUP_TEST_FUZZ", "0"))
settings.register_profile("here", max_examples=50, deadline=None, derandomize=not LONG, database=None)
settings.load_profile("here")

pytest_plugins = (
    "in_process",
    "standins.fixtures",
    "e2e.fixtures",
    "e2e.fetching",
    "e2e.images",
    "e2e.roots",
    "e2e.sycl_chain",
)


LONGEST = ("demo", "eras-2.14", "vision")
"""Groups of tests that take longest: they begin first, so that nothing has to wait for them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest groups first."""

    def place(item: pytest.Item) -> int:
        group = item.get_closest_marker("xdist_group")
        name = group.args[0] if group else ""
        return LONGEST.index(name) if name in LONGEST else len(LONGEST)

    items.sort(key=place)


def _refuse(*_args: object, **_kwargs: object) -> NoReturn:
    pytest.fail("a unit test may not start processes or reach the network; mark it e2e if that is its subject")


@pytest.fixture(autouse=True)
def guard(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse processes and sockets to every test that is not marked e2e."""
    if request.node.get_closest_marker("e2e"):
        return
    monkeypatch.setattr(subprocess, "Popen", _refuse)
    monkeypatch.setattr(socket, "socket", _refuse)
    for name in ("system", "execvpe", "posix_spawn", "fork"):
        monkeypatch.setattr(os, name, _refuse)


@pytest.fixture(scope="session", autouse=True)
def removed_beside(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let a process for which nobody waits remove the gigabytes of a worker without failures: a disk takes minutes."""
    yield
    made = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ and not request.session.testsfailed:
        gone = made.parent.parent / f"garbage-{made.parent.name}-{made.name}"  # a name that pytest removes as well
        made.rename(gone)
        subprocess.run(("sh", "-c", 'setsid rm -rf "$0" </dev/null >/dev/null 2>&1 &', str(gone)), check=True)


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every server of git away: a release is planned with its own pins, a branch cannot be."""

    def away(*_asked: object) -> NoReturn:
        raise NotReadyError("git cannot read it", fix="look at the network")

    monkeypatch.setattr("xpusetup.commands.profiles.list_refs", away)


@pytest.fixture(autouse=True)
def own_place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings and roots of whoever runs the tests out of them."""
    tmp_path: Path = request.getfixturevalue("tmp_path")
    for name in [name for name in os.environ if name.startswith(("XPUSETUP_", "SIMXPU_"))]:
        if not name.startswith("XPUSETUP_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    shared = request.getfixturevalue("tmp_path_factory").getbasetemp() / "kept"
    monkeypatch.setattr("xpusetup.system.kept.cache_folder", lambda name: shared / name)
    for name in ("SETVARS_COMPLETED", "ONEAPI_ROOT", "CMPLR_ROOT", "MAX_JOBS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
