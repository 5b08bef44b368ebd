"""The other engines: a real dockerd with BuildKit, and Apptainer, each from Debian's packages in a root of its own."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import subprocess
import tarfile
import threading
from typing import TYPE_CHECKING

import pytest

from e2e.images import BASE, debian, emit_image, find_links
from e2e.support import caller, xpusetup

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from e2e.images import Engine

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("image")]
ENTER = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
for name in proc dev sys; do mount --rbind "/$name" "$1/$name"; done
mkdir -p "$1$2" && { [ -z "$2" ] || mount --bind "$2" "$1$2"; }
cp -L /etc/resolv.conf "$1/etc/resolv.conf"
echo 127.0.0.1 localhost >"$1/etc/hosts"
cd "$1" && mkdir -p .old && pivot_root . .old && cd / && umount -l /.old
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash /w/go.sh
"""
DOCKER = """
mount -t tmpfs tmpfs /run
dockerd --data-root /w/data --exec-root /run/dk --pidfile /run/dk.pid -H unix:///run/dk.sock --bridge=none \\
  --iptables=false --ip6tables=false >/w/dockerd.log 2>&1 &
daemon=$!
trap 'kill $daemon; wait $daemon' EXIT
export DOCKER_HOST=unix:///run/dk.sock DOCKER_BUILDKIT=1
for _ in $(seq 120); do docker version >/dev/null 2>&1 && break; sleep 0.5; done
docker import /w/base.tar BASE >/dev/null
for name in sim sim changed; do
  echo "== $name"
  docker build --network host --progress plain --secret id=pip.conf,src=/w/pip.conf --secret id=ca.crt,src=/w/ca.crt \\
    -t "localhost/$name" "/w/$name" 2>&1 || exit 1
done
for words in "" "id -u"; do
  echo "== run $words"
  docker run --rm --network none --security-opt seccomp=unconfined localhost/sim $words 2>&1 || exit 1
done
"""
ALL_IDS = "unshare -m --map-users=0:0:65536 --map-groups=0:0:65536 --setuid 0 --setgid 0"
"""Apptainer asks for all capabilities, of which a machine may lack some; in a user namespace of its own it has all."""
APPTAINER = f"""
set -e
cd /w/sim
export TMPDIR=/w APPTAINER_CACHEDIR=/w/cache
bind=/w/pip.conf:/etc/pip.conf,/w/ca.crt:/run/secrets/ca.crtLINKS
base="--build-arg BOOTSTRAP=localimage --build-arg BASE=/w/base"
# shellcheck disable=SC2086
{ALL_IDS} apptainer build --bind "$bind" $base /w/sim.sif xpusetup.def
{ALL_IDS} apptainer run /w/sim.sif
"""


def make_root(place: Path, release: str, *packages: str) -> Path:
    """Make a root of Debian's packages with what an engine needs; its lists may be older than their own limit."""
    options = ("--quiet", "--variant=minbase", '--aptopt=Acquire::Check-Valid-Until "false"')
    names = ",".join(("ca-certificates", "procps", *packages))
    root = place / "root"
    subprocess.run(
        ("mmdebstrap", *options, f"--include={names}", release, root, debian()), check=True, capture_output=True
    )
    (root / "w").mkdir()
    return root


def enter(root: Path, script: str, folder: str = "") -> str:
    """Run a script with this root as its own, and a folder of outside at the same place."""
    (root / "w/go.sh").write_text(script)
    words = ("unshare", "-m", "bash", "-c", ENTER, "bash", str(root), folder)
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def served() -> Iterator[str]:
    """Serve the wheels of this place to who cannot mount their folder; nothing where pip has them elsewhere."""
    folders = find_links()
    if not folders:
        yield ""
        return
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folders[0])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"find-links = http://127.0.0.1:{server.server_address[1]}/\n"
        server.shutdown()


def write_settings(engine: Engine, root: Path, links: str) -> None:
    text = (engine.place / "pip.conf").read_text().splitlines(keepends=True)
    plain = [line for line in text if not line.startswith("find-links")]
    (root / "w/pip.conf").write_text("".join([*plain, links]))
    shutil.copy(engine.place / "ca.crt", root / "w/ca.crt")


def test_docker_builds_it_once_and_then_what_changed(engine: Engine, tmp_path: Path, served: str) -> None:
    """Nothing changed: every layer is there. One variable of one component changed: it is built again, and no other."""
    root = make_root(tmp_path, "trixie", "docker.io", "docker-buildx", "docker-cli", "iptables")
    write_settings(engine, root, served)
    shutil.copy(engine.place / "base-bookworm/base.tar", root / "w/base.tar")
    for name, more in {"sim": (), "changed": ("--set", "simxpu.SIM_NOTE=1")}.items():
        emit_image("sim", root / "w" / name, "--dialect", "buildkit", *more, base=BASE)
    said = enter(root, DOCKER.replace("BASE", BASE))
    _, first, again, changed, verified, who = re.split(r"^== .*\n", said, flags=re.MULTILINE)
    assert "CACHED" not in first
    assert layers(again) == {True: layers(first)[False], False: set()}
    anew = layers(changed)[False]
    assert "COPY steps/simxpu.build.sh steps/" in anew
    assert "ADD helpers.tar ./" in layers(changed)[True]
    assert not [line for line in anew if re.search(r"torch\.|requirements|system/", line)]
    assert re.search(r"^= \d+ checks \| simxpu", verified, re.MULTILINE)
    assert who == "1001\n"


def layers(log: str) -> dict[bool, set[str]]:
    """Give the layers of a build, by whether they were there already."""
    names = dict(re.findall(r"^#(\d+) \[[^\]]+ \d+/\d+\] ((?:RUN|ADD|COPY|WORKDIR) .*)$", log, re.MULTILINE))
    cached = set(re.findall(r"^#(\d+) CACHED$", log, re.MULTILINE))
    return {there: {text for number, text in names.items() if (number in cached) == there} for there in (True, False)}


def test_apptainer_builds_and_verifies(engine: Engine, tmp_path: Path) -> None:
    root = make_root(tmp_path, "sid", "apptainer")
    write_settings(engine, root, f"find-links = {' '.join(find_links())}\n" if find_links() else "")
    with tarfile.open(engine.place / "base-bookworm/base.tar") as archive:
        files = [member for member in archive if not member.name.startswith("./dev/")]  # nodes need the real root
        archive.extractall(root / "w/base", files, filter="tar")
    for folder in find_links():
        (root / "w/base" / folder.lstrip("/")).mkdir(parents=True)  # a mount needs its place
    words = ("apptainer", "--profile", "sim", "--os", "debian-12", "-o", str(root / "w/sim"))
    said = xpusetup("emit", *words, env=caller(tmp_path / "home"))
    assert said.code == 0, said.err
    links = "".join(f",{folder}" for folder in find_links())
    output = enter(root, APPTAINER.replace("LINKS", links), *find_links()[:1])
    assert re.search(r"^= \d+ checks \| simxpu", output, re.MULTILINE)
