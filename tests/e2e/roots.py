"""Debian roots of their own: what mmdebstrap makes once, and cases of it that keep only what they change."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.images import debian
from e2e.support import copy_checkout
from json_schemas import hold_to_schema
from real.debian_root import enter_apart, why_not, write_base, write_network

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROGRAM = "/opt/xpusetup"
"""Where the program lies in a root: away from the system's own packages, which are what is judged."""
LAUNCHER = f"""\
#!/usr/bin/python3
import sys
sys.path.insert(0, "{PROGRAM}/lib")
from xpusetup.cli import main
main()
"""
USER = "someone"
OVERLAY = """
mount -t overlay overlay -o {options} {root}
for folder in {folders}; do mkdir -p {root}"$folder"; mount --rbind "$folder" {root}"$folder"; done
ip link set lo up 2>/dev/null || true
"""
PIP = ("-m", "pip", "--disable-pip-version-check", "-q")
SETTING = re.compile(r"^[\w:.-]*?\.([\w-]+)='(.*)'$", re.MULTILINE)


@dataclass(frozen=True)
class DebianRoot:
    """A Debian whose changes lie apart from the layers that it stands on, the uppermost first."""

    layers: tuple[Path, ...]
    place: Path
    user: str = "root"
    network: bool = True

    def enter(self, *argv: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program inside, as the user of this root; with its variables."""
        for name in ("changes", "work", "root"):
            (self.place / name).mkdir(parents=True, exist_ok=True)
        layers = ":".join(str(layer) for layer in self.layers)
        options = f"lowerdir={layers},upperdir={self.place}/changes,workdir={self.place}/work"
        root = self.place / "root"
        folders = " ".join(shlex.quote(folder) for folder in local_folders())
        prepare = OVERLAY.format(options=shlex.quote(options), root=shlex.quote(str(root)), folders=folders)
        home = "/root" if self.user == "root" else f"/home/{self.user}"
        whose = () if self.user == "root" else ("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups")
        apart = () if self.network else ("--net",)
        words = enter_apart(root, (*whose, *argv), {"HOME": home, **variables}, prepare, apart)
        return subprocess.run(words, check=False, capture_output=True, text=True)

    def do(self, script: str) -> str:
        """Run a line of the shell as root, which has to go well; give what it printed."""
        done = replace(self, user="root").enter("sh", "-ec", script)
        assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def answer(self, argv: Sequence[str]) -> dict[str, Any] | None:
        """Run a command that leads on, and give the document that it writes; None for another program's."""
        ours = argv[0] == "xpusetup"
        done = self.enter(*argv, **({"XPUSETUP_JSON": "1"} if ours else {}))
        assert "Traceback" not in done.stderr, done.stderr[-3000:]
        if not ours:
            return None
        found: dict[str, Any] = json.loads(done.stdout)
        hold_to_schema(found)
        return found

    def above(self, place: Path, **changes: Any) -> DebianRoot:
        """Give a root that stands on this one, which is not changed any more."""
        return replace(self, layers=(self.place / "changes", *self.layers), place=place, **changes)


def pip_settings() -> dict[str, str]:
    """Give the settings of pip here, whichever file or variable has them."""
    words = (sys.executable, "-m", "pip", "config", "list")
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return {name: value for name, value in SETTING.findall(said) if name not in ("cert", "disable-pip-version-check")}


def local_folders() -> list[str]:
    """Give the folders of this machine that hold its package indexes; links of an index lead to folders beside it."""
    found = (Path(each.removeprefix("file://")) for value in pip_settings().values() for each in value.split())
    places = (path.parent if path.name == "simple" else path for path in found if path.is_absolute())
    return sorted({str(path) for path in places if path.is_dir()})


def make_debian(place: Path, base: Path) -> DebianRoot:
    """Make a root of a release, named as it is, with this machine's network, an ordinary user and the program."""
    if not base.is_dir():
        write_base(base, debian(), base.name, ("ca-certificates", "python3"))
    write_network(base)
    settings = "".join(f"{name} = {value}\n" for name, value in pip_settings().items())
    (base / "etc/pip.conf").write_text(f"[global]\n{settings}")
    install_program(place, base)
    root = DebianRoot((base,), place / f"{base.name}-made")  # no layer may lie in another
    root.do(f"id {USER} || useradd -m -s /bin/bash {USER}")
    return root


def install_program(place: Path, root: Path) -> None:
    """Put the program and what it imports into a root, for that root's Python."""
    (python,) = (root / "usr/lib").glob("python3.*")
    wheels = place / "wheel"
    if not wheels.is_dir():
        clone = copy_checkout(place / "clone")
        make = (sys.executable, *PIP, "wheel", "--no-deps", "-w", str(wheels), str(clone))
        subprocess.run(make, check=True, capture_output=True)
    target = root / PROGRAM[1:]
    which = ("--python-version", python.name.removeprefix("python"), "--only-binary=:all:", "--no-compile")
    shutil.rmtree(target, ignore_errors=True)
    words = (sys.executable, *PIP, "install", "--target", str(target / "lib"), *which, *map(str, wheels.glob("*.whl")))
    subprocess.run(words, check=True, capture_output=True)
    launcher = root / "usr/local/bin/xpusetup"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)


@pytest.fixture(scope="session")
def debian_roots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, DebianRoot]]:
    """Give Debian 12 and 13 with no more than Python. XPUSETUP_TEST_DEBIAN is a folder that keeps their packages."""
    if reason := why_not():
        pytest.skip(reason)
    place = tmp_path_factory.mktemp("debian")
    kept = Path(os.environ.get("XPUSETUP_TEST_DEBIAN", place))
    old = os.umask(0o022)
    try:
        yield {suite: make_debian(place, kept / suite) for suite in ("bookworm", "trixie")}
    finally:
        os.umask(old)
        shutil.rmtree(place, ignore_errors=True)
