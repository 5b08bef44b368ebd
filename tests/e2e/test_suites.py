"""Suites that crash, hang, print garbage and fill the disk: each costs its test, and the counts are JUnit's."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from e2e.disks import make_disk
from e2e.support import CHECKOUT, by_name, caller, wait_until, xpusetup

if TYPE_CHECKING:
    from e2e.fixtures import Demo

pytestmark = pytest.mark.e2e

FILES = Path(__file__).parent / "files/suites"
RUNNER = CHECKOUT / "xpusetup/helpers/run_suite.py"
WORKERS = pytest.mark.parametrize("workers", [0, by_name(2)], ids=["alone", "xdist"])


@dataclass(frozen=True)
class Ran:
    """A run of a stand-in suite: its document and where it lies."""

    document: dict[str, Any]
    folder: Path
    said: str

    @property
    def rows(self) -> dict[str, tuple[int, ...]]:
        """Failed, passed, skipped and errors by row."""
        kinds = ("failed", "passed", "skipped", "errors")
        return {row["name"]: tuple(row[kind] for kind in kinds) for row in self.document["suites"]}


def run(source: Path, folder: Path, **order: Any) -> Ran:
    """Run a tree of tests with the python of these tests, which has pytest and pytest-xdist."""
    folder.mkdir(exist_ok=True)
    given = {"suite": "x", "device": "cpu", "places": ["tests"], "seconds": 3, "grace": 30, **order}
    path = folder / "order.json"
    path.write_text(json.dumps({**given, "source": str(source), "folder": str(folder)}))
    done = subprocess.run(
        (sys.executable, "-B", str(RUNNER), str(path)),
        check=False,
        capture_output=True,
        text=True,
        env=caller(folder / "home"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Ran(json.loads((folder / "results.json").read_text()), folder, done.stdout)


def make_tree(folder: Path, **files: str) -> Path:
    """Make a tree of tests from the files of tests/e2e/files/suites, by where they go."""
    for place, name in files.items():
        path = folder / "tests" / place.replace("__", "/") / f"test_{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((FILES / f"{name}.txt").read_text())
    return folder


@WORKERS
def test_what_ends_a_process_costs_its_test(tmp_path: Path, workers: int) -> None:
    source = make_tree(tmp_path / "tree", a="deadly", b="deadly_import")
    (source / "tests/b/test_fine.py").write_text("def test_x(): pass\n")
    ran = run(source, tmp_path / "out", workers=workers)
    assert ran.rows == {"tests/a": (0, 4, 0, 5), "tests/b": (0, 1, 0, 1)}
    crashed = {test.rpartition("::")[2]: why for test, why in ran.document["crashed"].items()}
    assert crashed["test_abort"].startswith("Aborted, at a/test_deadly.py:")
    assert crashed["test_segfault"].startswith("Segmentation fault, at a/test_deadly.py:")
    assert crashed["test_hang"].startswith("no end in time, at a/test_deadly.py:")
    assert {"test_leave", "test_exit"} < set(crashed)
    assert ran.document["crashed"]["tests/b/test_deadly_import.py"].startswith("Aborted, at b/test_deadly_import.py:")
    assert sorted(path.name for path in source.iterdir()) == ["tests"], "the tree stays as it was"
    assert not list(source.rglob("__pycache__"))


def entries(path: Path) -> dict[str, int]:
    """Count a JUnit file's entries by the element that says how each ended, without the code under test."""
    found = {"failed": 0, "passed": 0, "skipped": 0, "errors": 0}
    for case in ET.parse(path).iter("testcase"):  # noqa: S314 - pytest wrote it
        tags = {child.tag for child in case} - {"properties"}
        found["failed" if "failure" in tags else "errors" if "error" in tags else "skipped" if tags else "passed"] += 1
    return found


@WORKERS
def test_counts_are_those_of_junit(tmp_path: Path, workers: int) -> None:
    source = make_tree(tmp_path / "tree", a="outcomes", b="not_importable", c="garbage")
    ran = run(source, tmp_path / "out", workers=workers)
    assert ran.rows == {"tests/a": (5, 8, 3, 4), "tests/b": (0, 0, 0, 1), "tests/c": (1, 1, 0, 0)}
    for row in ("tests.b", "tests.c"):
        failed, passed, skipped, errors = ran.rows[row.replace(".", "/")]
        there = {"failed": failed, "passed": passed, "skipped": skipped, "errors": errors}
        assert entries(ran.folder / f"shards/{row}/1.xml") == there
    seen = entries(ran.folder / "shards/tests.a/1.xml")
    assert seen == {"failed": 5, "passed": 7, "skipped": 4, "errors": 4}, "one test passed, a subtest of it was skipped"
    assert all(row["notes"] == [] for row in ran.document["suites"]), "journal and JUnit agree"
    assert ran.document["tests"]["tests/a/test_outcomes.py::test_subtest_skipped"] == "passed"


def test_what_has_ended_is_not_run_again(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "tree", a="counted", b="counted")
    mark, hold = tmp_path / "ran", tmp_path / "hold"
    hold.touch()
    order = {"environment": {"MARK": str(mark), "HOLD": str(hold)}, "seconds": 120}
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "o.json").write_text(
        json.dumps(
            {"suite": "x", "device": "cpu", "places": ["tests"], "source": str(source), "folder": str(folder), **order}
        )
    )
    runner = (sys.executable, "-B", str(RUNNER), str(folder / "o.json"))
    with subprocess.Popen(
        runner, env=caller(tmp_path / "home"), start_new_session=True, stdout=subprocess.PIPE
    ) as first:
        wait_until(lambda: mark.exists() and mark.read_text().split() == ["a1", "a2", "a3", "b1", "b2"])
        os.kill(first.pid, signal.SIGKILL)
    for path in Path("/proc").glob("[0-9]*/environ"):  # pytest outlives a runner that was killed, and holds its test
        if f"MARK={mark}".encode() in read_quietly(path).split(b"\0"):
            os.kill(int(path.parent.name), signal.SIGKILL)
    hold.unlink()
    ran = run(source, folder, **order)
    assert mark.read_text().split() == ["a1", "a2", "a3", "b1", "b2", "b2", "b3"]
    assert ran.rows == {"tests/a": (0, 3, 0, 0), "tests/b": (0, 3, 0, 0)}
    assert "tests.a: 3 passed (in an earlier run)" in ran.said
    (source / "tests/a/test_counted.py").touch()
    run(source, folder, **order)
    assert mark.read_text().split()[7:] == ["a1", "a2", "a3"], "what was changed is run again"


def read_quietly(path: Path) -> bytes:
    """Read a file of a process that may be gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_full_disk_costs_the_test_that_filled_it(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "tree", a="filling", b="garbage")
    with make_disk(tmp_path / "disk", "64m") as disk:
        ran = run(source, disk.path / "out", reserve=24 << 20, seconds=60)
        assert ran.rows == {"tests/a": (0, 2, 0, 1), "tests/b": (1, 1, 0, 0)}
        (why,) = ran.document["crashed"].values()
        assert re.fullmatch(r"the disk is full: \d+ MiB left", why)


def test_a_conftest_that_cannot_be_loaded_costs_its_folder(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "tree", a="garbage", b="garbage")
    (source / "tests/a/conftest.py").write_text("raise RuntimeError('no driver')\n")
    ran = run(source, tmp_path / "out")
    assert ran.rows["tests/b"] == (1, 1, 0, 0)
    (why,) = ran.document["suites"][0]["why"]
    assert "no driver" in why


def test_a_hang_at_the_end_costs_no_test(tmp_path: Path) -> None:
    (tmp_path / "tree/tests").mkdir(parents=True)
    text = "import atexit, time\natexit.register(time.sleep, 1000)\ndef test_x(): pass\n"
    (tmp_path / "tree/tests/test_late.py").write_text(text)
    ran = run(tmp_path / "tree", tmp_path / "out", seconds=10, grace=2)
    assert ran.rows == {"tests/*.py": (0, 1, 0, 0)}
    (note,) = ran.document["suites"][0]["notes"]
    assert note.startswith("a process was lost behind its tests: no sign of life for")


def test_operators_survive_a_crash(tmp_path: Path) -> None:
    source = make_tree(tmp_path / "tree", a="fallbacks")
    ran = run(source, tmp_path / "out")
    assert [(one["operator"], one["kind"], one["count"], one["test"][-5:]) for one in ran.document["heard"]] == [
        ("aten::take", "announced", 2, "falls"),
        ("aten::nll_loss2d_forward", "refused", 1, "fuses"),
    ]


TRANSFORMERS = """
import importlib, os
import torch
SPEC = importlib.import_module(os.environ["TRANSFORMERS_TEST_DEVICE_SPEC"].removesuffix(".py"))

def test_device():
    assert SPEC.DEVICE_NAME == "simxpu"
    assert (torch.ones(3, 3, device=SPEC.DEVICE_NAME) @ torch.ones(3, 3, device="simxpu")).cpu().eq(3).all()

def test_seed():
    SPEC.MANUAL_SEED_FN(3)
    assert SPEC.DEVICE_COUNT_FN() == 1
"""
REPLACING = """
import sysconfig
from pathlib import Path
def test_installs_another_torch():
    folder = Path(sysconfig.get_path("purelib")) / "torch-9.9.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\\nName: torch\\nVersion: 9.9.0\\n")
"""


STANDINS = (("transformers", "4.45.2"), ("accelerate", "0.34.2"), ("parameterized", "0.9.0"))


def make_environment(folder: Path, base: Path, *, real: bool = False) -> Path:
    """Make an environment that sees everything of another one, and gets what a suite needs."""
    venv.create(folder, with_pip=True)
    packages = next(folder.glob("lib/python3*/site-packages"))
    (packages / "base.pth").write_text(f"{next(base.glob('lib/python3*/site-packages'))}\n")
    for name, version in () if real else STANDINS:
        info = packages / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "INSTALLER").write_text("pip\n")
        (info / "RECORD").write_text("")
    return folder


@pytest.mark.long
@pytest.mark.xdist_group("demo")
def test_transformers_on_a_device(demo: Demo, tmp_path: Path) -> None:
    into = make_environment(tmp_path / "env", demo.root / "venv")
    tree = tmp_path / "transformers"
    (tree / "tests/models/bert").mkdir(parents=True)
    (tree / "tests/models/bert/test_device.py").write_text(TRANSFORMERS)
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@t.invalid")
    for call in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one"), ("tag", "v4.45.2")):
        subprocess.run((*git, *call), cwd=tree, check=True, capture_output=True)
    env = {
        **demo.env,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{tree}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/huggingface/transformers",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    words = ("verify", "--suite", "transformers", "--into", str(into), "--device", "simxpu", "--workers", "0")
    lacking = xpusetup(*words, env=env)
    assert (lacking.code, "lacks what the Transformers tests need: pytest" in lacking.err) == (3, True)
    first = xpusetup(*words, "--install", env=env)
    assert first.code == 0, first.out + first.err
    assert "| `tests/models` | 0 | 2 | 0 |" in first.out
    (results,) = (tmp_path / "data").rglob("results.json")
    baseline = tmp_path / "baseline.json"
    baseline.write_bytes(results.read_bytes())
    broken = xpusetup(*words, "--baseline", str(baseline), "--json", env={**env, "SIMXPU_FAULT": "wrong-numbers"})
    assert (broken.code, broken.document["ok"]) == (1, False)
    (worse,) = broken.document["result"]["against"]["worse"]
    assert (worse["name"].rpartition("::")[2], worse["there"], worse["here"]) == ("test_device", "passed", "failed")
    gone = xpusetup(*words, env={**env, "SIMXPU_FAULT": "no-device"})
    assert (gone.code, "the device cannot be used" in gone.err) == (1, True)
    (tree / "tests/models/bert/test_replacing.py").write_text(REPLACING)
    replaced = xpusetup(*words, "--source", str(tree), "--select", "tests/models/bert", env=env)
    assert (replaced.code, "replaced while the tests ran: torch was 2.13.0+cpu" in replaced.out) == (1, True), (
        replaced.out
    )


def unpack_transformers(folder: Path, python: Path, env: dict[str, str]) -> Path:
    """Fetch Transformers' source archive, and add what its common model tests need and it does not hold."""
    download = ("download", "-q", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", str(folder))
    pip = (str(python), "-m", "pip", "--disable-pip-version-check")
    subprocess.run((*pip, "install", "-q", "setuptools", "wheel"), check=True, env=env, capture_output=True)
    subprocess.run((*pip, *download, "transformers==5.23.0"), check=True, env=env, capture_output=True)
    (archive,) = folder.glob("transformers-*.tar.gz")
    subprocess.run(("tar", "-xzf", str(archive), "-C", str(folder)), check=True)
    tree = folder / "transformers-5.23.0"
    bert = tree / "tests/models/bert"
    bert.mkdir(parents=True)
    (bert / "test_modeling_tiny.py").write_text((FILES / "tiny_bert.txt").read_text())
    for name, owner in (("exporters/test_export", "Export"), ("generation/test_utils", "Generation")):
        path = tree / f"tests/{name}.py"
        path.parent.mkdir()
        path.write_text(f"class {owner}TesterMixin:\n    pass\n")
        (path.parent / "__init__.py").touch()
    for path in (tree / "tests", bert.parent, bert):
        (path / "__init__.py").touch()
    return tree


@pytest.mark.long
@pytest.mark.xdist_group("demo")
def test_the_real_transformers(demo: Demo, tmp_path: Path) -> None:
    into = make_environment(tmp_path / "env", demo.root / "venv", real=True)
    python = into / "bin/python"
    install = (str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "transformers==5.23.0")
    subprocess.run((*install, "accelerate", "parameterized"), check=True, env=demo.env, capture_output=True)
    tree = unpack_transformers(tmp_path, python, demo.env)
    env = {**demo.env, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "XDG_DATA_HOME": str(tmp_path / "data")}
    words = ("verify", "--suite", "transformers", "--into", str(into), "--source", str(tree))
    said = xpusetup(*words, "--select", "tests/models", "--json", "--device", "cpu", "--install", env=env)
    (row,) = said.result["suites"]
    plain = (str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junit-xml", str(tmp_path / "plain.xml"))
    done = subprocess.run((*plain, "tests/models"), check=True, env=env, cwd=tree, capture_output=True, text=True)
    passed = re.search(r"(\d+) passed", done.stdout)  # its skips count subtests, and its file calls such tests skipped
    assert passed is not None
    assert (row["failed"], row["errors"], row["passed"]) == (0, 0, int(passed[1]))
    assert sum(entries(tmp_path / "plain.xml").values()) == row["passed"] + row["skipped"]
    assert (row["passed"] > 90, row["skipped"] > 50, row["notes"]) == (True, True, [])
