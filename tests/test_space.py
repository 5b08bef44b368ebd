"""FreeSpace for a build, before its first byte: several places, quotas, files, and what an earlier build left."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from data.machines import DISK, GIB, machine
from data.profiles import device, shipped
from xpusetup.config.profile import BuildCost
from xpusetup.doctor.question import Question
from xpusetup.doctor.resources import check_disk, check_filesystem
from xpusetup.machine import probe_system as module
from xpusetup.machine.probe_system import Allowance, Mount, find_mount, parse_mounts, parse_quota, probe_disks
from xpusetup.system.process import ProcessOutput

if TYPE_CHECKING:
    from collections.abc import Sequence

HOME = {**DISK, "holds": ["wheels", "environment"], "path": "/home/me/x", "free": 20 * GIB, "quota_free": 5 * GIB}
SCRATCH = {**DISK, "holds": ["sources"], "path": "/scratch/me", "mount": "/scratch", "filesystem": "lustre"}
TMP = {**DISK, "holds": ["temporary"], "path": "/local", "mount": "/local", "free": 3 * GIB}


def ask(*disks: dict[str, Any], needs: float | None = 60.0, most: float = 0.0) -> str:
    told: Any = {"core_hours": [1.0, 2.0], "source": "x", "confidence": "unconfirmed" if most else "confirmed"}
    cost = BuildCost(disk_gib=[needs, most or needs], **told) if needs else None
    profile = replace(shipped("torch-2.14"), cost=cost)
    question = Question(machine(resources={"disks": list(disks)}), profile, device("xpu"), "build")
    answer = check_disk(question)
    assert answer is not None
    return f"{answer.level}: {answer.seen}"


def test_a_guess_is_told_as_one() -> None:
    """`10 GiB` stood there without a source; a build of PyTorch takes more."""
    free = {**DISK, "free": 30 * GIB}
    assert ask(free, needs=15, most=40) == "warn: 30 GiB free at /home/me (needed: 15 to 40 GiB, a guess)"
    assert ask(free, needs=31, most=40) == "fail: 30 GiB free at /home/me (needed: 31 to 40 GiB, a guess)"
    assert ask(free, needs=15, most=30) == "ok: 30 GiB free at /home/me (needed: 15 to 30 GiB, a guess)"


@pytest.mark.parametrize(
    ("disks", "seen"),
    [
        ([DISK], "ok: 500 GiB free at /home/me (needed: 60 GiB)"),
        ([{**DISK, "free": 50 * GIB}], "fail: 50 GiB free at /home/me (needed: 60 GiB)"),
        ([{**DISK, "free": 50 * GIB, "used": 40 * GIB}], "ok: 90 GiB free at /home/me (needed: 60 GiB)"),
        ([{**DISK, "quota_free": 30 * GIB}], "fail: 30 GiB left of the quota at /home/me (needed: 60 GiB)"),
        ([{**DISK, "quota_free": 900 * GIB}], "ok: 500 GiB free at /home/me (needed: 60 GiB)"),
        ([SCRATCH, HOME], "fail: 5 GiB left of the quota at /home/me/x (needed: 12 GiB)"),
        (
            [{**SCRATCH, "free": 40 * GIB}, {**HOME, "quota_free": None}],
            "fail: 40 GiB free at /scratch/me (needed: 48 GiB)",
        ),
        (
            [{**SCRATCH, "free": 50 * GIB}, {**HOME, "mount": "/scratch", "free": 50 * GIB, "quota_free": None}],
            "fail: 50 GiB free at /scratch/me and /home/me/x (needed: 60 GiB)",
        ),
        ([DISK, TMP], "fail: 3 GiB free at /local (needed: 4 GiB)"),
        ([{**DISK, "read_only": True}], "fail: /home/me is on a file system that is mounted read-only"),
        ([DISK, {**TMP, "writable": False}], "fail: /local may not be written to"),
        ([{**DISK, "inodes_free": 900}], "fail: /home/me has room for 900 more files, whatever their size"),
        ([{**DISK, "inodes_free": None, "mount": None}], "ok: 500 GiB free at /home/me (needed: 60 GiB)"),
    ],
)
def test_room(disks: list[dict[str, Any]], seen: str) -> None:
    assert ask(*disks) == seen


def test_each_cause_has_its_own_fix() -> None:
    """Of a folder that is closed nobody needs to free room."""
    told = {name: words(**closed) for name, closed in CLOSED.items()}
    assert len(set(told.values())) == len(CLOSED)
    assert [said for said in told.values() if "room" in said] == []


def words(**disk: Any) -> str:
    question = Question(machine(resources={"disks": [{**DISK, **disk}]}), shipped("sim"), device("simxpu"), "build")
    answer = check_disk(question)
    assert answer is not None
    assert answer.level == "fail"
    return f"{answer.seen} {answer.words['means']} {answer.words['mend']}"


CLOSED: dict[str, dict[str, Any]] = {
    "not yours": {"writable": False},
    "read-only": {"read_only": True},
    "of the kernel": {"filesystem": "proc", "total": 0, "free": 0},
}


def test_a_need_that_nobody_knows_stops_nothing() -> None:
    assert ask({**DISK, "free": 1 * GIB}, needs=None) == "ok: 1 GiB free at /home/me (needed: unknown)"


def test_where_compiling_is_slow() -> None:
    profile = shipped("torch-2.14")
    question = Question(machine(resources={"disks": [HOME, SCRATCH]}), profile, device("xpu"), "build")
    answer = check_filesystem(question)
    assert answer is not None
    assert (answer.level, answer.seen) == ("info", "lustre at /scratch/me")


MOUNTS = """\
/dev/vda / ext4 rw,relatime 0 0
server:/export/home /home nfs4 rw,vers=4.2,addr=10.0.0.1 0 0
tmpfs /local tmpfs rw 0 0
10.1.1.1@o2ib:/lus /scratch/with\\040space lustre rw,flock 0 0
/dev/vdb /local xfs rw 0 0
none
"""


@pytest.mark.parametrize(
    ("path", "mount"),
    [
        ("/home/me", Mount("server:/export/home", "/home", "nfs4")),
        ("/home", Mount("server:/export/home", "/home", "nfs4")),
        ("/homes/me", Mount("/dev/vda", "/", "ext4")),
        ("/scratch/with space/x", Mount("10.1.1.1@o2ib:/lus", "/scratch/with space", "lustre")),
        ("/local/x", Mount("/dev/vdb", "/local", "xfs")),
    ],
)
def test_mounts(path: str, mount: Mount) -> None:
    assert find_mount(Path(path), parse_mounts(MOUNTS)) == mount


def test_no_mounts() -> None:
    assert find_mount(Path("/x"), parse_mounts("")) is None


# quota -w -p -u, as Linux DiskQuota 4.06 prints it (quota.c, main_list): blocks of 1 KiB; with -p a grace that is not
# running is 0 instead of nothing.
QUOTA = """\
Disk quotas for user me (uid 1000):
     Filesystem  blocks   quota   limit raw-grace   files   quota   limit raw-grace
server:/export/home 15728640  18874368 20971520       0  154321       0       0       0
      /dev/vdb 2200000* 2000000       0 1763712000    9000   10000   20000       0
"""
# lfs quota -q -u 1000 /scratch, as in the Lustre manual, "Quota Administration"; a long name has a line of its own.
LUSTRE = """\
       /scratch       0  307200  309200       -       0   10000   11000       -
"""
LUSTRE_LONG = """\
/lustre/project/with/a/long/name
                 [1050000]* 0 1048576       -  120000*      0  100000       -
uid 1000 is using default block quota setting
"""


@pytest.mark.parametrize(
    ("text", "allowances"),
    [
        (QUOTA, [Allowance("server:/export/home", 5 * GIB, None), Allowance("/dev/vdb", 0, 11_000)]),
        (LUSTRE, [Allowance("/scratch", 309_200 * 1024, 11_000)]),
        (LUSTRE_LONG, [Allowance("/lustre/project/with/a/long/name", 0, 0)]),
        ("Disk quotas for user me (uid 1000): none\n", []),
        ("", []),
        ("quota: Cannot open quotafile: Permission denied\n", []),
    ],
)
def test_quotas(text: str, allowances: list[Allowance]) -> None:
    assert parse_quota(text) == allowances


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give what tools print, by name; a tool that prints nothing is not there."""
    said: dict[str, str] = {}

    def run(argv: Sequence[str], **_words: object) -> ProcessOutput:
        return ProcessOutput(0, said[argv[0]], "")

    monkeypatch.setattr(shutil, "which", lambda name: name if name in said else None)
    monkeypatch.setattr(module, "run_process", run)
    return said


def test_a_place_with_its_quota(tmp_path: Path, tools: dict[str, str]) -> None:
    mounts = f"server:/x {tmp_path} nfs4 rw 0 0\n"
    tools["quota"] = "server:/x 1024 0 4096 0 100 0 300 0\n"
    tools["du"] = "2048\t/x\n"
    (disk, *_) = probe_disks({tmp_path / "new": ["wheels"]}, mounts)
    assert (disk.path, disk.filesystem, disk.mount) == (str(tmp_path / "new"), "nfs4", str(tmp_path))
    assert (disk.quota_free, disk.inodes_free, disk.used, disk.writable) == (3072 * 1024, 200, None, True)
    (disk, *_) = probe_disks({tmp_path: ["sources"]}, mounts)
    assert disk.used == 2048 * 1024


def test_lustre_is_asked_for_user_and_group(tmp_path: Path, tools: dict[str, str]) -> None:
    tools["lfs"] = f"{tmp_path} 10 0 30 - 1 0 0 -\n"
    (disk, *_) = probe_disks({tmp_path: ["wheels"]}, f"a@tcp:/lus {tmp_path} lustre rw 0 0\n")
    assert disk.quota_free == 20 * 1024


def test_nothing_is_known_without_tools(tmp_path: Path, tools: dict[str, str]) -> None:
    assert tools == {}
    (disk, *_) = probe_disks({tmp_path: ["wheels"]}, "")
    assert (disk.quota_free, disk.filesystem, disk.mount, disk.read_only) == (None, None, None, False)
    assert disk.free > 0


def test_caches_elsewhere_are_places_too(
    tmp_path: Path, tools: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tools == {}
    monkeypatch.setenv("TMPDIR", "/proc")
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip"))
    held = [(disk.path, disk.holds) for disk in probe_disks({tmp_path: ["wheels"]}, "")]
    assert held == [(str(tmp_path), ["wheels"]), ("/proc", ["temporary"])]
