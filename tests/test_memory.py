"""Memory as a build may use it: of the machine, of a container, of a batch job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.effects.memory import Memory, read_memory
from xpusetup.effects.sysroot import Sysroot

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
