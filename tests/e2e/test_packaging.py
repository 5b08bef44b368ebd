"""The program as people install it: from a wheel, away from any checkout, with all its data."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from e2e.support import CHECKOUT, by_name, caller, copy_checkout, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("packaging")]
PIP = ("-m", "pip", "--disable-pip-version-check", "-q")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a clone."""
    folder = tmp_path_factory.mktemp("wheel")
    clone = copy_checkout(folder / "clone")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        _git(clone, *words)
    make = (sys.executable, *PIP, "wheel", "--no-deps", "-w", str(folder), str(clone))
    subprocess.run(make, check=True, env=caller(folder / "home"))
    return next(folder.glob("xpusetup-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Install the wheel into a clean environment, and give the program's path there."""
    folder = tmp_path_factory.mktemp("installed")
    env = caller(folder / "home")
    return install_wheel(sys.executable, wheel, folder, env), env


def install_wheel(python: str, wheel: Path, folder: Path, env: dict[str, str]) -> Path:
    """Install a wheel into a new environment of this Python; give the program's path there."""
    subprocess.run((python, "-m", "venv", str(folder / "venv")), check=True, env=env)
    subprocess.run((str(folder / "venv/bin/python"), *PIP, "install", str(wheel)), check=True, env=env)
    return folder / "venv/bin/xpusetup"


def answers(program: Path, env: dict[str, str], folder: Path) -> str:
    """Let the program use its data, away from any checkout; give its version."""
    for words in (("profiles", "list"), ("profiles", "check", "sim"), ("doctor", "--list")):
        subprocess.run((str(program), *words), check=True, env=env, cwd=folder, capture_output=True)
    return _bash(f"{program} --version", env, folder)


PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


@pytest.mark.long
@pytest.mark.parametrize("version", PYTHONS)
def test_each_python_takes_the_wheel(version: str, wheel: Path, tmp_path: Path) -> None:
    """Each that is on PATH; of one that is not nothing is said."""
    python, code = f"python{version}", "import ensurepip, sys; print(sys.executable)"
    env = caller(tmp_path / "home")
    try:
        found = subprocess.run((python, "-c", code), check=True, capture_output=True, text=True, env=env).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"{python} is not here: not tried")
    assert answers(install_wheel(found, wheel, tmp_path, env), env, tmp_path).startswith("xpusetup ")


@pytest.mark.long
@pytest.mark.parametrize(("tool", "line"), [("uv", "uv tool install"), ("pipx", "pipx install")])
def test_each_tool_takes_the_wheel(tool: str, line: str, wheel: Path, tmp_path: Path) -> None:
    """By who has only that tool; pip does in every test of this file that asks for `installed`."""
    env = caller(tmp_path / "home")
    subprocess.run((sys.executable, "-m", "venv", str(tmp_path / "tools")), check=True)
    subprocess.run((str(tmp_path / "tools/bin/python"), *PIP, "install", tool), check=True)
    env["PATH"] = f"{tmp_path}/tools/bin:{env['PATH']}"
    _bash(f"{line} {wheel}", env, tmp_path)
    said = answers(tmp_path / "home/.local/bin/xpusetup", env, tmp_path)
    assert re.fullmatch(r"xpusetup [\d.]+ \(\w{12}\)\n", said)


@pytest.mark.long
def test_the_sdist_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """The source archive is complete: what it makes has the same files with the same bytes, the commit too."""
    env = caller(tmp_path / "home")
    python = str(tmp_path / "venv/bin/python")
    subprocess.run((sys.executable, "-m", "venv", str(tmp_path / "venv")), check=True)
    subprocess.run((python, *PIP, "install", "hatchling"), check=True, env=env)
    make = (python, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path))
    subprocess.run(make, check=True, env=env, cwd=wheel.parent / "clone")
    (sdist,) = tmp_path.glob("xpusetup-*.tar.gz")
    again = (python, *PIP, "wheel", "--no-deps", "-w", str(tmp_path), str(sdist))
    subprocess.run(again, check=True, env=env)
    assert _members(tmp_path / wheel.name) == _members(wheel)


def _members(wheel: Path) -> dict[str, int]:
    """Give the checksums of its files, but for the list of them, whose order is that of packing."""
    with ZipFile(wheel) as archive:
        return {each.filename: each.CRC for each in archive.infolist() if not each.filename.endswith("/RECORD")}


PAGES = "\n".join((CHECKOUT / page).read_text() for page in ("README.md", "docs/install.md"))
WAY = re.compile(r"^ {4}(?:uv|pipx|python3) .*\n(?: {4}(?:mkdir|ln|~/).*\n)*", re.MULTILINE)
LINES = [re.sub(r"^ {4}", "", found[0], flags=re.MULTILINE) for found in WAY.finditer(PAGES)]


def test_the_pages_say_how_to_install() -> None:
    """README.md shows one way, docs/install.md two others; the test below walks each of them."""
    assert [line.split()[0] for line in LINES] == ["pipx", "uv", "python3"]


@pytest.mark.parametrize("line", [*map(by_name, LINES)], ids=[line.split()[0] for line in LINES])
def test_installed_as_the_pages_say(line: str, tmp_path: Path) -> None:
    """In a clone, by a person who has only that tool; the command says which commit it was made from.

    What `self` names brings a newer one, and takes the program away.
    """
    upstream, clone, home = copy_checkout(tmp_path / "upstream"), tmp_path / "clone", tmp_path / "home"
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one"), ("clone", "-q", str(upstream), str(clone))):
        _git(upstream, *words)
    tools = tmp_path / "tools"
    subprocess.run((sys.executable, "-m", "venv", str(tools)), check=True)
    if (tool := line.split(maxsplit=1)[0]) != "python3":
        subprocess.run((str(tools / "bin/python"), *PIP, "install", tool), check=True)
    env = caller(home)
    env["PATH"] = f"{tools}/bin:{env['PATH']}"
    _bash(line, env, clone)
    program = home / ".local/bin/xpusetup"
    env["PATH"] = f"{program.parent}:{env['PATH']}"
    assert _commit_of(program, env, tmp_path) == _git(upstream, "rev-parse", "--short=12", "HEAD")
    subprocess.run((str(program), "profiles", "check", "sim"), check=True, cwd=tmp_path, capture_output=True, env=env)
    told = json.loads(_bash(f"{program} self --json", env, tmp_path))["result"]
    assert (told["installer"], told["origin"]) == ({"uv": "uv tool", "python3": "pip"}.get(tool, tool), str(clone))
    _git(upstream, "commit", "-q", "--allow-empty", "-m", "two")
    _bash(told["upgrade"], env, tmp_path)
    assert _commit_of(program, env, tmp_path) == _git(upstream, "rev-parse", "--short=12", "HEAD")
    _bash(told["uninstall"], env, tmp_path)
    assert not program.exists()


def _git(folder: Path, *words: str) -> str:
    line = ("git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", *words)
    return subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def _bash(line: str, env: dict[str, str], folder: Path) -> str:
    """Run a line as a person does who answers yes; give what it printed."""
    words = ("bash", "-c", line)
    done = subprocess.run(words, cwd=folder, env=env, check=False, capture_output=True, text=True, input="y\n")
    assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    return done.stdout


def _commit_of(program: Path, env: dict[str, str], folder: Path) -> str:
    said = re.fullmatch(r"xpusetup [\d.]+ \((\w{12})\)\n", _bash(f"{program} --version", env, folder))
    assert said is not None
    return said[1]


def test_profiles_and_helpers_come_along(installed: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    program, env = installed
    answers(program, env, tmp_path)
    emitted = ("emit", "shell", "--profile", "sim", "-o", str(tmp_path / "out"))
    subprocess.run((str(program), *emitted), check=True, env=env, cwd=tmp_path, capture_output=True)
    ours = xpusetup("emit", "shell", "--profile", "sim", "-o", str(tmp_path / "ours"), env=env)
    assert ours.code == 0
    assert _texts(tmp_path / "out") == _texts(tmp_path / "ours")


def _texts(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
