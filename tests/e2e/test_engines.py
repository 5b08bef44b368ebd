"""Engines for real: sccache's scheduler with a machine that compiles for it, and a cache in redis, as they count."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.cluster import free_ports
from e2e.support import Said, make_tiny, wait_until, xpusetup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.support import Tiny

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("engines")]

FOLDER = Path(sys.executable).parent
SCHEDULER = """
public_addr = "127.0.0.1:{port}"
[client_auth]
type = "token"
token = "clients"
[server_auth]
type = "token"
token = "servers"
"""
SERVER = """
cache_dir = "{folder}/toolchains"
public_addr = "127.0.0.1:{own}"
scheduler_url = "http://127.0.0.1:{port}"
[builder]
type = "overlay"
build_dir = "{folder}/builds"
bwrap_path = "{bwrap}"
[scheduler_auth]
type = "token"
token = "servers"
"""
CLIENT = """
[dist]
scheduler_url = "http://127.0.0.1:{port}"
toolchains = []
cache_dir = "{folder}/client"
[dist.auth]
type = "token"
token = "clients"
"""
SETUP = """
import os, subprocess
from setuptools import Extension, setup
device = os.environ.get("CMAKE_SYCL_COMPILER_LAUNCHER")  # which CMake puts before each object of torch-xpu-ops
subprocess.run((*([device] if device else []), "@GXX@", "-c", "device.cpp", "-o", "device.o"), check=True)
setup(name="tiny", version="1.0", ext_modules=[Extension("tiny", ["tiny.c"])])
"""


@dataclass(frozen=True)
class Place:
    """Where the engines of one test listen, and a caller who knows of them."""

    tiny: Tiny
    folder: Path
    env: dict[str, str]
    ports: list[int]

    def build(self, name: str) -> Said:
        """Build in a root of that name."""
        words = ("--verify", "off", "--launcher", "sccache", "--json")
        return xpusetup("build", *self.tiny.options(self.folder / name), *words, env=self.env)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Give a project, and servers of sccache that end with the test."""
    tiny = make_tiny(
        tmp_path / "tiny",
        setup_py=SETUP.replace("@GXX@", shutil.which("g++") or ""),
        device_cpp="int on_a_device() { return 7; }\n",
    )
    ports = free_ports(4)
    own = {"SCCACHE_DIR": str(tmp_path / "cache"), "SCCACHE_SERVER_PORT": str(ports[0])}
    env = {**tiny.env, **own, "PATH": f"{FOLDER}:{tiny.env['PATH']}"}
    found = Place(tiny, tmp_path, env, ports)
    try:
        yield found
    finally:
        subprocess.run((FOLDER / "sccache", "--stop-server"), env=env, check=False, capture_output=True)


@contextmanager
def daemon(*argv: str, log: Path) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=out, env={**os.environ, "SCCACHE_NO_DAEMON": "1"})
        try:
            yield
        finally:
            process.terminate()
            process.wait(10)


def configured(place: Place) -> Place:
    words = {"port": place.ports[1], "own": place.ports[2], "folder": place.folder, "bwrap": shutil.which("bwrap")}
    for name, text in {"scheduler": SCHEDULER, "server": SERVER, "client": CLIENT}.items():
        (place.folder / f"{name}.toml").write_text(text.format(**words))
    return Place(place.tiny, place.folder, {**place.env, "SCCACHE_CONF": f"{place.folder}/client.toml"}, place.ports)


def stats(place: Place, port: int) -> dict[str, Any]:
    env = {**place.env, "SCCACHE_SERVER_PORT": str(port)}
    argv = (FOLDER / "sccache", "--show-stats", "--stats-format=json")
    found: dict[str, Any] = json.loads(subprocess.check_output(argv, env=env, text=True))["stats"]
    return found


@pytest.mark.long
def test_host_compiles_go_elsewhere_and_device_compiles_stay(place: Place) -> None:
    if os.geteuid() != 0 or shutil.which("bwrap") is None:
        pytest.skip("needs root, and bubblewrap from Debian")
    place = configured(place)
    program = str(FOLDER / "sccache-dist")
    with daemon(program, "scheduler", "--config", f"{place.folder}/scheduler.toml", log=place.folder / "scheduler.log"):
        wait_until(lambda: "SchedulerStatus" in status(place), seconds=60)
        alone = place.build("alone")
        assert (alone.code, alone.document["error"]["message"].partition(",")[0]) == (
            3,
            "no machine compiles for the scheduler of sccache",
        )
        assert not (place.folder / "alone/venv").exists()
        with daemon(program, "server", "--config", f"{place.folder}/server.toml", log=place.folder / "server.log"):
            wait_until(lambda: '"num_servers":1' in status(place), seconds=60)
            built = place.build("root")
    assert built.result["cached"] == {"tiny.build": [0, 1]}
    assert built.result["sent"] == {"tiny.build": [1, 0]}
    assert f"sccache sends host compiles to http://127.0.0.1:{place.ports[1]}/: 1 machine" in built.err
    assert sum(stats(place, place.ports[0])["dist_compiles"].values()) == 1


@pytest.mark.long
def test_the_simulated_accelerator_is_compiled_elsewhere(place: Place) -> None:
    place = configured(place)
    program = str(FOLDER / "sccache-dist")
    words = (
        "--profile",
        "sim",
        "--root",
        str(place.folder / "sim"),
        "--verify",
        "off",
        "--launcher",
        "sccache",
        "--json",
    )
    with (
        daemon(program, "scheduler", "--config", f"{place.folder}/scheduler.toml", log=place.folder / "scheduler.log"),
        daemon(program, "server", "--config", f"{place.folder}/server.toml", log=place.folder / "server.log"),
    ):
        wait_until(lambda: '"num_servers":1' in status(place), seconds=60)
        built = xpusetup("build", *words, env=place.env).result
    found, lacking = built["cached"]["simxpu.build"]
    sent, kept = built["sent"]["simxpu.build"]
    assert (found, kept) == (0, 0)
    assert sent == lacking > 0


def status(place: Place) -> str:
    """Ask anew: a server of sccache that was refused waits for half a minute before it tries again."""
    subprocess.run((FOLDER / "sccache", "--stop-server"), env=place.env, check=False, capture_output=True)
    return subprocess.check_output((FOLDER / "sccache", "--dist-status"), env=place.env, text=True)


def test_a_scheduler_that_does_not_answer(place: Place) -> None:
    said = configured(place).build("root")
    error = said.document["error"]
    assert said.code == 3
    assert f"http://127.0.0.1:{place.ports[1]}/, does not answer" in error["message"]
    assert "--launcher" in error["fix"]
    assert not (place.folder / "root").exists()


@pytest.mark.long
def test_redis(place: Place) -> None:
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server from Debian")
    port = str(place.ports[3])
    argv = ("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", str(place.folder))
    place = Place(
        place.tiny, place.folder, {**place.env, "SCCACHE_REDIS_ENDPOINT": f"tcp://127.0.0.1:{port}"}, place.ports
    )
    with daemon(*argv, log=place.folder / "redis.log"):
        wait_until(lambda: "Ready to accept" in (place.folder / "redis.log").read_text(), seconds=30)
        first = place.build("first").result
        subprocess.run((FOLDER / "sccache", "--stop-server"), env=place.env, check=True, capture_output=True)
        (place.folder / "first/stamps/tiny.build").unlink()
        shutil.rmtree(place.folder / "first/src/tiny/build")
        second = place.build("first").result
    assert (first["cached"], second["cached"]) == ({"tiny.build": [0, 2]}, {"tiny.build": [2, 0]})
    assert not [path for path in (place.folder / "cache").rglob("*") if path.is_file()]
