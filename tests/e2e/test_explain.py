"""Broken builds end with the right cause on the screen: real compilers, really killed, on devices really full."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.support import Tiny, by_name, caller, command, make_tiny, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("explain")]

KILLED = "#!/bin/sh\nkill -9 $$\n"
FULL = '#!/bin/sh\nexec as "$@" -o /dev/full\n'
OLD_ABI = "#include <string>\nnamespace c10 { std::string name() { return {}; } }\n"
NEW_ABI = "#include <string>\nnamespace c10 { std::string name(); }\nint main() { return c10::name().size(); }\n"
TWO_ABIS = """
import subprocess
old = ("g++", "-D_GLIBCXX_USE_CXX11_ABI=0", "-shared", "-fPIC", "old.cpp", "-o", "libold.so")
subprocess.run(old, check=True)
subprocess.run(("g++", "new.cpp", "-o", "new", "-L.", "-lold"), check=True)
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Make a project that builds in a second."""
    return make_tiny(tmp_path_factory.mktemp("explain"))


def tools(folder: Path, name: str, text: str) -> str:
    """Give the flag by which gcc takes this program for one of its own."""
    folder.mkdir()
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    return f"-B{folder}/"


@pytest.mark.parametrize(
    ("program", "text", "cause", "said"),
    [
        ("cc1", KILLED, "build.killed_by_other", "note: killed, and"),
        by_name("as", FULL, "compile.disk_full", "No space left on device"),
    ],
)
def test_a_broken_build_ends_with_its_cause(
    tiny: Tiny, tmp_path: Path, program: str, text: str, cause: str, said: str
) -> None:
    options = (*tiny.options(tmp_path / "root"), "--verify", "off")
    flags = f"tiny.CFLAGS={tools(tmp_path / 'tools', program, text)}"
    ended = xpusetup("build", *options, "--set", flags, env=tiny.env)
    assert ended.code == 1
    screen = ended.out[ended.out.rindex("tiny.build failed") :]
    assert cause in screen
    assert said in screen
    assert "Fix" in screen
    assert "Last" not in screen
    failure = xpusetup("build", *options, "--set", flags, "--json", env=tiny.env).document["result"]["failure"]
    assert failure["causes"][0]["id"] == cause
    explained = xpusetup("explain", failure["log"], "--json", env=tiny.env).result
    assert explained["causes"][0]["id"] == cause
    assert explained["causes"][0]["line"] == failure["causes"][0]["line"]
    asked = xpusetup("explain", failure["log"], "--prompt", env=tiny.env).out
    assert failure["causes"][0]["text"][:60] in asked
    assert "## The machine\n\nCollecting environment information" in asked


@pytest.mark.long
def test_two_abis_in_one_build(tmp_path: Path) -> None:
    tiny = make_tiny(tmp_path / "tiny", setup_py=TWO_ABIS, old_cpp=OLD_ABI, new_cpp=NEW_ABI)
    options = (*tiny.options(tmp_path / "root"), "--verify", "off")
    ended = xpusetup("build", *options, env=tiny.env)
    assert ended.code == 1
    assert "link.undefined_cxx11" in ended.out[ended.out.rindex("tiny.build failed") :]
    log = tmp_path / "root/logs/tiny.build.log"
    found = xpusetup("explain", str(log), "--json", env=tiny.env).result
    assert found["causes"][0]["id"] == "link.undefined_cxx11"


def test_where_a_log_comes_from(tmp_path: Path) -> None:
    env = caller(tmp_path / "home")
    log = b"[1/2] a\ng++: fatal error: Killed signal terminated program cc1plus\n"
    (tmp_path / "x.log").write_bytes(log)
    with gzip.open(tmp_path / "packed", "wb") as packed:
        packed.write(log)
    plain = xpusetup("explain", str(tmp_path / "x.log"), env=env)
    assert (plain.code, "line 2 of 2" in plain.out) == (0, True)
    for data, arguments in ((log, ()), (log, ("-",)), ((tmp_path / "packed").read_bytes(), ("-",))):
        assert piped(data, *arguments, env=env) == plain.out
    assert xpusetup("explain", str(tmp_path / "packed"), env=env).out == plain.out


def piped(data: bytes, *arguments: str, env: dict[str, str]) -> str:
    """Explain what comes from stdin."""
    done = subprocess.run(command("explain", *arguments), input=data, env=env, check=True, capture_output=True)
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("missing", None, "No such file or directory"),
        ("folder", b"", "Is a directory"),
        ("broken.gz", b"\x1f\x8b\x08broken", "cannot be unpacked"),
        ("log.zst", b"\x28\xb5\x2f\xfd....", "zstd -dc"),
    ],
)
def test_what_cannot_be_read_ends_with_2(tmp_path: Path, name: str, data: bytes | None, words: str) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif data is not None:
        path.write_bytes(data)
    said = xpusetup("explain", str(path), env=caller(tmp_path / "home"))
    assert (said.code, words in said.err) == (2, True), said.err


def test_a_packed_log_that_is_cut_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    log = b"g++: fatal error: Killed signal terminated program cc1plus\n" + b"[1/2] a line of noise\n" * 50_000
    packed = gzip.compress(log)
    (tmp_path / "x.gz").write_bytes(packed[: len(packed) - 20])
    said = xpusetup("explain", str(tmp_path / "x.gz"), "--json", env=caller(tmp_path / "home")).result
    assert said["causes"][0]["id"] == "compile.oom_kill"


def test_nothing_known_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("a\nx.cpp:1:2: error: the moon of ‘y’ is not full\nninja: build stopped: x\n")
    env = caller(tmp_path / "home")
    said = xpusetup("explain", str(tmp_path / "x.log"), "--json", env=env).result
    assert (said["causes"], said["first_error_line"], said["lines"]) == ([], 2, 3)
    assert "not known" in xpusetup("explain", str(tmp_path / "x.log"), env=env).out


def test_gcc_is_there() -> None:
    assert shutil.which("gcc"), "the tests above would compile nothing"
