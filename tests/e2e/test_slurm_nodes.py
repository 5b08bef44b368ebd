"""A job of a real Slurm over two nodes: devices that compute together, a rank that dies, one that hangs."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from e2e.cluster import start_cluster
from e2e.support import wait_until, xpusetup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.cluster import Cluster
    from e2e.fixtures import Demo

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]

NODES = ("n1", "n2")
SITE = """
[scheduler]
gpu_partition = "gpu"
gres = "gpu:xpu:1"
cpus = 1
memory_gib = 1
verify_cpus = 1
verify_memory_gib = 1
"""
TITLES = ["rank 0 on n1", "rank 1 on n2", "nodes compute together"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with start_cluster(tmp_path_factory.mktemp("nodes"), NODES) as started:
        yield started


@pytest.fixture
def out(demo: Demo, tmp_path: Path) -> Path:
    """Give the folder of a cluster whose one cell is built and verified: by `make demo`."""
    config = Path(demo.env["HOME"]) / ".config/xpusetup"
    config.mkdir(parents=True, exist_ok=True)
    (config / "site.toml").write_text(SITE)
    folder = tmp_path / "out"
    assert xpusetup("emit", "slurm", "--profile", "sim", "-o", str(folder), env=demo.env).code == 0
    (config / "site.toml").unlink()
    (folder / "sim/venv").symlink_to(demo.root / "venv")
    shutil.copytree(demo.root / "stamps", folder / "sim/stamps")
    (folder / "logs").mkdir()
    return folder


def submit(cluster: Cluster, demo: Demo, out: Path, **more: str) -> str:
    """Submit as submit.sh does, in the folder; give the job's number."""
    line = f"cd {shlex.quote(str(out))} && sbatch --parsable nodes.sbatch"
    return cluster.call("bash", "-c", line, **demo.env, **more).strip()


def document_of(out: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give what was collected of the job: the whole document, and its checks by title."""
    document = json.loads((out / "results/sim/verify.nodes.json").read_text())
    return document, {one["title"]: one for one in document["checks"]}


def test_two_nodes_compute_together(cluster: Cluster, demo: Demo, out: Path) -> None:
    job = submit(cluster, demo, out)
    cluster.wait()
    log = (out / "sim/logs/verify.nodes.log").read_text()
    assert cluster.ended()[job]["JobState"] == "COMPLETED", log
    document, checks = document_of(out)
    assert (document["verified"], list(checks)) == (True, TITLES)
    seen = "over simccl: all_reduce (exact), all_gather (exact), broadcast (exact), a step of DistributedDataParallel"
    assert all(checks[title]["seen"].startswith(seen) for title in TITLES[:2])
    assert checks[TITLES[2]]["seen"] == "2 ranks on 2 nodes: n1, n2"
    assert (out / "sim/stamps/verify.nodes").exists()
    assert not list((out / "sim/logs").glob("ranks-*"))
    rows = xpusetup("status", "--root", str(out), "--json", env=demo.env).result["builds"]
    assert [(row["name"], row["failed"]) for row in rows] == [("sim", None)]


def find_rank(number: int) -> psutil.Process:
    """Find the python of a rank by what srun told it."""
    return next(one for one in psutil.process_iter() if is_rank(one, number))


def is_rank(process: psutil.Process, number: int) -> bool:
    with suppress(psutil.Error):
        named = any(word.endswith("/collective_rank.py") for word in process.cmdline())
        return named and process.environ().get("SLURM_PROCID") == str(number)
    return False


def test_a_rank_that_dies_is_named(cluster: Cluster, demo: Demo, out: Path) -> None:
    job = submit(cluster, demo, out, SIMXPU_FAULT="collective-hang")
    said = "events.1"
    wait_until(
        lambda: any('"all_reduce"' in one.read_text() for one in out.glob(f"sim/logs/ranks-*/{said}")), seconds=300
    )
    find_rank(1).send_signal(signal.SIGKILL)
    cluster.wait()
    assert cluster.ended()[job]["JobState"] == "FAILED"
    document, checks = document_of(out)
    lost, died, both = (checks[title] for title in TITLES)
    assert document["verified"] is False
    assert (died["level"], died["seen"]) == ("crash", "its process ended at all_reduce without a word")
    assert (lost["level"], lost["caused_by"]) == ("fail", "collectives.rank_1")
    assert (both["level"], both["seen"]) == ("fail", f"rank 1 on n2: {died['seen']}")
    assert (out / "sim/failed").read_text() == "verify.nodes\n"
    rows = xpusetup("status", "--root", str(out), "--json", env=demo.env)
    assert (rows.code, [row["failed"] for row in rows.document["result"]["builds"]]) == (1, ["verify.nodes"])


@pytest.mark.long
def test_a_rank_that_hangs_is_named(cluster: Cluster, demo: Demo, out: Path) -> None:
    submit(cluster, demo, out, SIMXPU_FAULT="collective-hang")
    cluster.wait(seconds=600)
    document, checks = document_of(out)
    assert document["verified"] is False
    assert checks[TITLES[1]]["level"] == "crash"
    seen = checks[TITLES[1]]["seen"]
    assert seen.startswith("no answer within 60 s at all_reduce, ")
    assert "simxpu/collectives.py" in seen
