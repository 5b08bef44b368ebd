"""Builds into environments that others made: a venv, one without pip, a conda prefix; and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.support import Said, Tiny, by_name, make_tiny, make_venv, xpusetup

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("into")]
BASE = Path(sys.base_prefix)
MINOR = f"python{sys.version_info[0]}.{sys.version_info[1]}"
IMPORTED = "import sys, tiny; print(sys.prefix, tiny.__file__)"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return make_tiny(tmp_path_factory.mktemp("tiny"))


def without_pip(prefix: Path) -> Path:
    """Make what `uv venv` makes: no pip in it."""
    subprocess.run((str(BASE / "bin" / MINOR), "-m", "venv", "--without-pip", str(prefix)), check=True)
    return prefix


def make_conda(prefix: Path) -> Path:
    """Make what `conda create -p` makes: an interpreter that is its own prefix, conda-meta, no bin/activate."""
    library = prefix / "lib" / MINOR
    library.mkdir(parents=True)
    for path in (BASE / "lib" / MINOR).iterdir():
        if path.name not in ("site-packages", "EXTERNALLY-MANAGED"):
            (library / path.name).symlink_to(path)
    (library / "site-packages").mkdir()
    for path in (BASE / "lib").glob("libpython*"):
        (prefix / "lib" / path.name).symlink_to(path)
    (prefix / "include").symlink_to(BASE / "include")
    (prefix / "bin").mkdir()
    shutil.copy2((BASE / "bin" / MINOR).resolve(), prefix / "bin" / MINOR)
    (prefix / "bin/python").symlink_to(MINOR)
    (prefix / "conda-meta").mkdir()
    (prefix / "conda-meta/history").write_text("==> 2026-11-21 08:00:00 <==\n")
    return prefix


needs_plain_python = pytest.mark.skipif(
    "posix_local" in sysconfig.get_scheme_names(),
    reason="Debian's own interpreter installs elsewhere outside of a venv: no other kind of prefix can be made of it",
)


def build(tiny: Tiny, root: Path, into: Path, *more: str) -> Said:
    return xpusetup("build", *tiny.options(root), "--verify", "off", "--into", str(into), *more, env=tiny.env)


@pytest.mark.parametrize(
    "make",
    [make_venv, by_name(without_pip), pytest.param(make_conda, marks=[needs_plain_python, pytest.mark.long])],
    ids=["venv", "no-pip", "conda"],
)
def test_build_into(tiny: Tiny, tmp_path: Path, make: Callable[[Path], Path]) -> None:
    prefix, root = make(tmp_path / "env"), tmp_path / "root"
    own = prefix / "share/mine"
    own.parent.mkdir(exist_ok=True)
    own.write_text("kept")
    said = build(tiny, root, prefix)
    assert said.code == 0, said.out + said.err
    assert f"into {prefix}: nothing there is replaced by another version" in said.out + said.err
    assert "use it:         xpusetup run " in said.out
    assert not (root / "venv").exists()
    assert own.read_text() == "kept"
    seen = json.loads((root / "results/environment.json").read_text())
    assert (seen["prefix"], seen["kind"]) == (str(prefix), "conda" if make is make_conda else "venv")
    found = xpusetup("run", *tiny.options(root), "--", "python", "-c", IMPORTED, env=tiny.env)
    assert found.out.startswith(f"{prefix} {prefix}/lib/{MINOR}/site-packages/")
    again = build(tiny, root, prefix, "--json").result
    assert again["ran"] == []
    if make is make_conda:
        change = xpusetup("env", *tiny.options(root), "--json", env=tiny.env).result["set"]
        assert change["CONDA_PREFIX"] == str(prefix)
        assert "VIRTUAL_ENV" not in change


@pytest.mark.long
def test_what_is_there_is_counted_and_kept(tiny: Tiny, tmp_path: Path) -> None:
    """Say which versions change; later steps do not notice what else is installed, and nothing is built again."""
    prefix, root = make_venv(tmp_path / "env"), tmp_path / "root"
    pip = (str(prefix / "bin/python"), "-m", "pip", "--disable-pip-version-check", "-q", "install")
    subprocess.run((*pip, "packaging==24.0", "iniconfig==2.0.0"), check=True, env=tiny.env)
    said = build(tiny, root, prefix)
    assert "packaging 24.0 -> 26.3" in said.out + said.err
    assert "changes packaging 24.0 -> 26.3\n" in (root / "logs/venv.log").read_text()
    subprocess.run((*pip, "iniconfig==2.1.0"), check=True, env=tiny.env)
    assert build(tiny, root, prefix, "--json").result["ran"] == []
    assert xpusetup("plan", *tiny.options(root), "--json", env=tiny.env).result["steps"][0]["state"] == "stale"


@pytest.mark.long
def test_another_environment_is_another_build(tiny: Tiny, tmp_path: Path) -> None:
    root, first, second = tmp_path / "root", make_venv(tmp_path / "one"), make_venv(tmp_path / "two")
    assert build(tiny, root, first).code == 0
    assert "venv" in build(tiny, root, second, "--json").result["ran"]
    said = xpusetup("status", *tiny.options(root), "--into", str(first), env=tiny.env)
    assert said.code == 2
    assert f"{root} was built into {second}, not into {first}" in said.err


@pytest.mark.long
def test_an_environment_that_is_gone(tiny: Tiny, tmp_path: Path) -> None:
    root, prefix = tmp_path / "root", make_venv(tmp_path / "env")
    assert build(tiny, root, prefix).code == 0
    prefix.rename(tmp_path / "moved")
    said = xpusetup("status", *tiny.options(root), env=tiny.env)
    assert said.code == 3
    assert f"is no longer at {prefix}" in said.err
    assert f"--into {prefix}" in said.err


def linked(prefix: Path) -> Path:
    """Make a folder whose bin/python is a link to the interpreter of another prefix."""
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python").symlink_to(BASE / "bin" / MINOR)
    return prefix


def managed(prefix: Path) -> Path:
    """Make an interpreter that belongs to a package manager."""
    shutil.rmtree(make_conda(prefix) / "conda-meta")
    (prefix / "lib" / MINOR / "EXTERNALLY-MANAGED").write_text("[externally-managed]\n")
    return prefix


def frozen(prefix: Path) -> Path:
    (make_conda(prefix) / "conda-meta/frozen").touch()
    return prefix


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (linked, "its bin/python is that of "),
        pytest.param(managed, "it is the system's own Python", marks=needs_plain_python),
        pytest.param(frozen, "it is a conda environment that was frozen", marks=needs_plain_python),
    ],
)
def test_refused_before_anything_is_written(
    tiny: Tiny, tmp_path: Path, make: Callable[[Path], Path], reason: str
) -> None:
    prefix, root = make(tmp_path / "env"), tmp_path / "root"
    said = build(tiny, root, prefix)
    assert said.code == 3
    assert reason in said.err
    assert "DIR" in said.err
    assert not root.exists()


@pytest.mark.long
def test_the_step_itself_refuses_too(tiny: Tiny, tmp_path: Path) -> None:
    """A folder of scripts may meet another environment than the one that it was planned for."""
    prefix, out = make_venv(tmp_path / "env"), tmp_path / "out"
    words = ("emit", "shell", "--profile", str(tiny.profile), "--verify", "off", "--into", str(prefix), "-o", str(out))
    assert xpusetup(*words, env=tiny.env).code == 0
    done = subprocess.run(("bash", str(out / "build.sh")), env=tiny.env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(prefix)
    linked(prefix)
    step = ("bash", str(out / "steps/venv.sh"))
    done = subprocess.run(step, env={**tiny.env, "XPUSETUP_FORCE": "1"}, check=False, capture_output=True, text=True)
    assert done.returncode == 3
    assert "xpusetup: " in done.stderr
