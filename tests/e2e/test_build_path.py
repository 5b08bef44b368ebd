"""What compiles sees its root at one path, by this machine's namespaces: docs/build.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.support import make_tiny, xpusetup
from xpusetup.base.model import BUILD_PATH
from xpusetup.system.files import PACKAGE, hash_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.support import Said, Tiny

pytestmark = pytest.mark.e2e
BAKES = """
import os
from setuptools import Extension, setup
open("place.py", "w").write(f"PLACE = {os.getcwd()!r}")
print(f"it is built in {os.getcwd()}")
setup(name="tiny", version="1.0", py_modules=["place"], ext_modules=[Extension("tiny", ["tiny.c"])])
"""
"""The folder of the build is in its wheel, whatever flags would keep out."""
NOBODY = 65534


def build(tiny: Tiny, root: Path, *words: str, **more: str) -> Said:
    options = ("--verify", "off", "--launcher", "none", "--json", *words)
    return xpusetup("build", *tiny.options(root), *options, env={**tiny.env, **more})


def below() -> set[str]:
    """Name what lies at the path, as others see it."""
    return {path.name for path in Path(BUILD_PATH).iterdir()}


def wheel_hash(root: Path) -> str:
    (wheel,) = (root / "wheels").glob("*.whl")
    return hash_file(wheel)


def test_two_roots_give_the_same_bytes_and_paths_that_can_be_opened(tmp_path: Path) -> None:
    before = below()
    tiny, one, other = make_tiny(tmp_path, setup_py=BAKES), tmp_path / "one", tmp_path / "a-much-longer.and=other,root"
    for root in (one, other):
        assert build(tiny, root).code == 0
        log = (root / "logs/tiny.build.log").read_text()
        assert log.startswith(f"{root} compiles as {BUILD_PATH}, a bind mount that nobody else sees\n")
        assert f"it is built in {root}/src/tiny\n" in log
        assert BUILD_PATH not in log.partition("\n")[2]
        kept = [path for name in ("results", "stamps", "logs") for path in (root / name).rglob("*") if path.is_file()]
        assert [path for path in sorted(kept) if BUILD_PATH in path.read_text()] == [
            root / "logs/tiny.build.log",
        ]
    assert wheel_hash(one) == wheel_hash(other)
    assert build(tiny, one).result["ran"] == []
    assert below() == before


@pytest.mark.long
def test_what_would_hide_something_stays_and_can_be_changed_in_words(tmp_path: Path) -> None:
    tiny, root = make_tiny(tmp_path, setup_py=BAKES), tmp_path / "root"
    hidden = {"CCACHE_DIR": f"{BUILD_PATH}/cache"}
    assert build(tiny, root, **hidden).code == 0
    log = (root / "logs/tiny.build.log").read_text()
    assert f"note: it compiles at its real path, not at {BUILD_PATH}: {BUILD_PATH}/cache lies in it." in log
    assert (root / "build-path").read_text() == f"{root}\n"

    other = tmp_path / "other"
    assert build(tiny, other).code == 0
    again = {**tiny.env, **hidden, "XPUSETUP_FORCE": "1"}
    script = ("bash", str(other / "steps/tiny.build.sh"))
    refused = subprocess.run(script, check=False, capture_output=True, text=True, env=again)
    assert refused.returncode == 3
    assert f"{other} was compiled as {BUILD_PATH}, which it cannot be now" in refused.stderr
    real = {**again, "XPUSETUP_BUILD_PATH": "real"}
    done = subprocess.run(script, check=True, capture_output=True, text=True, env=real)
    assert f"{other}/src/tiny/build was filled at another path: it goes" in done.stdout
    assert wheel_hash(root) != wheel_hash(other)


@pytest.mark.long
def test_what_a_step_says_last_arrives_and_its_code_too(tmp_path: Path) -> None:
    tiny, root = make_tiny(tmp_path), tmp_path / "root"
    failed = build(tiny, root, "--set", "tiny.TINY_FAIL=the last words")
    assert failed.code == 1
    script = ("bash", str(root / "steps/tiny.build.sh"))
    for _attempt in range(5):
        said = subprocess.run(script, check=False, capture_output=True, text=True, env=tiny.env)
        assert said.returncode == 1
        assert "error: the last words" in said.stdout


@pytest.fixture
def public() -> Iterator[Path]:
    """Give a folder of an ordinary user, with the helpers."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    shutil.copytree(PACKAGE / "helpers", folder / "helpers", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "root").mkdir()
    if os.geteuid() == 0:
        os.chown(folder / "root", NOBODY, NOBODY)
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_an_ordinary_user_stays_who_he_is(public: Path) -> None:
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    before, root = below(), public / "root"
    asked = f'echo "$(id -u) $(stat -c %u .) $XPUSETUP_SEEN_AT"; cd {BUILD_PATH}; echo it >file'
    words = (python, str(public / "helpers/fixed_path.py"), str(root), BUILD_PATH, "", "bash", "-ec", asked)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    user = NOBODY if who else os.geteuid()
    env = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=env, cwd=root, **who)  # type: ignore[call-overload]
    first, second = done.stdout.splitlines()
    assert first == f"{root} compiles as {BUILD_PATH}, a bind mount that nobody else sees"
    assert second == f"{user} {user} {BUILD_PATH}"
    assert ((root / "file").read_text(), (root / "file").stat().st_uid) == ("it\n", user)
    assert below() == before


CHROOT = """
mount --make-r{seen} /
for name in /usr /bin /lib /lib64 /etc /proc /dev {public}; do
  [ -e "$name" ] || continue
  mkdir -p "$1$name"
  mount --rbind "$name" "$1$name"
done
chroot "$1" {python} {public}/helpers/fixed_path.py {public}/root {place} '' sh -c 'echo "$XPUSETUP_SEEN_AT"'
ls {place} "$1{place}"
"""
"""A chroot whose root is no mount, in a mount namespace of its own."""


@pytest.mark.parametrize(("seen", "at"), [("private", BUILD_PATH), ("shared", "")])
def test_in_a_chroot_nobody_else_sees_it(public: Path, tmp_path: Path, seen: str, at: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("a chroot takes root")
    python = os.path.realpath(shutil.which("python3", path="/usr/bin:/bin") or "")
    script = CHROOT.format(seen=seen, public=public, python=python, place=BUILD_PATH)
    words = ("unshare", "--mount", "bash", "-ec", script, "bash", str(tmp_path))
    env = {"PATH": os.environ["PATH"]}
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60, env=env)
    first, second, *listed = done.stdout.splitlines()
    assert second == (at or str(public / "root")), first
    assert ("others here would see the mount" in first) == (not at)
    assert "build-path" not in "\n".join(listed)
