"""rebuild: the same wheel again under other conditions; what a project bakes in is named by member and cause."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import Tiny, make_tiny, xpusetup
from xpusetup.system import files

if TYPE_CHECKING:
    from e2e.fixtures import Demo

pytestmark = pytest.mark.e2e

BAKES = """
import getpass, os, socket, sys, time
from setuptools import Extension, setup

def text(name, *lines):
    with open(name, "w") as stream:
        stream.write("\\n".join(lines) + "\\n")

text("place.py", f"PLACE = {os.getcwd()!r}")
text("clock.py", f"AT = {time.time()!r}")
text("local.py", "AT = " + repr(time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(1700000000))))
text("whose.py", f"BY = {getpass.getuser()!r}", f"HOME = {os.path.expanduser('~')!r}")
text("host.py", f"HOST = {socket.gethostname()!r}")
text("words.py", f"LANGUAGE = {os.environ.get('LANG', '')!r}")
text("parts.py", *sorted(("alpha", "beta", "gamma", "delta"), reverse="longer" in os.getcwd()))
text("flags.py", f"FLAGS = '-O2 -ffile-prefix-map={os.getcwd()}=tiny'")
text("same.py", "SAME = 1")
modules = ["place", "clock", "local", "whose", "host", "words", "parts", "flags", "same"]
setup(name="tiny", version=os.environ["TINY_VERSION"], py_modules=modules, ext_modules=[Extension("tiny", ["tiny.c"])])
"""


def allowed() -> bool:
    """Say whether this machine lets a user have a host name and a time zone of his own."""
    asked = json.dumps({"host": "a-name", "uid": 1, "gid": 1})
    words = (sys.executable, "-Es", str(files.package_file("helpers/elsewhere.py")), asked, "--try")
    return subprocess.run(words, check=False, capture_output=True, text=True).stdout == "{}"


def build(tiny: Tiny, root: Path, **more: str) -> None:
    built = xpusetup("build", *tiny.options(root), "--verify", "off", env={**tiny.env, **more})
    assert built.code == 0, built.err


REAL = {"XPUSETUP_BUILD_PATH": "real"}
"""Else both builds see their root at one path."""


def rebuild(tiny: Tiny, root: Path, *words: str, **more: str) -> Any:
    env = {**tiny.env, **more}
    return xpusetup("wheel", "rebuild", *tiny.options(root), *words, "--json", env=env)


@pytest.mark.long
def test_what_is_well_made_is_the_same_bytes(tmp_path: Path) -> None:
    tiny, root = make_tiny(tmp_path), tmp_path / "root"
    build(tiny, root)
    said = rebuild(tiny, root)
    assert said.code == 0, said.out + said.err
    found = said.result
    assert (found["same"], found["kept"], [each["differences"] for each in found["wheels"]]) == (True, False, [[]])
    assert {each["name"] for each in found["conditions"] if each["varied"]} >= {"path", "home", "locale", "umask"}
    assert not (tmp_path / ".rebuilt/root-at-a-longer-path").exists()
    kept = rebuild(tiny, root, "--at", str(tmp_path / "again"), "--keep").result
    assert (kept["same"], kept["kept"]) == (True, True)
    assert (tmp_path / "again/wheels").is_dir()


@pytest.mark.long
def test_what_a_project_bakes_in_is_named(tmp_path: Path) -> None:
    tiny, root = make_tiny(tmp_path, setup_py=BAKES), tmp_path / "root"
    build(tiny, root, **REAL)
    said = rebuild(tiny, root, LANG="C.UTF-8", **REAL)
    assert said.code == 1, said.out + said.err
    (wheel,) = said.document["result"]["wheels"]
    found = {each["member"]: (each["causes"], each["sure"]) for each in wheel["differences"]}
    wanted = {
        "place.py": (["path"], True),
        "flags.py": (["flags"], True),
        "clock.py": (["time"], True),
        "parts.py": (["order"], True),
        "words.py": (["locale"], True),
        "tiny-1.0.dist-info/RECORD": (["follows"], True),
    }
    if allowed():
        wanted |= {"local.py": (["time zone"], True), "host.py": (["hostname"], True)}
        wanted["whose.py"] = (["home", "user"], True)
    assert {name: found.get(name) for name in wanted} == wanted
    assert "same.py" not in found
    assert not any(name.endswith(".so") for name in found)
    assert [each["argv"][:3] for each in said.document["result"]["next"]] == [["xpusetup", "remove", "--profile"]]


@pytest.mark.long
def test_a_second_build_that_fails_is_told_with_its_log(tmp_path: Path) -> None:
    text = "import os, sys\nif 'longer' in os.getcwd(): sys.exit('this place is too long')\n"
    setup = text + "from setuptools import setup\nsetup(name='tiny', version='1.0', py_modules=[])\n"
    tiny, root = make_tiny(tmp_path, setup_py=setup), tmp_path / "root"
    build(tiny, root)
    said = rebuild(tiny, root, **REAL)
    found = said.document["result"]
    assert (said.code, found["same"], found["failed"], found["wheels"]) == (1, None, "tiny.build", [])
    assert "too long" in Path(found["log"]).read_text()
    assert found["next"][0]["argv"] == ["xpusetup", "explain", found["log"]]


@pytest.mark.long
def test_a_wheel_that_was_changed_is_nothing_to_compare_with(tmp_path: Path) -> None:
    tiny, root = make_tiny(tmp_path), tmp_path / "root"
    build(tiny, root)
    (wheel,) = (root / "wheels").glob("*.whl")
    seen = wheel.stat()
    wheel.write_bytes(wheel.read_bytes()[:-1] + b"x")
    os.utime(wheel, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    said = rebuild(tiny, root)
    assert said.code == 3
    assert "was changed after it was made" in said.document["error"]["message"]


@pytest.mark.long
@pytest.mark.xdist_group("demo")
def test_simxpu_is_the_same_bytes(demo: Demo) -> None:
    found = demo.json("wheel", "rebuild")["result"]
    assert {each["name"]: each["differences"] for each in found["wheels"]} == {"simxpu": []}
    assert found["same"]
