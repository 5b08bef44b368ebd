"""A cluster for tests: Slurm's own daemons on private ports and in a private folder, without munge.

Its nodes are this machine, as often as there are nodes.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from e2e.support import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "scancel", "squeue", "sinfo", "scontrol")
NODE = "NodeName={name} NodeHostName={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory=4000 Gres=gpu:xpu:2"
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0,bf_min_age_reserve=0
PriorityType=priority/basic
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.log
ReturnToService=2
MpiDefault=none
KillWait=2
{nodes}
PartitionName=build Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=ALL MaxTime=INFINITE State=UP
"""


@dataclass(frozen=True)
class Cluster:
    """A cluster that answers: its folder, and how its commands find it."""

    folder: Path
    env: dict[str, str]

    def call(self, *argv: str, **more: str) -> str:
        """Run one of Slurm's commands."""
        env = {**os.environ, **self.env, **more}
        done = subprocess.run(argv, env=env, check=True, capture_output=True, text=True)
        return done.stdout

    def ended(self) -> dict[str, dict[str, str]]:
        """Give what is known of the jobs that ended, by their numbers."""
        text = (self.folder / "jobcomp.log").read_text()
        rows = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in text.splitlines()]
        return {row["JobId"]: row for row in rows}

    def wait(self, *, seconds: float = 300) -> None:
        """Wait until no job is left in the queue."""
        wait_until(lambda: not self.call("squeue", "--noheader").strip(), seconds=seconds)


@contextmanager
def start_cluster(folder: Path, names: Sequence[str] = ()) -> Iterator[Cluster]:
    """Start the daemons, and end them by their processes. Without names there is one node.

    Skips where that cannot be.
    """
    if os.geteuid() != 0 or not all(map(shutil.which, PROGRAMS)):
        pytest.skip("needs root, and slurmctld, slurmd and slurm-client from Debian")
    devices = folder / "dri"
    for name in ("state", "spool", "dri"):
        (folder / name).mkdir(parents=True)
    for number in (128, 129):
        (devices / f"renderD{number}").touch()
    host = platform.node().partition(".")[0]
    names = names or (host,)
    ports = free_ports(1 + len(names))
    pairs = zip(names, ports[1:], strict=True)
    nodes = "\n".join(NODE.format(name=name, host=host, port=port, cpus=os.cpu_count()) for name, port in pairs)
    text = CONFIGURATION.format(host=host, folder=folder, ports=ports, nodes=nodes)
    (folder / "slurm.conf").write_text(text)
    gres = (f"NodeName={name} Name=gpu Type=xpu Count=2 File={devices}/renderD12[8-9]\n" for name in names)
    (folder / "gres.conf").write_text("".join(gres))
    cluster = Cluster(folder, {"SLURM_CONF": str(folder / "slurm.conf")})
    with ExitStack() as stack:
        for words in (("slurmctld", "-D", "-c"), *(("slurmd", "-D", "-N", name) for name in names)):
            stack.enter_context(_daemon((*words, "-f", str(folder / "slurm.conf")), folder / f"{words[-1]}.out"))
        wait_until(lambda: _answer(cluster).split() == ["idle"] * len(names), seconds=60)
        try:
            yield cluster
        finally:  # of a test that failed a job may still be at work, and would outlive the daemons
            cluster.call("scancel", "--user=root")
            cluster.wait(seconds=60)


def _answer(cluster: Cluster) -> str:
    env = {**os.environ, **cluster.env}
    argv = ("sinfo", "--noheader", "--Node", "--partition=build", "--format=%T")
    return subprocess.run(argv, env=env, check=False, capture_output=True, text=True).stdout


@contextmanager
def _daemon(argv: tuple[str, ...], log: Path) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=out, env={**os.environ, "SLURM_CONF": argv[-1]})
        try:
            yield
        finally:
            process.kill()  # nothing of it is wanted any more
            process.wait()


def free_ports(count: int) -> list[int]:
    """Give ports of the loopback that nobody listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
