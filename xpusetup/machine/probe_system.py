"""The operating system, who asks, what a build may use of the machine, and the places that it writes to."""

import os
import platform
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from xpusetup.machine.facts import DiskPlace, Held, Resources, System
from xpusetup.system.files import Sysroot
from xpusetup.system.memory import read_limit, read_processors
from xpusetup.system.process import run_process

# The places that a build writes to: what is free, what a quota leaves, and on which file system they lie.


TIMEOUT_S = 3.0
"""Seconds that a quota may take to be asked for: a server that does not answer must not hold anybody up."""
COUNTING = 10.0
"""Seconds that may be spent on counting what an earlier build left."""
KIB = 1024
ROW = re.compile(
    r"^\s*(?P<filesystem>\S+)"
    r"\s+\[?(?P<used>\d+)\]?\*?\s+(?P<soft>\d+)\s+(?P<hard>\d+)\s+\S+"
    r"\s+\[?(?P<files>\d+)\]?\*?\s+(?P<soft_files>\d+)\s+(?P<hard_files>\d+)",
    re.MULTILINE,
)
"""A line of quota(1) and of lfs-quota(1): both print blocks of 1 KiB, then files; `*` marks what is over its quota, and
brackets what is not known for sure. lfs puts a long name on a line of its own; quota leaves columns out without -p."""


@dataclass(frozen=True)
class Mount:
    """A line of /proc/self/mounts."""

    source: str
    point: str
    filesystem: str


@dataclass(frozen=True)
class Allowance:
    """What a quota leaves: bytes and files; None where there is no limit."""

    source: str
    free: int | None
    files: int | None


def probe_disks(places: Mapping[Path, Sequence[Held]], mounts_text: str) -> list[DiskPlace]:
    """Probe the places of a build, and where temporary files and caches go if that is another file system."""
    mounts = parse_mounts(mounts_text)
    quotas = _ask_quota()
    disks = [_probe_disk(place, held, mounts, quotas) for place, held in places.items()]
    seen = {_device(place) for place in places}
    for held, place in _side_places():
        if places and _device(place) not in seen:
            disks.append(_probe_disk(place, [held], mounts, quotas))
    return disks


def parse_mounts(text: str) -> list[Mount]:
    """Read /proc/self/mounts, in which a space of a name is written in octal."""
    rows = (line.split() for line in text.splitlines())
    return [Mount(_unescape(row[0]), _unescape(row[1]), row[2]) for row in rows if len(row) > 3]  # noqa: PLR2004


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def find_mount(path: Path, mounts: Iterable[Mount]) -> Mount | None:
    """Give the mount that a folder lies on: the longest that holds it, of several at one point the last."""
    holding = [mount for mount in mounts if path == Path(mount.point) or Path(mount.point) in path.parents]
    return max(reversed(holding), key=lambda mount: len(mount.point), default=None)


def parse_quota(text: str) -> list[Allowance]:
    """Read what quota or lfs quota prints. The soft limit counts only where there is no hard one."""
    return [
        Allowance(
            row["filesystem"],
            _left(row["used"], row["soft"], row["hard"], KIB),
            _left(row["files"], row["soft_files"], row["hard_files"], 1),
        )
        for row in ROW.finditer(text)
    ]


def _left(used: str, soft: str, hard: str, unit: int) -> int | None:
    limit = int(hard) or int(soft)
    return max(0, limit - int(used)) * unit if limit else None


def _ask_quota() -> list[Allowance]:
    if shutil.which("quota") is None:
        return []
    output = run_process(("quota", "-w", "-p", "-u"), seconds=TIMEOUT_S)  # it ends with 1 for one who is over a limit
    return parse_quota(output.out)


def _ask_lustre(there: Path, mount: Mount) -> list[Allowance]:
    if mount.filesystem != "lustre" or shutil.which("lfs") is None:
        return []
    owners = (("-u", str(os.getuid())), ("-g", str(there.stat().st_gid)))
    return [
        allowance
        for owner in owners
        for allowance in parse_quota(run_process(("lfs", "quota", "-q", *owner, mount.point), seconds=TIMEOUT_S).out)
    ]


def _probe_disk(place: Path, held: Sequence[Held], mounts: list[Mount], quotas: list[Allowance]) -> DiskPlace:
    there = _existing(place)
    usage, status = psutil.disk_usage(str(there)), os.statvfs(there)
    mount = find_mount(there.resolve(), mounts)
    own = [each for each in quotas if mount and each.source in (mount.source, mount.point)]
    own += _ask_lustre(there, mount) if mount else []
    inodes = [status.f_favail] if status.f_files else []  # btrfs and others count none
    return DiskPlace(
        path=str(place),
        free=usage.free,
        total=usage.total,
        writable=os.access(there, os.W_OK),
        holds=list(held),
        read_only=bool(status.f_flag & os.ST_RDONLY),
        filesystem=mount.filesystem if mount else None,
        mount=mount.point if mount else None,
        quota_free=min((each.free for each in own if each.free is not None), default=None),
        inodes_free=min([*inodes, *(each.files for each in own if each.files is not None)], default=None),
        used=_count(place) if "sources" in held else None,
    )


def _existing(place: Path) -> Path:
    return next(folder for folder in (place, *place.parents) if folder.exists())


def _device(place: Path) -> int:
    return _existing(place).stat().st_dev


def _count(place: Path) -> int | None:
    """Count what an earlier build left there, which the next one need not write again."""
    if not place.exists():
        return 0
    output = run_process(("du", "-s", "-k", "-x", str(place)), seconds=COUNTING)
    with suppress(ValueError, IndexError):
        return int(output.out.split()[0]) * KIB
    return None


def _side_places() -> Iterator[tuple[Held, Path]]:
    yield "temporary", Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - where tempfile and compilers go
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    yield "cache", Path(os.environ.get("PIP_CACHE_DIR") or cache)


# The operating system, who asks, and what a build may use of the machine.


OWNERS = ("render", "video", "HwHiAiUser")
"""Groups that own devices."""


def read_machine() -> str:
    return platform.machine()


def probe_system(sysroot: Sysroot) -> System:
    import distro  # noqa: PLC0415 - a build in which no step runs has no need of it

    info = distro.LinuxDistribution(root_dir=sysroot.text or None) if sysroot.text else distro
    like = (info.like() or "").split()
    user = _user_name()
    named, joined = _groups(sysroot, user)
    return System(
        name=info.name(pretty=True) or "Linux",
        families=[info.id() or "linux", *like],
        version=info.version() or None,
        kernel=(sysroot.read("/proc/sys/kernel/osrelease") or platform.release()).strip(),
        machine=read_machine(),
        user=user,
        uid=os.getuid(),
        groups=sorted({os.getgid(), *os.getgroups()}),
        joined=joined,
        named=named,
    )


def read_families() -> list[str]:
    """Give this distribution's name and those of what it is made from, as os-release has them."""
    import distro  # noqa: PLC0415 - a build in which no step fails has no need of it

    return [distro.id() or "linux", *distro.like().split()]


def _user_name() -> str:
    import pwd  # noqa: PLC0415 - absent from some static interpreters

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's numeric user
        return str(os.getuid())


def _groups(sysroot: Sysroot, user: str) -> tuple[dict[str, int], list[int]]:
    named: dict[str, int] = {}
    joined: list[int] = []
    for line in (sysroot.read("/etc/group") or "").splitlines():
        name, _, gid, members = [*line.split(":"), "", "", ""][:4]
        if gid.isdecimal():
            named |= {name: int(gid)} if name in OWNERS else {}
            joined += [int(gid)] if user in members.split(",") else []
    return named, joined


def probe_resources(sysroot: Sysroot, places: Mapping[Path, Sequence[Held]]) -> Resources:
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    return Resources(
        cpus=len(os.sched_getaffinity(0)),
        cpu_limit=read_processors(sysroot),
        memory=memory.total,
        memory_available=memory.available,
        memory_limit=read_limit(sysroot),
        swap=swap.total,
        disks=probe_disks(places, sysroot.read("/proc/self/mounts") or ""),
    )
