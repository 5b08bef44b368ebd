"""A real image engine: buildah with storage of its own, on a base that mmdebstrap makes of Debian's packages."""

from __future__ import annotations

import os
import platform
import shutil
import ssl
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.support import CHECKOUT, Said, caller, xpusetup
from real.apt_source import pick_entries, read_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = "localhost/base:bookworm"
SYSTEM = "localhost/system:bookworm"
"""The base with what a build needs of the system, so that Debian's packages are fetched once for all tests."""
PYTHON = (3, 11)
"""Debian 12's, and that of the torch wheel of these tests."""
STORAGE = '[storage]\ndriver = "{driver}"\nrunroot = "{place}/run"\ngraphroot = "{place}/graph"\n'


@dataclass(frozen=True)
class Engine:
    """buildah, and what this place needs to reach its package index from inside."""

    place: Path
    env: dict[str, str]

    @property
    def fed(self) -> list[str]:
        """The options that a build gets: settings as secrets, folders that they name as volumes."""
        secrets = {name: self.place / name for name in ("pip.conf", "gitconfig", "ca.crt")}
        return [
            *(word for folder in find_links() for word in ("-v", f"{folder}:{folder}:ro")),
            *("-v", f"{self.place}/upstream:/upstream:ro"),
            *(word for name, path in secrets.items() for word in ("--secret", f"id={name},src={path}")),
        ]

    def __call__(self, *words: str, check: bool = True) -> Said:
        """Run buildah."""
        done = subprocess.run(("buildah", *words), check=False, capture_output=True, text=True, env=self.env)
        assert done.returncode == 0 or not check, "\n".join((*words, done.stdout[-3000:], done.stderr[-2000:]))
        return Said(done.returncode, done.stdout, done.stderr)

    def build(self, folder: Path, tag: str, *options: str, check: bool = True) -> Said:
        """Build a folder's Dockerfile."""
        return self("bud", "--layers=false", *self.fed, *options, "-t", tag, str(folder), check=check)

    def run(self, image: str, *words: str, options: tuple[str, ...] = (), check: bool = True) -> Said:
        """Run a command in a new container of an image, as the user of that image."""
        name = self("from", "--pull-never", image).out.strip()
        try:
            return self("run", *options, name, "--", *words, check=check)
        finally:
            self("rm", name)


def find_links() -> list[str]:
    """Give the folders in which pip looks for wheels here."""
    return [folder for folder in os.environ.get("PIP_FIND_LINKS", "").split() if Path(folder).is_dir()]


def emit_image(profile: str, folder: Path, *options: str, base: str = SYSTEM) -> Path:
    """Write a portable image's folder."""
    named = ("--profile", profile, "--os", "debian-12", "--dialect", "portable", "--base", base)
    said = xpusetup("dockerfile", *named, *options, "-o", str(folder), env=caller(folder.parent / "home"))
    assert said.code == 0, said.err
    return folder


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Give buildah with an image of a bare Debian 12."""
    if os.geteuid() != 0:
        pytest.skip("building an image needs root here")
    if lacking := [name for name in ("buildah", "mmdebstrap") if shutil.which(name) is None]:
        pytest.skip(f"not installed: {' and '.join(lacking)}")
    if sys.version_info[:2] != PYTHON:
        pytest.skip("the image is Debian 12, whose Python is 3.11; the runner inside it needs the same")
    place = tmp_path_factory.mktemp("engine")
    found = Engine(
        place, {**os.environ, "CONTAINERS_STORAGE_CONF": f"{place}/storage.conf", "BUILDAH_ISOLATION": "chroot"}
    )
    write_settings(place)
    make_base(found)
    yield found
    found("rm", "-a")
    found("rmi", "-a", "-f")
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def system(engine: Engine) -> str:
    """Install in the base what an image's own script for root says."""
    folder = emit_image("sim", engine.place / "os", base=BASE)
    engine("bud", "--layers=false", "--target", "os", "-t", SYSTEM, str(folder))
    return SYSTEM


def write_settings(place: Path) -> None:
    """Write what this place has of its own, as its owner would: pip's settings, git's settings, a CA file."""
    (place / "upstream").mkdir()
    ca = (
        os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
    )
    shutil.copy(ca, place / "ca.crt")
    links = " ".join(find_links())
    index = os.environ.get("PIP_INDEX_URL", "")
    lines = ["[global]", "cert = /run/secrets/ca.crt", *([f"find-links = {links}"] if links else [])]
    (place / "pip.conf").write_text("\n".join([*lines, *([f"index-url = {index}"] if index else [])]) + "\n")
    mirror = (
        '[url "file:///upstream/"]\n\tinsteadOf = https://tiny.invalid/\n[uploadpack]\n\tallowAnySHA1InWant = true\n'
    )
    (place / "gitconfig").write_text(f"{mirror}[safe]\n\tdirectory = *\n")


def make_base(engine: Engine) -> None:
    """Make a Debian of its packages, in a storage that works here."""
    for driver in ("overlay", "vfs"):  # the first keeps differences alone, the second works on every file system
        (engine.place / "storage.conf").write_text(STORAGE.format(driver=driver, place=engine.place / driver))
        if import_base(engine, BASE, "bookworm", debian(), check=driver == "vfs"):
            break


def debian() -> str:
    """Give where this machine's own packages come from."""
    entries = pick_entries(read_entries(), platform.freedesktop_os_release().get("VERSION_CODENAME"))
    return entries[0].uri


def import_base(engine: Engine, tag: str, release: str, source: str, *, check: bool = True) -> bool:
    """Make an image of a release's own packages, as registries have one."""
    context = engine.place / f"base-{release}"
    context.mkdir(exist_ok=True)
    (context / "Dockerfile").write_text('FROM scratch\nADD base.tar /\nCMD ["bash"]\n')
    if not (context / "base.tar").exists():
        bootstrap = ("mmdebstrap", "--quiet", "--variant=minbase", "--include=apt,ca-certificates", release)
        subprocess.run((*bootstrap, f"{context}/base.tar", source), check=True, capture_output=True)
    return engine("bud", "--layers=false", "-t", tag, str(context), check=check).code == 0


def packages() -> str:
    """Give where the packages of these tests' interpreter lie."""
    return next(path for path in sys.path if path.endswith("site-packages") and Path(path, "pydantic").is_dir())


def runner_options() -> tuple[str, ...]:
    """Give the volumes with which this checkout's program runs in a container."""
    return tuple(word for path in (str(CHECKOUT), packages()) for word in ("-v", f"{path}:{path}:ro"))
