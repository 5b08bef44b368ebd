"""An environment in a prefix is moved and made read-only: it works there, and its root says what is amiss."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.support import Tiny, make_tiny, xpusetup

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("into")]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return make_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the root, of the prefix, and of where that is moved to."""
    return tmp_path_factory.mktemp("movable")


@pytest.fixture(scope="module")
def moved(tiny: Tiny, place: Path) -> Iterator[Path]:
    """Build into a prefix, move that, and let nobody write to it."""
    prefix, there = place / "prefix", place / "elsewhere/torch"
    options = (*tiny.options(place / "root"), "--prefix", str(prefix), "--verify", "off", "--json")
    result = xpusetup("build", *options, env=tiny.env).result
    assert xpusetup("build", *options, env=tiny.env).result["ran"] == []
    assert xpusetup("status", *tiny.options(place / "root"), "--json", env=tiny.env).result["damaged"] == {}
    assert result["use"].startswith("xpusetup run ")
    there.parent.mkdir()
    prefix.rename(there)
    subprocess.run(("chmod", "-R", "a-w", str(there)), check=True)
    yield there
    subprocess.run(("chmod", "-R", "u+w", str(there)), check=True)


def say(script: str, *arguments: str, env: dict[str, str]) -> str:
    done = subprocess.run(
        ("bash", "-euc", script, "bash", *arguments), env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_works_where_it_is_now(tiny: Tiny, place: Path, moved: Path, tmp_path: Path) -> None:
    script = """
    cd /
    source "$1/bin/activate"
    echo "$VIRTUAL_ENV" "$(command -v python)"
    python -c 'import tiny; print(tiny.__file__)'
    pip --version; pip check; wheel version
    deactivate
    echo "${VIRTUAL_ENV-none}"
    ln -s "$1/bin/pip" "$2"; "$2" --version
    """
    where, imported, version, check, wheel, left, linked = say(
        script, str(moved), str(tmp_path / "pip"), env=tiny.env
    ).splitlines()
    assert where == f"{moved} {moved}/bin/python"
    assert imported.startswith(f"{moved}/lib/")
    assert f" from {moved}/lib/" in version
    assert check == "No broken requirements found."
    assert wheel.startswith("wheel 0.48.0")
    assert left == "none"
    assert linked == version
    assert str(place / "prefix") not in (moved / "bin/pip").read_text()


def test_its_root_says_that_it_is_gone(tiny: Tiny, place: Path, moved: Path) -> None:
    assert moved.exists()
    said = xpusetup("status", *tiny.options(place / "root"), env=tiny.env)
    assert said.code == 3
    assert f"the environment of {place}/root is no longer at {place}/prefix" in said.err
    assert f"xpusetup build {tiny.profile} --root {place}/root --prefix {place}/prefix" in said.err


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("dash", (".", "bin/activate")),
        ("zsh", ("source", "bin/activate")),
        ("fish", ("source", "bin/activate.fish")),
        ("tcsh", ("source", "bin/activate.csh")),
    ],
)
def test_other_shells(tiny: Tiny, moved: Path, shell: str, words: tuple[str, str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script = f"{words[0]} {moved}/{words[1]}; echo place $VIRTUAL_ENV"
    done = subprocess.run(
        (shell, "-c", script), env={**tiny.env, **_libraries()}, check=False, capture_output=True, text=True
    )
    if shell == "dash":  # it cannot know which file it reads: it says so, and sets nothing
        assert "is no longer at" in done.stderr
        assert "place /" not in done.stdout
    else:
        assert f"place {moved}" in done.stdout


def _libraries() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}


def test_a_package_can_still_be_taken_out(tiny: Tiny, moved: Path) -> None:
    """The last one: it changes what the others look at."""
    subprocess.run(("chmod", "-R", "u+w", str(moved)), check=True)
    say('"$1/bin/python" -m pip uninstall -y wheel; [ ! -e "$1/bin/wheel" ]', str(moved), env=tiny.env)
