"""The lock of a root on a file system without flock: a preloaded library lets it fail as NFS without lockd does."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.support import CHECKOUT, Said, Tiny, by_name, command, kill_all, make_tiny, wait_until, xpusetup

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("lock")]
FLOCK = """
#include <errno.h>
int flock(int file, int operation) { (void)file; (void)operation; errno = ENOLCK; return -1; }
"""


@dataclass(frozen=True)
class Place:
    """A root on such a file system, and the project that is built there."""

    tiny: Tiny
    root: Path
    env: dict[str, str]
    mark: Path

    def options(self, seconds: float = 0) -> tuple[str, ...]:
        slow = ("--set", f"tiny.TINY_SLEEP={seconds}", "--set", f"tiny.TINY_MARK={self.mark}")
        return ("build", *self.tiny.options(self.root), "--verify", "off", "--json", *slow)

    def build(self, seconds: float = 0) -> Said:
        return xpusetup(*self.options(seconds), env=self.env)

    def start(self, seconds: float) -> subprocess.Popen[bytes]:
        """Start a build and give it when it compiles."""
        words = command(*self.options(seconds))
        process = subprocess.Popen(words, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.mark.exists)
        return process


def left(place: Place, *patterns: str) -> list[Path]:
    """List what the lock left behind."""
    return [path for pattern in patterns or ("lock.*", ".lock.*") for path in place.root.glob(pattern)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return make_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def no_flock(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give what lets flock fail: for what is started, and for flock(1) in steps, which start clean."""
    folder = tmp_path_factory.mktemp("flock")
    (folder / "flock.c").write_text(FLOCK)
    library, program = folder / "flock.so", folder / "bin/flock"
    subprocess.run(("gcc", "-shared", "-fPIC", "-o", str(library), str(folder / "flock.c")), check=True)
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nLD_PRELOAD={library} exec {shutil.which("flock")} "$@"\n')
    program.chmod(0o755)
    return {"LD_PRELOAD": str(library), "PATH": f"{program.parent}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the root of all tests here: each compiles anew, for the mark is of its own, in an environment made once."""
    return tmp_path_factory.mktemp("place") / "root"


@pytest.fixture
def place(tiny: Tiny, no_flock: dict[str, str], root: Path, tmp_path: Path) -> Place:
    return Place(tiny, root, {**tiny.env, **no_flock}, tmp_path / "mark")


@pytest.mark.long
def test_said_once_and_left_behind_nowhere(place: Place) -> None:
    said = place.build()
    assert said.result["ran"][-1] == "guard"
    assert said.err.count("flock does not work on this file system") == 1
    assert left(place) == []
    assert place.build().result["ran"] == []


def test_two_at_once(place: Place) -> None:
    process = place.start(6)
    said = place.build(6)
    assert said.code == 3
    assert said.document["error"]["message"] == f"another build (process {process.pid}) is at work in {place.root}"
    assert process.wait() == 0
    assert place.mark.read_text() == "building\n"


@pytest.mark.long
def test_killed_with_all_it_started(place: Place) -> None:
    kill_all(place.start(60))
    assert (place.root / "lock.owner").exists()
    place.mark.unlink()
    shutil.rmtree(place.root / "stamps")
    assert place.build().result["ran"][-1] == "guard"
    assert left(place) == []


def test_orphaned_step_is_waited_for(place: Place) -> None:
    process = place.start(5)
    process.kill()
    process.wait()
    said = place.build(5)
    assert "outlived" in said.err
    assert "tiny.build" in said.result["skipped"]
    assert place.mark.read_text() == "building\n"


@pytest.mark.parametrize("started", [by_name("long ago"), "here and now"])
def test_a_file_of_another_host(place: Place, started: str) -> None:
    place.root.mkdir(exist_ok=True)
    boot = "x" if started == "long ago" else Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    owner = place.root / "lock.owner"
    owner.write_text(f"node17 {boot} pid:[1] 4711 99 4711\n")
    said = place.build()
    assert said.code == 3
    error = said.document["error"]
    assert error["message"].startswith(f"a build on node17 (process 4711) is at work in {place.root}")
    assert error["fix"] == f"if nothing of it runs there any more: rm {owner}"
    owner.unlink()
    assert place.build().code == 0


@pytest.mark.parametrize(
    "text", ["{host} another-boot pid:[1] 1 1 1\n", by_name("{host} {boot} {space} 1 1 1\n"), by_name("")]
)
def test_a_file_that_is_stale(place: Place, text: str) -> None:
    """Another boot, a process number that another process has now, or a writer that died before its first byte."""
    boot, space = Path("/proc/sys/kernel/random/boot_id").read_text().strip(), Path("/proc/self/ns/pid").readlink()
    place.root.mkdir(exist_ok=True)
    (place.root / "lock.owner").write_text(text.format(host=os.uname().nodename, boot=boot, space=space))
    assert place.build().code == 0
    assert not (place.root / "lock.owner").exists()


def test_where_flock_works_the_file_counts_too(place: Place) -> None:
    """The same folder may be mounted with flock on one machine and without it on another."""
    place.root.mkdir(exist_ok=True)
    (place.root / "lock.owner").write_text("node17 x pid:[1] 4711 99 4711\n")
    options = ("build", *place.tiny.options(place.root), "--verify", "off", "--json")
    said = xpusetup(*options, env=place.tiny.env)
    assert said.code == 3
    assert "node17" in said.document["error"]["message"]
    (place.root / "lock.owner").write_text(f"{os.uname().nodename} another-boot pid:[1] 1 1 1\n")
    assert xpusetup(*options, env=place.tiny.env).code == 0
    assert not (place.root / "lock.owner").exists()


def bash(script: Path, env: dict[str, str], **more: str) -> subprocess.CompletedProcess[str]:
    words = ("bash", str(script))
    return subprocess.run(words, env={**env, **more}, check=False, capture_output=True, text=True)


def test_scripts_by_hand(place: Place) -> None:
    """Both build.sh and a step by hand take the file, wait for nobody, and give it back."""
    _build, _option, profile, _option, _root, *more = place.options(5)
    words = ("emit", "shell", "--profile", profile, "-o", str(place.root), *more)
    assert xpusetup(*words, env=place.env).code == 0
    script = place.root / "build.sh"
    process = subprocess.Popen(("bash", str(script)), env=place.env, stdout=subprocess.DEVNULL)
    wait_until(place.mark.exists)
    for other in (script, place.root / "steps/venv.sh"):
        refused = bash(other, place.env)
        assert refused.returncode == 3, refused.stdout + refused.stderr
        assert f"another build (process {process.pid}) is at work" in refused.stderr
    assert process.wait() == 0
    assert left(place, "lock.owner*") == []
    again = bash(place.root / "steps/tiny.fetch.sh", place.env, XPUSETUP_FORCE="1")
    assert again.returncode == 0, again.stdout + again.stderr
    assert left(place, "lock.owner*") == []


def test_a_step_that_begins_after_its_build_was_killed(place: Place) -> None:
    assert place.build().code == 0
    (place.root / "lock.owner").write_text(f"{os.uname().nodename} x pid:[1] 1 1 1\n")
    late = bash(place.root / "steps/venv.sh", place.env, XPUSETUP_LOCKED="1")
    assert late.returncode == 3
    assert "the build that started this step has ended" in late.stderr


CONTENDER = """
. "$1/helpers/lock.sh"
if own_root "$1" $$; then
  mkdir "$1/inside" || echo two >>"$1/said"
  echo won >>"$1/said"
  sleep 0.5
  rmdir "$1/inside"
  disown_root "$1" $$
else
  echo lost >>"$1/said"
fi
"""


def test_many_at_once_find_a_stale_file(place: Place) -> None:
    """One of them gets the lock, or several one after the other; never two at a time."""
    helpers = place.root / "helpers"
    helpers.mkdir(parents=True, exist_ok=True)
    shutil.copy2(CHECKOUT / "xpusetup/helpers/lock.sh", helpers)
    for _round in range(4):
        (place.root / "lock.owner").write_text(f"{os.uname().nodename} another-boot pid:[1] 1 1 1\n")
        words = ("bash", "-c", CONTENDER, "bash", str(place.root))
        contenders = [subprocess.Popen(words, env=place.env, stderr=subprocess.PIPE) for _number in range(6)]
        assert [each.communicate()[1] for each in contenders] == [b""] * 6
    told = place.root / "said"
    said = told.read_text().split()
    told.unlink()
    assert len(said) == 24
    assert said.count("won") >= 4
    assert "two" not in said
    assert left(place) == []
