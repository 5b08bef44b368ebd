"""What a build takes: room, memory, the network, and the tree in which this was started."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from xpusetup.base.model import Goal, Level
from xpusetup.doctor.question import CheckAnswer, Question, intel_gpus, numbers
from xpusetup.machine.facts import DiskPlace, Held
from xpusetup.machine.jobs import GIB, choose_jobs, memory_limit
from xpusetup.machine.works import cut_off, find_mirrors

# The network as git and pip will use it.


def check_reach(question: Question) -> CheckAnswer | None:
    network = question.facts.network
    if why := cut_off(question.facts):
        return _unreached(question, why, question.profile.git_hosts, "")
    return CheckAnswer("ok", ", ".join(network.reach)) if network and network.reach else None


def check_downloads(question: Question) -> CheckAnswer | None:
    """Say whether what is installed can be fetched, where nothing is built and no torch is here that serves."""
    network, profile = question.facts.network, question.profile
    if network is None or _serves(question) or (profile.published is None and profile.installer is None):
        return None
    if not (why := cut_off(question.facts, question.profile.git_hosts)):
        untried = network.reach is None and bool(intel_gpus(question))
        return CheckAnswer("unknown", "not tried: xpusetup doctor --only net.wheels_reach") if untried else None
    found = _unreached(question, why, (), " --from wheels")
    return found if profile.installer is None else replace(found, words=BY_ITS_MAKER)


BY_ITS_MAKER = {
    "means": "The maker's installer fetches what it installs",
    "mend": "No bundle can carry it: take its maker's container image, or name a proxy (https_proxy).",
    "commands": "",
}


def _serves(question: Question) -> bool:
    """Say whether a torch is here that computes on what is here, so that none has to be fetched."""
    torch = question.facts.torch
    return torch is not None and torch.version is not None and (bool(torch.xpu) or not intel_gpus(question))


def _unreached(question: Question, why: str, hosts: Collection[str], options: str) -> CheckAnswer:
    mirrors = find_mirrors(question.facts, hosts)
    seen = f"{why}; all has to come from {', '.join(mirrors)}" if mirrors else why
    return CheckAnswer("warn" if mirrors else "fail", seen, words=_bundle(question, options))


def _bundle(question: Question, options: str) -> dict[str, str]:
    name = question.profile.name
    return {"create": f"xpusetup bundle create {name}.tar --profile {name}{options}", "bundle": f"{name}.tar"}


def check_proxy(question: Question) -> CheckAnswer | None:
    """Look for a proxy that only some programs would take."""
    network = question.facts.network
    if network is None:
        return None
    proxies = network.proxies
    if not {name.lower() for name in proxies} - {"no_proxy"}:
        return None
    if "http_proxy" not in proxies and "https_proxy" not in proxies and "all_proxy" not in proxies:
        return CheckAnswer("warn", f"set in capital letters alone: {', '.join(proxies)}")
    if ("http_proxy" in proxies or "HTTP_PROXY" in proxies) and not {"https_proxy", "HTTPS_PROXY"} & set(proxies):
        return CheckAnswer("warn", "set for http and not for https")
    return CheckAnswer("info", ", ".join(proxies))


def check_credentials(question: Question) -> CheckAnswer | None:
    network = question.facts.network
    if network is None:
        return None
    there = network.credentials
    return CheckAnswer("info", ", ".join(there)) if there else None


def check_redirects(question: Question) -> CheckAnswer | None:
    """Say where git and pip go instead of the addresses that are written in profiles."""
    network = question.facts.network
    if network is None:
        return None
    gits = [f"{old} is {new}" for new, old in network.redirects.items()]
    pips = [f"{name.rpartition('/')[2]} = {value}" for name, value in network.indexes.items()]
    return CheckAnswer("info", ", ".join([*gits, *pips])) if gits or pips else None


# A source tree that someone else fetched: the one in which this was started.


LAST_WITH_NAMES, FIRST_WITHOUT_INSTALL = (2, 4), (2, 9)
NUMBER = re.compile(r"\d+\.\d+")
LEAST_GCC = (7, 4)
"""What oneDNN wants of a host compiler; its file cmake/host_compiler_id.cmake, mended in 3.4.4 and 3.5.2."""


def check_cmake_cache(question: Question) -> CheckAnswer | None:
    """Look for a build folder that was configured for another place."""
    tree = question.facts.tree
    if tree is None or tree.cache is None:
        return None
    home = tree.cache.get("CMAKE_HOME_DIRECTORY", tree.path)
    if home != tree.path:
        return CheckAnswer("warn", f"{tree.path}/build was configured for {home}", {"tree": tree.path})
    return CheckAnswer("ok", "of this folder")


def check_folder_name(question: Question) -> CheckAnswer | None:
    """Look for a folder's name at which the configuration of old releases fails."""
    tree = question.facts.tree
    if tree is None:
        return None
    old = tree.version is None or numbers(tree.version) <= LAST_WITH_NAMES
    return CheckAnswer("warn" if old and _taken_for_gcc(tree.path) else "ok", tree.path)


def check_path(question: Question) -> CheckAnswer | None:
    """Look for a number in the path of the sources that an old oneDNN takes for the version of GCC."""
    resources = question.facts.resources
    if not question.profile.plain_path or resources is None or question.goal == "run":
        return None
    places = [disk.path for disk in resources.disks if "sources" in disk.holds]
    bad = [(place, found) for place in places if (found := _taken_for_gcc(place))]
    words = {"profile": question.profile.name}
    if bad:
        return CheckAnswer("fail", f"{bad[0][0]} holds {bad[0][1]}", words)
    return CheckAnswer("ok", ", ".join(places), words) if places else None


def _taken_for_gcc(path: str) -> str:
    """Give the number that stands for a GCC that is too old; nothing where none does."""
    found = NUMBER.search(path)
    return found[0] if found and numbers(found[0]) < LEAST_GCC else ""


def check_shadow(question: Question) -> CheckAnswer | None:
    """Look whether the current folder's torch hides the one that is installed."""
    tree = question.facts.tree
    return CheckAnswer("warn", tree.path) if tree is not None and tree.in_use else None


def check_frontend(question: Question) -> CheckAnswer | None:
    tree = question.facts.tree
    if tree is None or tree.version is None or numbers(tree.version) < FIRST_WITHOUT_INSTALL:
        return None
    return CheckAnswer("info", f"{tree.path} is {tree.version}")


def check_submodules(question: Question) -> CheckAnswer | None:
    tree = question.facts.tree
    if tree is None or not tree.git:
        return None
    if tree.submodules:
        return CheckAnswer(
            "warn", f"{len(tree.submodules)} are empty, the first: {tree.submodules[0]}", {"tree": tree.path}
        )
    return CheckAnswer("ok", "complete")


def check_tarball(question: Question) -> CheckAnswer | None:
    """Look for a tree that has no history to fetch submodules from."""
    tree = question.facts.tree
    return CheckAnswer("warn", f"{tree.path} has no .git") if tree is not None and not tree.git else None


# FreeSpace for a build: bytes, quotas and files of every place it writes to, and what kind of file system that is.

SHARES: dict[Goal, dict[Held, float]] = {
    "build": {"sources": 0.8, "environment": 0.1, "wheels": 0.1},
    "run": {"sources": 0.0, "environment": 0.6, "wheels": 0.4},
}
"""How what a release needs is spread over its places: an estimate. Of a build, objects and sources are most."""
SIDE_GIB, SIDE_SHARE = 4.0, 0.25
"""What pip unpacks and caches beside it, at most, and of all that is needed: an estimate."""
WHEELS_GIB = [4.0, 8.0]
"""What wheels for XPU and what they require take: a guess from downloads of 1.6 to 1.8 GB, which are unpacked.

https://github.com/pytorch/test-infra/pull/6612, https://github.com/intel/torch-xpu-ops/issues/2745
"""
FEWEST_FILES = 20_000
"""An environment with a torch in it has about as many files."""
MIB = 1 << 20
OF_THE_KERNEL = {"proc", "sysfs", "cgroup2", "devpts"}
"""File systems in which nobody makes a folder."""
NETWORK = {
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "beegfs",
    "cifs",
    "smb3",
    "ceph",
    "panfs",
    "9p",
    "afs",
    "wekafs",
    "glusterfs",
}


def check_wheels_disk(question: Question) -> CheckAnswer | None:
    published = question.profile.published
    ours = published is not None and any(pin.startswith("torch==") and "+xpu" in pin for pin in published.wheels)
    return _judge_disks(question, WHEELS_GIB, guess=True) if ours and not _serves(question) else None


def check_disk(question: Question) -> CheckAnswer | None:
    """Look for room where the build writes; how much a release needs is often not known."""
    cost = question.profile.cost
    if question.goal == "run":
        return None
    return _judge_disks(question, cost.disk_gib if cost else None, guess=bool(cost and cost.confidence != "confirmed"))


def _judge_disks(question: Question, gib: list[float] | None, *, guess: bool) -> CheckAnswer | None:
    """Judge each place that is written to; `gib`: the least and the most that is needed in all."""
    resources = question.facts.resources
    if resources is None or not resources.disks:
        return None
    written = [disk for disk in resources.disks if question.goal == "build" or disk.holds != ["sources"]]
    closed = {disk.path: answer for disk in written if (answer := _closed(disk))}
    if failing := next((answer for answer in closed.values() if answer.level == "fail"), None):
        return failing
    told = [disk for disk in written if disk.total]  # /proc, and FUSE that counts nothing, say zero of zero
    disks = [disk for disk in told if disk.path not in closed]
    room = _room(disks, gib, question.goal, ", a guess" if guess else "") if disks else None
    return room if room and room.level == "fail" else next(iter(closed.values()), room)


def _room(disks: list[DiskPlace], gib: list[float] | None, goal: Goal, guess: str) -> CheckAnswer:
    """Hold the tightest file system against its share of what is written: less than the least of it is a fault."""
    least, most = gib or (None, None)
    shares, what = SHARES[goal], {"build": "needed:", "run": "wheels need"}[goal]
    groups = _by_filesystem(disks)
    tightest = min(groups, key=lambda group: _free(group) - _needed(group, least, shares))
    wanted, perhaps, free = _needed(tightest, least, shares), _needed(tightest, most, shares), _free(tightest)
    where = " and ".join(disk.path for disk in tightest)
    told = f"{wanted / GIB:.3g}{f' to {perhaps / GIB:.3g}' if perhaps > wanted else ''} GiB" if gib else "unknown"
    room = f"{free / GIB:.0f} GiB" if free >= GIB else f"{free / MIB:.0f} MiB"
    seen = f"{room} {_whose(tightest)} at {where} ({what} {told}{guess})"
    return CheckAnswer("fail" if free < wanted else "warn" if free < perhaps else "ok", seen)


def check_filesystem(question: Question) -> CheckAnswer | None:
    """Say where compiling will be slow; it is no fault."""
    resources = question.facts.resources
    if resources is None or not resources.disks or question.goal == "run":
        return None
    disk = next((each for each in resources.disks if "sources" in each.holds), resources.disks[0])
    kind = disk.filesystem or "unknown"
    slow = kind in NETWORK or kind.startswith("fuse.")
    return CheckAnswer("info" if slow else "ok", f"{kind} at {disk.path}")


def _closed(disk: DiskPlace) -> CheckAnswer | None:
    """Say why nothing can be written to a place. Without its cache pip works, as in a container with a home to read."""
    level: Level = "warn" if disk.holds == ["cache"] else "fail"
    if disk.read_only:
        return CheckAnswer(
            level,
            f"{disk.path} is on a file system that is mounted read-only",
            _elsewhere(disk, "Nothing can be written there"),
        )
    if disk.filesystem in OF_THE_KERNEL:
        return CheckAnswer(
            level,
            f"{disk.path} is on {disk.filesystem}, which holds no files",
            _elsewhere(disk, "Nothing can be written there"),
        )
    if not disk.writable:
        return CheckAnswer(
            level, f"{disk.path} may not be written to", _elsewhere(disk, "Its owner does not let you write there")
        )
    if disk.inodes_free is not None and disk.inodes_free < FEWEST_FILES:
        return CheckAnswer(level, f"{disk.path} has room for {disk.inodes_free} more files, whatever their size")
    return None


def _elsewhere(disk: DiskPlace, means: str) -> dict[str, str]:
    """Give the words of a fix for a place that is closed, whatever room it has: what chooses another one."""
    ways: dict[Held, str] = {"temporary": "TMPDIR=DIR", "cache": "PIP_CACHE_DIR=DIR", "sources": "--build-dir DIR"}
    way = ways.get(disk.holds[0], "--root DIR") if len(disk.holds) == 1 else "--root DIR"
    setting = ", or the site file" if way.startswith("-") else ""
    mend = f"Choose another place: {way}{setting}. What chose this one: `xpusetup plan -v`"
    return {"means": means, "mend": mend, "commands": ""}


def _by_filesystem(disks: list[DiskPlace]) -> list[list[DiskPlace]]:
    groups: dict[str, list[DiskPlace]] = {}
    for disk in disks:
        groups.setdefault(disk.mount or disk.path, []).append(disk)
    return list(groups.values())


def _free(group: list[DiskPlace]) -> int:
    """Give in bytes what may still be written, by disk and quota, and what an earlier build has written already."""
    left = min(disk.free if disk.quota_free is None else min(disk.free, disk.quota_free) for disk in group)
    return left + sum(disk.used or 0 for disk in group)


def _whose(group: list[DiskPlace]) -> str:
    limited = any(disk.quota_free is not None and disk.quota_free < disk.free for disk in group)
    return "left of the quota" if limited else "free"


def _needed(group: list[DiskPlace], gib: float | None, shares: Mapping[Held, float]) -> float:
    """Give what a file system has to hold in bytes: all the shares of the places that lie on it."""
    held = [name for disk in group for name in disk.holds]
    if gib is None:
        return 0.0
    share = sum(shares.get(name, 0.0) for name in held)
    return round(share * gib, 6) * GIB if share else min(SIDE_GIB, SIDE_SHARE * gib) * GIB


# Disk, memory and the limits of a container or batch job.


def check_memory(question: Question) -> CheckAnswer | None:
    """Count jobs by memory; where one alone fits, the heaviest steps may still be killed."""
    resources, each = question.facts.resources, question.profile.memory_per_job_gib
    if resources is None or question.goal == "run":
        return None
    limit, jobs = memory_limit(resources), choose_jobs(resources, each * GIB)
    seen = f"{jobs} job{'' if jobs == 1 else 's'} at {each:g} GiB each, {limit / GIB:.0f} GiB of memory"
    return CheckAnswer("warn" if limit < 2 * each * GIB else "ok", seen)


def check_cgroup(question: Question) -> CheckAnswer | None:
    """Say which limits are in force; they are no fault."""
    resources = question.facts.resources
    if resources is None or question.goal == "run":
        return None
    parts = []
    if resources.memory_limit is not None and resources.memory_limit < resources.memory:
        parts.append(f"memory {resources.memory_limit / GIB:.1f} of {resources.memory / GIB:.0f} GiB")
    if resources.cpu_limit is not None and resources.cpu_limit < resources.cpus:
        parts.append(f"{resources.cpu_limit:g} of {resources.cpus} processors")
    return CheckAnswer("info", ", ".join(parts)) if parts else CheckAnswer("ok", "none below the machine's own")
