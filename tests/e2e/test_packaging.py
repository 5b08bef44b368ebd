"""The program as people install it: from a wheel, away from any checkout, with all its data."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from e2e.support import caller, copy_checkout, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("packaging")]
PIP = ("-m", "pip", "--disable-pip-version-check", "-q")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Build the wheel, install it into a clean environment, and give the program's path there."""
    folder = tmp_path_factory.mktemp("wheel")
    clone, env = copy_checkout(folder / "clone"), caller(folder / "home")
    subprocess.run((sys.executable, *PIP, "wheel", "--no-deps", "-w", str(folder), str(clone)), check=True, env=env)
    python = folder / "venv/bin/python"
    subprocess.run((sys.executable, "-m", "venv", str(folder / "venv")), check=True, env=env)
    wheel = next(folder.glob("xpusetup-*.whl"))
    subprocess.run((str(python), *PIP, "install", str(wheel)), check=True, env=env)
    return folder / "venv/bin/xpusetup", env


def test_profiles_and_helpers_come_along(installed: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    program, env = installed
    for words in (("profiles", "list"), ("profiles", "check", "sim"), ("doctor", "--list")):
        subprocess.run((str(program), *words), check=True, env=env, cwd=tmp_path, capture_output=True)
    emitted = ("emit", "shell", "--profile", "sim", "-o", str(tmp_path / "out"))
    subprocess.run((str(program), *emitted), check=True, env=env, cwd=tmp_path, capture_output=True)
    ours = xpusetup("emit", "shell", "--profile", "sim", "-o", str(tmp_path / "ours"), env=env)
    assert ours.code == 0
    assert _texts(tmp_path / "out") == _texts(tmp_path / "ours")


def _texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
