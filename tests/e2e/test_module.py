"""Lmod for real: versions side by side, a venv on top, a conflict, and the folder moved and made read-only."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.support import PROFILE, make_tiny, xpusetup

if TYPE_CHECKING:
    from e2e.support import Tiny

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("module")]

LMOD = Path("/usr/share/lmod/lmod/init/bash")
ASK = "python -c \"import importlib.metadata as m, tiny; print(m.version('tiny'), tiny.__file__)\""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    if not LMOD.exists():
        pytest.skip("needs lmod from Debian")
    return make_tiny(tmp_path_factory.mktemp("module"))


@pytest.fixture(scope="module")
def folder(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give modules of two versions, both built."""
    out = tmp_path_factory.mktemp("built") / "sw"
    text = PROFILE.format(rev=tiny.rev)
    words = []
    for version in ("1.0", "2.0"):
        path = tiny.profile.parent / f"tiny-{version}.toml"
        path.write_text(text.replace('ion = "1.0"', f'ion = "{version}"').replace('N = "1.0"', f'N = "{version}"'))
        words += ["--profile", str(path)]
    emitted = xpusetup("emit", "module", *words, "--verify", "off", "-o", str(out), env=tiny.env)
    assert emitted.code == 0, emitted.err
    first, second = (out / f"software/tiny-{version}" for version in ("1.0", "2.0"))
    must_refuse(first, tiny)
    (git := tmp_path_factory.mktemp("bin") / "git").symlink_to("/bin/false")
    cut_off = {**tiny.env, "PATH": f"{git.parent}:{tiny.env['PATH']}"}
    for left in ("venv/bin/python", "venv/xpusetup-constraints.txt"):  # of a first build, and of one after it
        assert build(first, cut_off).returncode == 1
        assert (first / left).exists()
        must_refuse(first, tiny)
        assert (done := build(first, tiny.env)).returncode == 0, done.stderr
        (first / "stamps/tiny.fetch").unlink()
    assert build(first, tiny.env).returncode == 0
    (first / "stamps/tiny.fetch").unlink()
    git.unlink()
    git.write_text("#!/bin/bash\nread -r _ _ _ _ group _ </proc/self/stat\nkill -KILL -- -$group\n")
    git.chmod(0o755)
    assert build(first, cut_off).returncode == -signal.SIGKILL  # as at the end of a job's time
    assert not (first / "failed").exists()
    must_refuse(first, tiny)
    for root in (first, second):
        assert (done := build(root, tiny.env)).returncode == 0, done.stderr
    return out


def build(root: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ("bash", str(root / "build.sh")), env=env, check=False, capture_output=True, text=True, start_new_session=True
    )


def must_refuse(root: Path, tiny: Tiny) -> None:
    """Load the module of a build that did not come to its end: it says what builds it, and leaves PATH alone."""
    said = shell(root.parents[1], "module load tiny/1.0 || echo refused", "echo $PATH", env=tiny.env)
    assert f"tiny/1.0 is not built yet: bash {root}/build.sh" in " ".join(said.split())
    assert "refused" in said
    assert f"{root}/venv" not in said


def shell(folder: Path, *lines: str, env: dict[str, str]) -> str:
    """Run lines in a shell that has Lmod and these modules; give all it printed."""
    text = "\n".join([f". {LMOD}", f"module use {folder}/modulefiles", *lines])
    done = subprocess.run(("bash", "-c", text), env=env, check=False, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.long
def test_versions_side_by_side(tiny: Tiny, folder: Path) -> None:
    said = shell(folder, "module load tiny/1.0", ASK, "module load tiny/2.0", ASK, "module -t list 2>&1", env=tiny.env)
    assert f"1.0 {folder}/software/tiny-1.0/venv/" in said
    assert f"2.0 {folder}/software/tiny-2.0/venv/" in said
    assert said.rstrip().endswith("tiny/2.0")
    assert "\ntiny/1.0" not in said
    left = shell(folder, "module load tiny/1.0", "module unload tiny", "env", env=tiny.env)
    assert str(folder / "software") not in left


def test_venv_on_top(tiny: Tiny, folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    made = ("module load tiny/1.0", f"python -m venv {mine} && . {mine}/bin/activate", ASK)
    assert f"1.0 {folder}/software/tiny-1.0/venv/" in shell(folder, *made, env=tiny.env)
    packages = next(mine.glob("lib/python3*/site-packages"))
    (packages / "wheel.py").write_text('VERSION = "my own"\n')
    lines = (
        "module load tiny/1.0",
        f". {mine}/bin/activate",
        "python -c 'import wheel; print(wheel.VERSION)'",
        "pip --disable-pip-version-check install --no-index tiny && pip install --no-index tiny==3.0",
        "pip list --format=freeze",
    )
    said = shell(folder, *lines, env=tiny.env)
    assert "my own" in said
    assert "Requirement already satisfied: tiny" in said
    assert "tiny==1.0" in said.splitlines()
    assert "3.0" in said
    assert "conflict" in said, said  # the constraint holds in a venv of one's own too
    alone = subprocess.run((mine / "bin/python", "-c", "import tiny"), env=tiny.env, check=False, capture_output=True)
    assert alone.returncode != 0, "without the module nothing of it is seen"


def test_conflict(tiny: Tiny, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda/12.lua").write_text('setenv("CUDA_HOME", "/nowhere")\n')
    said = shell(folder, f"module use {tmp_path}", "module load cuda", "module load tiny/1.0", ASK, env=tiny.env)
    assert "cuda" in said
    assert str(folder / "software") not in said


def test_moved_and_read_only(tiny: Tiny, folder: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere/sw"
    shutil.copytree(folder, moved, symlinks=True)
    shutil.move(folder, hidden := tmp_path / "hidden")
    root = moved / "software/tiny-1.0"
    try:
        subprocess.run(("chmod", "-R", "a-w", str(moved)), check=True)
        said = shell(moved, "module load tiny", ASK, env=tiny.env)
        assert f"2.0 {moved}/software/tiny-2.0/venv/" in said
        venv = tmp_path / "mine"
        lines = ("module load tiny/1.0", f"python -m venv --without-pip {venv} && . {venv}/bin/activate", ASK)
        assert f"1.0 {moved}/software/tiny-1.0/venv/" in shell(moved, *lines, env=tiny.env)
        for more in ((), ("--check",)):
            seen = xpusetup("status", "--root", str(root), *more, "--json", env=tiny.env)
            assert (seen.code, seen.result["damaged"], seen.result["replaced"]) == (0, {}, [])
            assert [wheel["path"] for wheel in seen.result["wheels"]] == [str(next(root.glob("wheels/*.whl")))]
    finally:
        subprocess.run(("chmod", "-R", "u+w", str(moved)), check=True)
        library = next(root.glob("venv/lib/python3*/site-packages/tiny*.so"))
        library.write_bytes(library.read_bytes() + b"more")
        seen = xpusetup("status", "--root", str(root), "--check", "--json", env=tiny.env)
        assert seen.code == 1
        assert f"{library} was changed" in seen.document["result"]["damaged"]["tiny.install"]
        shutil.move(hidden, folder)
