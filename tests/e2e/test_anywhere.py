"""An emitted folder wherever it was copied, whoever calls it: it builds, or says at once why it cannot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.support import make_tiny, unpack, xpusetup
from xpusetup.base.errors import UsageError
from xpusetup.system.files import check_folder

if TYPE_CHECKING:
    from e2e.support import Tiny

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("anywhere")]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return make_tiny(tmp_path_factory.mktemp("anywhere"))


@pytest.fixture(scope="module")
def written(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("emitted") / "out"
    words = ("emit", "shell", "--profile", str(tiny.profile), "--until", "venv", "-o", str(out))
    assert xpusetup(*words, env=tiny.env).code == 0
    return out


@pytest.fixture(scope="module")
def folder(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give one that is built in."""
    return shutil.copytree(written, tmp_path_factory.mktemp("built") / "out")


def build(folder: Path, tiny: Tiny, *shell: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run build.sh from the folder above, by a relative path."""
    argv = (*(shell or ("bash", "--")), f"{folder.name}/build.sh")
    env = {**tiny.env, **more}
    return subprocess.run(argv, cwd=folder.parent, env=env, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("shell", "more"),
    [
        ((), {"CDPATH": ".:/tmp"}),
        (("bash", "--posix"), {}),
        (("bash", "-u"), {"POSIXLY_CORRECT": "1"}),
        (("sh",), {}),
        *([(("dash",), {})] if shutil.which("dash") else []),
    ],
)
def test_whatever_shell_and_whatever_it_has_set(
    tiny: Tiny, folder: Path, shell: tuple[str, ...], more: dict[str, str]
) -> None:
    done = build(folder, tiny, *shell, **more)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done: venv is the last step here\n")


@pytest.mark.parametrize(
    "name", ["-x", "ü", "a%b", "~", "a=b", *(f"a{odd}b" for odd in " \t\n:;'\"`\\$&|<>()[]{}*?!#@")]
)
def test_a_letter_that_no_build_survives_is_refused_at_once(
    tiny: Tiny, folder: Path, tmp_path: Path, name: str
) -> None:
    moved = shutil.copytree(folder, tmp_path / name, ignore=shutil.ignore_patterns("venv", "stamps"))
    done = build(moved, tiny)
    try:
        check_folder(tmp_path / name)
    except UsageError:
        assert done.returncode == 1
        assert "holds a letter that compiler flags and PATH cannot carry" in done.stderr
        assert not (moved / "venv").exists()
    else:
        assert done.returncode == 0, done.stderr


def test_what_it_advises_works_from_where_it_was_called(tiny: Tiny, folder: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(folder, tmp_path / "other", ignore=shutil.ignore_patterns("venv", "stamps"))
    unpacked(moved, tiny)
    shutil.rmtree(moved / "stamps")
    helper = moved / "helpers/make_environment.py"
    kept = helper.read_text()
    helper.write_text("raise SystemExit('not now')\n")
    done = build(moved, tiny)
    assert done.returncode == 1
    log, again = (line.partition(":")[2].strip() for line in done.stderr.splitlines()[-2:])
    assert Path(log).exists()
    helper.write_text(kept)
    subprocess.run(("bash", "-c", again), cwd="/", env=tiny.env, check=True, capture_output=True)


def test_what_was_cut_off_is_unpacked_again_and_a_newer_archive_takes_its_place(
    tiny: Tiny, written: Path, tmp_path: Path
) -> None:
    """A helper that somebody changed since stays; an archive that was written anew brings its own."""
    moved = unpack(shutil.copytree(written, tmp_path / "moved"))
    (moved / "helpers/write_defines.py").write_text("half of i")
    unpacked(moved, tiny)
    kept = (moved / "helpers/write_defines.py").read_bytes()
    assert kept != b"half of i"
    (moved / "helpers/write_defines.py").write_text("mine")
    unpacked(moved, tiny)
    assert (moved / "helpers/write_defines.py").read_text() == "mine"
    with (moved / "helpers.tar").open("ab") as stream:
        stream.write(bytes(512))
    unpacked(moved, tiny)
    assert (moved / "helpers/write_defines.py").read_bytes() == kept


def test_jobs_that_begin_at_once_do_not_hurt_each_other(tiny: Tiny, written: Path, tmp_path: Path) -> None:
    """In a folder where nobody unpacked anything yet: one builds, and whoever finds it at work says so."""
    for number in range(5):
        moved = shutil.copytree(written, tmp_path / f"{number}")
        words = ("bash", f"{moved}/build.sh")
        jobs = [subprocess.Popen(words, env=tiny.env, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        said = [job.communicate()[1] for job in jobs]
        codes = [job.returncode for job in jobs]
        assert 0 in codes, said
        assert all(code == 0 or (code == 3 and "is at work in" in text) for code, text in zip(codes, said, strict=True))
        assert (moved / "stamps/venv").exists()
        assert not [path.name for path in (moved / "helpers").glob(".*")]


def unpacked(folder: Path, tiny: Tiny) -> None:
    done = build(folder, tiny)
    assert done.returncode == 0, done.stderr
