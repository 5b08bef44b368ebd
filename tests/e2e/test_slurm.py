"""Slurm for real: an array builds two sets of flags, verification waits for it, what was killed goes on."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.cluster import start_cluster
from e2e.support import CHECKOUT, PROFILE, Said, caller, make_tiny, wait_until, xpusetup
from xpusetup.system.files import hash_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.cluster import Cluster
    from e2e.support import Tiny

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("slurm")]

SITE = """
[scheduler]
gpu_partition = "gpu"
gres = "gpu:xpu:1"
cpus = 1
memory_gib = 1
verify_cpus = 1
verify_memory_gib = 1
scratch = "{folder}/node/$SLURM_JOB_NAME"
nodes = 1
"""
SETUP = """
import os, time
from pathlib import Path
from setuptools import Extension, setup
flags = os.environ["TINY_FLAGS"]
here = Path("{folder}")
with (here / f"began.{{flags}}").open("a") as stream:
    stream.write(os.getcwd() + "\\n")
while (here / "hold").exists():
    time.sleep(0.05)
macros = [("FLAGS", f'"{{flags}}"')]
setup(name="tiny", version="1.0", ext_modules=[Extension("tiny", ["tiny.c"], define_macros=macros)])
"""
SOURCE = """
#include <Python.h>
static PyObject *flags(PyObject *self, PyObject *none) { return PyUnicode_FromString(FLAGS); }
static PyMethodDef methods[] = {{"flags", flags, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "tiny", "", -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_tiny(void) { return PyModule_Create(&module); }
"""
FLAGS = ("one", "two")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with start_cluster(tmp_path_factory.mktemp("slurm")) as started:
        yield started


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    made = make_tiny(tmp_path / "tiny", setup_py=SETUP.format(folder=tmp_path), tiny_c=SOURCE)
    for flags in FLAGS:
        text = PROFILE.format(rev=made.rev) + f'environment.TINY_FLAGS = "{flags}"\n'
        (tmp_path / f"{flags}.toml").write_text(text)
    config = Path(made.env["HOME"]) / ".config/xpusetup"
    config.mkdir(parents=True)
    (config / "site.toml").write_text(SITE.format(folder=tmp_path))
    (tmp_path / "hold").touch()
    return replace(made, env={**made.env, "CCACHE_DISABLE": "1"})


def bash(folder: Path, *words: str, env: dict[str, str]) -> Said:
    done = subprocess.run(("bash", *words), cwd=folder, env=env, check=False, capture_output=True, text=True)
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.long
def test_array(cluster: Cluster, tiny: Tiny, tmp_path: Path) -> None:
    out, env = tmp_path / "out", {**tiny.env, **cluster.env}
    words = [word for flags in FLAGS for word in ("--profile", str(tmp_path / f"{flags}.toml"))]
    emitted = xpusetup("emit", "slurm", *words, "-o", str(out), "--json", env=tiny.env)
    assert str(out / "build.sbatch") in emitted.result["files"]
    assert "was not fetched" in bash(out, "submit.sh", env=env).err
    fetched = bash(out, "fetch.sh", env=env)
    assert fetched.code == 0, fetched.err
    offline = {name: text for name, text in env.items() if not name.startswith(("PIP_", "UV_", "GIT_"))}

    submitted = bash(out, "submit.sh", env={**offline, "PIP_INDEX_URL": "https://nowhere.invalid/simple"})
    assert submitted.code == 0, submitted.err
    marks = [tmp_path / "began.one", tmp_path / "began.two"]
    wait_until(lambda: all(mark.exists() for mark in marks), seconds=60)
    killed, other = FLAGS
    job = re.findall(r"builds (\d+)", submitted.out)[0]
    cluster.call("scancel", f"{job}_0")
    wait_until(lambda: f"{job}_0" not in cluster.call("squeue", "--noheader", "--format=%i"))
    (tmp_path / "hold").unlink()
    cluster.wait()
    rows = rows_of(out, tiny)
    assert (rows[killed]["wheels"], len(rows[other]["wheels"])) == ([], 1)
    assert rows[other]["failed"] == "verify.smoke"  # it came to that: there is no torch to verify
    assert "No module named 'torch'" in (out / f"{other}/logs/verify.smoke.log").read_text()
    assert not (out / f"{killed}/logs/verify.smoke.log").exists()
    assert (out / f"{killed}/src/tiny").is_dir()
    assert not (out / f"{other}/src/tiny/build").exists(), "it was not compiled on the node's own disk"

    before = {path.name: path.stat().st_mtime_ns for path in (out / f"{killed}/stamps").iterdir()}
    assert bash(out, "submit.sh", killed, env=offline).code == 0
    cluster.wait()
    after = {path.name: path.stat().st_mtime_ns for path in (out / f"{killed}/stamps").iterdir()}
    assert {name: after[name] for name in before} == before
    assert len(marks[0].read_text().splitlines()) + len(marks[1].read_text().splitlines()) == 3
    for flags in FLAGS:
        python = out / f"{flags}/venv/bin/python"
        said = subprocess.run((python, "-c", "import tiny; print(tiny.flags())"), check=True, capture_output=True)
        assert said.stdout.decode().strip() == flags
        assert list((out / f"results/{flags}").glob("tiny-1.0-*.whl"))
    ended = cluster.ended()
    verified = [row for row in ended.values() if row["Name"] == "verify" and row["JobState"] == "FAILED"]
    built = [row for row in ended.values() if row["Name"] == "build" and row["JobState"] == "COMPLETED"]
    assert len(verified) == len(built) == 2
    assert min(row["StartTime"] for row in verified) >= min(row["EndTime"] for row in built)
    assert not list((tmp_path / "node/build").iterdir())


def rows_of(out: Path, tiny: Tiny) -> dict[str, dict[str, Any]]:
    said = xpusetup("status", "--root", str(out), "--json", env=tiny.env)
    return {row["name"]: row for row in said.document["result"]["builds"]}


def test_a_cluster_without_so_many_nodes(cluster: Cluster, tiny: Tiny, tmp_path: Path) -> None:
    out, env = tmp_path / "out", {**tiny.env, **cluster.env}
    site = Path(tiny.env["HOME"]) / ".config/xpusetup/site.toml"
    site.write_text(site.read_text().replace("nodes = 1", "nodes = 2"))
    assert xpusetup("emit", "slurm", "--profile", str(tmp_path / "one.toml"), "-o", str(out), env=tiny.env).code == 0
    assert bash(out, "fetch.sh", env=env).code == 0
    submitted = bash(out, "submit.sh", env=env)
    assert (submitted.code, submitted.out) == (3, "")
    assert cluster.call("squeue", "--noheader") == ""
    assert "nothing was submitted, for no job over 2 nodes can begin: " in submitted.err
    assert "Requested node configuration is not available" in submitted.err


def test_no_scheduler(tiny: Tiny, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--profile", str(tiny.profile), "--verify", "off", "-o", str(out))
    assert xpusetup("emit", "slurm", *words, env=tiny.env).code == 0
    assert not (out / "verify.sbatch").exists()
    digest = subprocess.check_output(("sha256sum",), input=(out / "tiny/fetch.sh").read_bytes())
    (out / "tiny/fetched").write_bytes(digest)
    (tmp_path / "bin").mkdir()
    for name in ("bash", "cat", "dirname", "sha256sum"):
        (tmp_path / "bin" / name).symlink_to(Path("/usr/bin") / name)
    said = bash(out, "submit.sh", env={"PATH": str(tmp_path / "bin")})
    assert (said.code, "there is no sbatch here" in said.err) == (3, True)
    for name, told in {"sbatch": "", "sinfo": "echo slurm_load_partitions: no contact >&2; exit 1"}.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{told}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    said = bash(out, "submit.sh", env={"PATH": str(tmp_path / "bin")})
    assert (said.code, said.out) == (3, "")
    assert "nothing was submitted, for Slurm does not answer: slurm_load_partitions: no contact" in said.err
    assert not (out / "logs").exists()


@pytest.mark.long
def test_simulated_accelerator(cluster: Cluster, tmp_path: Path) -> None:
    home = tmp_path / "home"
    env = caller(home)
    (home / ".config/xpusetup").mkdir(parents=True)
    (home / ".config/xpusetup/site.toml").write_text(SITE.format(folder=tmp_path).replace("gib = 1", "gib = 2"))
    sim = (CHECKOUT / "profiles/sim.toml").read_text()
    for flags in FLAGS:
        (tmp_path / f"{flags}.toml").write_text(f'{sim}environment.CXXFLAGS = "-DFLAGS_{flags}"\n')
    words = [word for flags in FLAGS for word in ("--profile", str(tmp_path / f"{flags}.toml"))]
    out = tmp_path / "out"
    assert xpusetup("emit", "slurm", *words, "-o", str(out), env=env).code == 0
    assert bash(out, "fetch.sh", env=env).code == 0
    assert bash(out, "submit.sh", env={**env, **cluster.env}).code == 0
    cluster.wait(seconds=3600)
    rows = xpusetup("status", "--root", str(out), "--json", env=env).result["builds"]
    assert [(row["name"], row["verified"], row["done"]) for row in rows] == [(each, True, 10) for each in FLAGS]


@pytest.mark.long
def test_same_result_as_every_other_way(cluster: Cluster, tmp_path: Path) -> None:
    tiny = make_tiny(tmp_path / "tiny")
    (home := Path(tiny.env["HOME"]) / ".config/xpusetup").mkdir(parents=True)
    (home / "site.toml").write_text(SITE.format(folder=tmp_path))
    words = ("--profile", str(tiny.profile), "--verify", "off")
    env = {**tiny.env, **cluster.env, "CCACHE_DISABLE": "1"}
    hashes, failures = {}, {}
    for fault in ((), ("--set", "tiny.TINY_FAIL=no such thing")):
        name = "bad" if fault else "good"
        runner, shell, slurm = (tmp_path / f"{name}-{each}" for each in ("runner", "shell", "slurm"))
        built = xpusetup("build", *words, *fault, "--root", str(runner), "--launcher", "none", env=env)
        assert xpusetup("emit", "shell", *words, *fault, "-o", str(shell), env=env).code == 0
        assert xpusetup("emit", "slurm", *words, *fault, "-o", str(slurm), env=env).code == 0
        by_hand = bash(shell, "build.sh", env=env)
        assert bash(slurm, "fetch.sh", env=env).code == bash(slurm, "submit.sh", env=env).code == 0
        cluster.wait()
        assert built.code == by_hand.code == bool(fault)
        roots = (runner, shell, slurm / "tiny")
        hashes[name] = [hash_file(path) for root in roots for path in root.glob("wheels/*.whl")]
        failures[name] = ["no such thing" in (root / "logs/tiny.build.log").read_text() for root in roots]
    assert (len(hashes["good"]), len(set(hashes["good"])), hashes["bad"]) == (3, 1, [])
    assert failures == {"good": [False] * 3, "bad": [True] * 3}
    assert (tmp_path / "bad-slurm/tiny/failed").read_text() == "tiny.build\n"
