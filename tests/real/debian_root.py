"""A Debian in a folder, trixie with what Debian builds PyTorch with or another suite, and programs that run inside it.

They run in namespaces of their own: nothing stays mounted, and killing the one process that this gives ends all that
it started at once, as a power cut would. The network is the machine's own: its resolver, certificates, mirror.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from real.apt_source import DEBIAN_SUITE, pick_entries, read_entries
from real.outside import UnavailableError, outer_environment, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PACKAGE = "pytorch"
VERSION = "2.6.0+dfsg-7"
TOOLS = ("dpkg-dev", "patch", "ccache", "python3-venv", "python3-dev", "procps", "util-linux")
BASE = ("ca-certificates", "python3", "git")
NEEDED = ("mmdebstrap", "unshare", "chroot")
READY = "var/lib/xpusetup-ready"  # names what was installed once all is
ANY_DATE = 'Acquire::Check-Valid-Until "false"'
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
PASSED_ON = re.compile(r"(?i)PIP_(?!CERT|FIND_LINKS|CONFIG_FILE|REQUIRE_VIRTUALENV)\w+|\w+_proxy")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MOUNT = """
root=$1; shift
for name in dev sys; do mount --rbind "/$name" "$root/$name"; done
mount -t proc proc "$root/proc"
chroot "$root" "$@"
exit $?
"""
"""What the first process of the namespaces does; it stays, because a namespace ends with its first process."""


def why_not() -> str:
    """Say why such a root cannot be made or entered here; empty where it can."""
    if os.geteuid() != 0:
        return "only root can make and enter it"
    missing = [name for name in NEEDED if shutil.which(name) is None]
    return f"{', '.join(missing)} is not on PATH" if missing else ""


def write_root(root: Path, more: tuple[str, ...] = ()) -> None:
    """Make the root with `more` packages, or go on where an earlier call stopped.

    Raises UnavailableError where a mirror does not answer.
    """
    wanted = " ".join((VERSION, *more))
    if (root / READY).is_file() and (root / READY).read_text() == wanted:
        return
    entries = pick_entries(read_entries(), platform.freedesktop_os_release().get("VERSION_CODENAME"))
    if not entries:
        raise UnavailableError("the machine has no apt sources")
    if not (root / "etc/debian_version").is_file():
        write_base(root, entries[0].uri, DEBIAN_SUITE)
    write_network(root)
    source = f"deb-src {entries[0].uri} {DEBIAN_SUITE} main\n"
    (root / "etc/apt/sources.list.d/source.list").write_text(source)
    for words in (
        ("update",),
        ("build-dep", "-y", "--no-install-recommends", f"{PACKAGE}={VERSION}"),
        ("install", "-y", "--no-install-recommends", *TOOLS, *more),
    ):
        run(enter(root, "apt-get", "-q", *words), env={**outer_environment(), "PATH": PATH}, seconds=1800)
    (root / READY).write_text(wanted)


def write_other(root: Path, suite: str, packages: tuple[str, ...]) -> None:
    """Make a root of another suite with these packages, or go on where an earlier call stopped.

    Raises UnavailableError where a mirror does not answer. One may be a copy of some day: its date is not asked for.
    """
    wanted = " ".join((suite, *packages))
    if (root / READY).is_file() and (root / READY).read_text() == wanted:
        return
    entries = pick_entries(read_entries(), platform.freedesktop_os_release().get("VERSION_CODENAME"))
    if not entries:
        raise UnavailableError("the machine has no apt sources")
    if not (root / "etc/debian_version").is_file():
        write_base(root, entries[0].uri, suite)
    write_network(root)
    (root / "etc/apt/apt.conf.d/90any-date").write_text(f"{ANY_DATE};\n")
    for words in (("update",), ("install", "-y", "--no-install-recommends", *packages)):
        run(enter(root, "apt-get", "-q", *words), env={**outer_environment(), "PATH": PATH}, seconds=1800)
    (root / READY).write_text(wanted)


def write_base(root: Path, mirror: str, suite: str = DEBIAN_SUITE, packages: tuple[str, ...] = BASE) -> None:
    """Let mmdebstrap fill a folder beside it, and move that there at once."""
    part = root.with_name(f"{root.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    include = f"--include={','.join(packages)}"
    words = ("--variant=minbase", f"--aptopt={ANY_DATE}", include)
    run(("mmdebstrap", *words, suite, str(part), mirror), env=os.environ, seconds=1800)
    part.rename(root)


def write_network(root: Path) -> None:
    """Give the root the names that the machine knows, its resolver and the certificates that it trusts."""
    for name in ("etc/resolv.conf", "etc/hosts", CERTIFICATES):
        source = Path("/", name)
        if source.is_file():
            (root / name).unlink(missing_ok=True)
            shutil.copyfile(source, root / name)


def enter(root: Path, *argv: str, **variables: str) -> tuple[str, ...]:
    """Give the words that run a program inside, with a newcomer's environment and these variables."""
    return enter_apart(root, argv, variables)


def enter_apart(
    root: Path, argv: Sequence[str], variables: Mapping[str, str], prepare: str = "", apart: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Give the same words with further namespaces, and commands of bash that come first in all of them."""
    own = {"HOME": "/root", "PATH": PATH, "LANG": "C.UTF-8", "TERM": "dumb", "DEBIAN_FRONTEND": "noninteractive"}
    passed_on = {name: value for name, value in os.environ.items() if PASSED_ON.fullmatch(name)}
    words = (f"{name}={value}" for name, value in {**own, **passed_on, **variables}.items())
    unshare = ("unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", *apart)
    return (*unshare, "bash", "-ec", prepare + MOUNT, "bash", str(root.resolve()), "env", "-i", *words, *argv)
