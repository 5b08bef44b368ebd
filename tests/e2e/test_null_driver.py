"""The ladder through Debian's own Level Zero loader to the null driver of its source."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.support import caller, xpusetup

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("doctor")]
SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
NULL_DEVICE = {
    "name": "Null Device",
    "vendor": "0000",
    "device": "0000",
    "kind": "gpu",
    "driver_version": 0,
    "memory": 0,
}


def fetch_source(folder: Path) -> Path:
    """Fetch the source of this machine's loader with apt, whose own settings and lists stay as they are."""
    if shutil.which("apt-get") is None or not SOURCES.exists():
        pytest.skip("no Debian here: its package of the loader has the null driver's source")
    for name in ("parts", "lists/partial", "cache"):
        (folder / name).mkdir(parents=True)
    (folder / "parts/source.sources").write_text(SOURCES.read_text().replace("Types: deb\n", "Types: deb-src\n"))
    places = {"Etc::sourcelist": os.devnull, "Etc::sourceparts": "parts", "State::lists": "lists", "Cache": "cache"}
    given = [f"-oDir::{name}={folder / place}" for name, place in places.items()]
    apt = ("apt-get", "-qq", *given, "-oAPT::Sandbox::User=root", "-oDebug::NoLocking=1")
    subprocess.run((*apt, "update"), check=True, cwd=folder)
    subprocess.run((*apt, "source", "--download-only", "level-zero"), check=True, cwd=folder)
    (archive,) = folder.glob("level-zero_*.orig.tar.*")
    subprocess.run(("tar", "xf", archive), check=True, cwd=folder)
    return next(folder.glob("level-zero-*/"))


@pytest.fixture(scope="module")
def null_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the null driver, as the loader's own build does."""
    folder = tmp_path_factory.mktemp("null")
    source = fetch_source(folder)
    includes = [f"-I{source / name}" for name in ("include", "source/inc", "source/drivers/null")]
    files = sorted(str(path) for path in source.glob("source/drivers/null/*.cpp"))
    command = ("g++", "-std=c++14", "-shared", "-fPIC", *includes, "-o", str(folder / "libze_null.so.1"), *files)
    subprocess.run(command, check=True)
    return folder


def test_the_null_driver_behind_the_real_loader(tmp_path: Path, null_driver: Path) -> None:
    facts = tmp_path / "facts.json"
    env = caller(tmp_path / "home", LD_LIBRARY_PATH=str(null_driver), ZE_ENABLE_NULL_DRIVER="1")
    assert xpusetup("doctor", "-p", "torch-2.14", "--save", str(facts), env=env).code in (0, 1)
    ladder = json.loads(facts.read_text())["userland"]["level_zero"]
    assert (ladder["init"], ladder["drivers"], ladder["error"]) == (0, 1, "")
    (device,) = ladder["devices"]
    assert {name: device[name] for name in NULL_DEVICE} == NULL_DEVICE
