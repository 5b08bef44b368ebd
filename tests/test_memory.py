"""Memory as a build may use it: of the machine, of a container, of a batch job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.system.files import Sysroot
from xpusetup.system.memory import Memory, read_kills, read_limit, read_memory, read_pressure, read_processors

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
MEMINFO = "MemTotal:       65536 kB\nMemFree:  1 kB\nMemAvailable:   16384 kB\nHugePages_Total:       0\n"


def write(root: Path, **files: str) -> Sysroot:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Sysroot(str(root))


def group(root: Path, name: str, *, limit: str, used: int, cached: int = 0) -> None:
    folder = root / f"sys/fs/cgroup{name}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {cached}\n")


def test_how_many_the_kernel_killed(tmp_path: Path) -> None:
    assert read_kills(write(tmp_path, proc__vmstat="nr_free_pages 1\noom_kill 7\noom_killed 9\n")) == 7
    assert read_kills(write(tmp_path, proc__vmstat="nr_free_pages 1\n")) is None
    assert read_kills(Sysroot(str(tmp_path / "none"))) is None


def test_a_machine(tmp_path: Path) -> None:
    assert read_memory(write(tmp_path, proc__meminfo=MEMINFO)) == Memory(48 * MIB, 64 * MIB)


def test_a_container(tmp_path: Path) -> None:
    sysroot = write(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="0::/\n")
    group(tmp_path, "", limit=str(32 * MIB), used=20 * MIB, cached=5 * MIB)
    assert read_memory(sysroot) == Memory(15 * MIB, 32 * MIB)


def test_a_batch_job_has_its_limit_some_levels_up(tmp_path: Path) -> None:
    sysroot = write(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="0::/slurm/job_7/step_0\n")
    group(tmp_path, "/slurm/job_7/step_0", limit="max", used=MIB)
    group(tmp_path, "/slurm/job_7", limit=str(8 * MIB), used=6 * MIB)
    group(tmp_path, "/slurm", limit=str(60 * MIB), used=30 * MIB)
    assert read_memory(sysroot) == Memory(6 * MIB, 8 * MIB)


def test_a_limit_above_the_machine_is_none(tmp_path: Path) -> None:
    sysroot = write(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="0::/\n")
    group(tmp_path, "", limit=str(128 * MIB), used=MIB)
    assert read_memory(sysroot) == Memory(48 * MIB, 64 * MIB)


def test_a_kernel_that_says_nothing(tmp_path: Path) -> None:
    assert read_memory(Sysroot(str(tmp_path))) is None
    assert read_memory(write(tmp_path, proc__meminfo="MemTotal: 5 kB\n")) is None


def test_a_limit_that_slows_down_is_a_limit(tmp_path: Path) -> None:
    sysroot = write(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="0::/build.slice\n")
    group(tmp_path, "/build.slice", limit=str(32 * MIB), used=20 * MIB)
    (tmp_path / "sys/fs/cgroup/build.slice/memory.high").write_text(f"{24 * MIB}\n")
    assert read_memory(sysroot) == Memory(20 * MIB, 24 * MIB)
    assert read_limit(sysroot) == 24 * MIB


OLDER = "4:memory:/slurm/job_7\n3:cpuacct,cpu:/slurm\n1:name=systemd:/\n0::/\n"


def older(root: Path, name: str, texts: dict[str, int]) -> None:
    folder = root / f"sys/fs/cgroup/{name}"
    folder.mkdir(parents=True, exist_ok=True)
    for file, value in texts.items():
        (folder / file).write_text(f"{value}\n")


def test_version_1(tmp_path: Path) -> None:
    sysroot = write(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup=OLDER)
    older(tmp_path, "memory", {"memory.limit_in_bytes": 2**63 - 4096, "memory.usage_in_bytes": 7})
    older(tmp_path, "memory/slurm/job_7", {"memory.limit_in_bytes": 8 * MIB, "memory.usage_in_bytes": 6 * MIB})
    (tmp_path / "sys/fs/cgroup/memory/slurm/job_7/memory.stat").write_text(f"total_inactive_file {2 * MIB}\n")
    older(tmp_path, "cpu/slurm", {"cpu.cfs_quota_us": 150000, "cpu.cfs_period_us": 100000})
    assert read_memory(sysroot) == Memory(4 * MIB, 8 * MIB)
    assert read_limit(sysroot) == 8 * MIB
    assert read_processors(sysroot) == 1.5


def test_version_1_in_a_container_that_mounts_its_own_group(tmp_path: Path) -> None:
    sysroot = write(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="4:memory:/docker/0123\n0::/docker/0123\n")
    older(tmp_path, "memory", {"memory.limit_in_bytes": 8 * MIB, "memory.usage_in_bytes": 6 * MIB})
    assert read_memory(sysroot) == Memory(6 * MIB, 8 * MIB)


PRESSURE = "some avg10={0} avg60=9.99 avg300=0.00 total=1\nfull avg10=77.00 avg60=0.00 avg300=0.00 total=1\n"


def test_pressure_is_that_of_the_nearest_group_which_counts(tmp_path: Path) -> None:
    assert read_pressure(Sysroot(str(tmp_path))) == 0.0
    sysroot = write(tmp_path, proc__self__cgroup="0::/a/b\n", proc__pressure__memory=PRESSURE.format("1.50"))
    assert read_pressure(sysroot) == 1.5
    folder = tmp_path / "sys/fs/cgroup/a"
    folder.mkdir(parents=True)
    (folder / "memory.pressure").write_text(PRESSURE.format("42.25"))
    assert read_pressure(sysroot) == 42.25
