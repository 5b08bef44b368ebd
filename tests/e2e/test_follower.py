"""Who knows nothing and runs only `next` gets in real roots to *verified*, or to what cannot be and why.

docs/tried.md says how many commands each took.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.roots import USER, DebianRoot
from follower import Journey, follow

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("follower")]
README = "apt-get -q update && apt-get -qy install python3-venv python3-dev git g++ make"
BARE, BUILD = "xpusetup", "xpusetup build sim"
SETUP = "xpusetup setup sim --for build"
MENDED = [BARE, BUILD, SETUP, f"{SETUP} --apply --yes"]
ROOT = "/root/.local/share/xpusetup/sim"


def go(root: DebianRoot) -> Journey:
    return follow(root.answer)


@pytest.fixture(scope="module")
def twelve(debian_roots: dict[str, DebianRoot], tmp_path_factory: pytest.TempPathFactory) -> DebianRoot:
    """Give a Debian 12 with what README asks for."""
    root = debian_roots["bookworm"].above(tmp_path_factory.mktemp("twelve"))
    root.do(README)
    return root


@pytest.fixture(scope="module")
def built(twelve: DebianRoot, tmp_path_factory: pytest.TempPathFactory) -> tuple[DebianRoot, Journey]:
    """Give that root with what the follower built there, and how he came to it."""
    root = twelve.above(tmp_path_factory.mktemp("built"))
    return root, go(root)


def test_debian_12(built: tuple[DebianRoot, Journey]) -> None:
    root, found = built
    assert found == Journey([BARE, BUILD], "verified", "")
    assert "2.13.0" in root.do(f"{ROOT}/venv/bin/python -c 'import torch; print(torch.__version__)'")


def test_a_stale_build(built: tuple[DebianRoot, Journey], tmp_path: Path) -> None:
    """Someone took torch out of its environment, and a wheel away."""
    root = built[0].above(tmp_path)
    root.do(f"rm {ROOT}/wheels/*.whl && {ROOT}/venv/bin/python -m pip uninstall -q -y torch")
    assert go(root) == Journey([BARE, BUILD], "verified", "")


def test_a_minimal_debian_12(debian_roots: dict[str, DebianRoot], tmp_path: Path) -> None:
    """Python alone: no compiler, no git, no venv; the follower is root."""
    assert go(debian_roots["bookworm"].above(tmp_path)) == Journey([*MENDED, BUILD], "verified", "")


def test_debian_12_for_someone_who_is_not_root(debian_roots: dict[str, DebianRoot], tmp_path: Path) -> None:
    """What is missing needs root, and there is no sudo."""
    found = go(debian_roots["bookworm"].above(tmp_path, user=USER))
    assert (found.commands, found.end) == (MENDED, "cannot")
    assert found.why.startswith("sudo is not there")


def test_debian_12_without_a_network(twelve: DebianRoot, tmp_path: Path) -> None:
    found = go(twelve.above(tmp_path, network=False))
    assert found.commands[:2] == [BARE, BUILD]
    assert found.end == "cannot"
    assert "cannot be reached" in found.why or "cannot be resolved" in found.why


def test_debian_13(debian_roots: dict[str, DebianRoot], tmp_path: Path) -> None:
    """Where pip finds a torch of this profile for Python 3.13 it is verified, else the index is named as the cause."""
    found = go(debian_roots["trixie"].above(tmp_path))
    assert found.commands[: len(MENDED) + 1] == [*MENDED, BUILD]
    assert found.end == "verified" or "index" in found.why
