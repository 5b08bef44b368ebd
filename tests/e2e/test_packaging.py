"""The program as people install it: from a wheel, away from any checkout, with all its data."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from e2e.support import CHECKOUT, by_name, caller, copy_checkout, xpusetup

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


README = (CHECKOUT / "README.md").read_text()
LINES = [line.strip().partition("  ")[0] for line in README.splitlines() if re.match(r" {4}(uv|pipx|python3) ", line)]


def test_readme_says_how_to_install() -> None:
    """README.md shows the three ways; the test below walks each of them."""
    assert [line.split()[0] for line in LINES] == ["uv", "pipx", "python3"]


@pytest.mark.parametrize("line", [LINES[0], *map(by_name, LINES[1:])], ids=[line.split()[0] for line in LINES])
def test_installed_as_readme_says(line: str, tmp_path: Path) -> None:
    """In a clone, by a person who has only that tool; the command says which commit it was made from."""
    clone, home = copy_checkout(tmp_path / "clone"), tmp_path / "home"
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.invalid")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run((*git, *words), cwd=clone, check=True, capture_output=True)
    tools = tmp_path / "tools"
    subprocess.run((sys.executable, "-m", "venv", str(tools)), check=True)
    if (tool := line.split(maxsplit=1)[0]) != "python3":
        subprocess.run((str(tools / "bin/python"), *PIP, "install", tool), check=True)
    env = caller(home)
    env["PATH"] = f"{tools}/bin:{env['PATH']}"
    done = subprocess.run(("bash", "-c", line), cwd=clone, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    program = home / ("xpu/bin/xpusetup" if tool == "python3" else ".local/bin/xpusetup")
    commit = subprocess.run(("git", "rev-parse", "HEAD"), cwd=clone, check=True, capture_output=True, text=True).stdout
    said = subprocess.run(
        (str(program), "--version"), check=True, cwd=tmp_path, capture_output=True, text=True, env=env
    )
    assert re.fullmatch(rf"xpusetup [\d.]+ \({commit[:12]}\)\n", said.stdout), said.stdout
    subprocess.run((str(program), "profiles", "check", "sim"), check=True, cwd=tmp_path, capture_output=True, env=env)


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
