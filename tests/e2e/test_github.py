"""The emitted workflow: valid by GitHub's own schema, and its commands run here, an extension's build among them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import caller, make_tiny, xpusetup
from e2e.workflow import Job, read_workflow

if TYPE_CHECKING:
    from e2e.support import Tiny

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("github")]

EXTENSION = """
from setuptools import Extension, setup
import iniconfig, tiny  # what pyproject.toml requires, and the one of the matrix
setup(
    name="acme", version="3.1", packages=["acme"], ext_modules=[Extension("acme.core", ["acme.c"])],
    install_requires=["pluggy"],
)
"""
PYPROJECT = """
[build-system]
requires = ["setuptools", "iniconfig"]
build-backend = "setuptools.build_meta"
"""
CORE = """
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "core", "", -1, NULL, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_core(void) { return PyModule_Create(&module); }
"""


def check_schema(checkout: Path) -> None:
    program = shutil.which("check-jsonschema", path=str(Path(sys.executable).parent)) or shutil.which(
        "check-jsonschema"
    )
    assert program, "it is among the tools of development"
    workflow = checkout / ".github/workflows/xpusetup.yml"
    argv = (program, "--builtin-schema", "vendor.github-workflows", str(workflow))
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def emit(checkout: Path, *words: str, env: dict[str, str]) -> dict[str, Any]:
    said = xpusetup("emit", "github", *words, "-o", str(checkout), env=env)
    assert said.code == 0, said.err
    check_schema(checkout)
    return read_workflow(checkout)


@pytest.mark.long
def test_commands(tmp_path: Path) -> None:
    tiny: Tiny = make_tiny(tmp_path / "tiny")
    checkout = tmp_path / "work/repository"
    (checkout / "acme").mkdir(parents=True)
    (checkout / "acme/__init__.py").write_text("import pluggy\nimport tiny\nimport acme.core\n")
    (checkout / "pyproject.toml").write_text(PYPROJECT)
    (checkout / "setup.py").write_text(EXTENSION)
    (checkout / "acme.c").write_text(CORE)
    words = ("--profile", str(tiny.profile), "--from", "source", "--label", "big", "--extension", "acme")
    workflow = emit(checkout, *words, env=tiny.env)
    build = workflow["jobs"]["build"]
    assert build["runs-on"] == "big"
    (row,) = build["strategy"]["matrix"]["include"]
    first = Job(checkout, tiny.env, row)
    first.run(build)
    cell = checkout / ".github/xpusetup/tiny"
    assert sorted(path.name.split("-")[0] for path in cell.glob("*/*.whl")) == ["acme", "tiny"]
    assert {line.split("  ")[1].split("-")[0] for line in (cell / "SHA256SUMS").read_text().splitlines()} == {
        "wheels/tiny",
        "dist/acme",
    }
    ignored = ("git", "-c", "init.defaultBranch=main", "status", "--porcelain", "--untracked-files=all", str(cell))
    subprocess.run(("git", "init", "-q"), cwd=checkout, check=True)
    seen = subprocess.run(ignored, cwd=checkout, check=True, capture_output=True, text=True).stdout
    assert "/steps/tiny.build.sh" in seen
    assert not [line for line in seen.splitlines() if line.endswith(".py")], "what was unpacked"
    assert {line.split("/")[3] for line in seen.splitlines()} == {
        *(
            "build.sh",
            "check.sh",
            "compile.sh",
            "fetch.sh",
            "helpers",
            "helpers.tar",
            "keys",
            "profile.lock.json",
            "steps",
            "verify.sh",
        )
    }
    assert not (checkout / "build").exists()  # where the next cell would find what was compiled for this one

    stamp = (cell / "stamps/tiny.build").stat().st_mtime_ns
    again = Job(checkout, tiny.env, row)
    again.run(build)
    assert again.outputs["key"] == first.outputs["key"]
    assert (cell / "stamps/tiny.build").stat().st_mtime_ns == stamp


@pytest.mark.parametrize(
    ("words", "says", "fix"),
    [
        (("--profile", "torch-2.14", "--from", "source"), "14 GB of disk", "--label LABEL"),
        (("--profile", "sim"), "names no published wheels", "--from source"),
        (("--profile", "gaudi-1.24.1"), "no wheels come of it", "emit shell --profile gaudi-1.24.1 --out DIR"),
        (("--profile", "torch-2.14", "--label", "a b"), "no label of a runner", ""),
        (("--profile", "torch-2.14", "--extension", "my-package"), "is no module", ""),
        (("--profile", "torch-2.14", "--arch", "pvc"), "published wheels hold", "--from source"),
        (("--profile", "torch-2.5", "--python", "3.14", "--from", "wheels"), "Python 3.14", ""),
    ],
)
def test_refused_before_anything_is_written(tmp_path: Path, words: tuple[str, ...], says: str, fix: str) -> None:
    said = xpusetup("emit", "github", *words, "-o", str(tmp_path / "out"), env=caller(tmp_path / "home"))
    assert (said.code, says in said.err, fix in said.err) == (2, True, True), said.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words", [("--extension", "acme"), ("--from", "source", "--label", "big", "--gpu-label", "arc")]
)
def test_schema(tmp_path: Path, words: tuple[str, ...]) -> None:
    profiles = ("--profile", "torch-2.13", "--profile", "torch-2.14", "--python", "3.11", "--python", "3.12")
    workflow = emit(tmp_path / "out", *profiles, *words, env=caller(tmp_path / "home"))
    assert len(workflow["jobs"]["build"]["strategy"]["matrix"]["include"]) == 4
    assert workflow["permissions"] == {"contents": "read"}


def test_all_of_it_can_be_committed_from_anywhere(tmp_path: Path) -> None:
    """Helpers lie in folders that the .gitignore of any Python project leaves out, as `env/`."""
    checkout = tmp_path / "repository"
    checkout.mkdir()
    (checkout / ".gitignore").write_text("env/\nlib/\nwheel/\nbuild*\n*.json\n*.sh\n")
    subprocess.run(("git", "init", "-q"), cwd=checkout, check=True)
    said = xpusetup("emit", "github", "--profile", "torch-2.14", "-o", str(checkout), "--json", env=caller(tmp_path))
    subprocess.run(said.result["start"], shell=True, cwd=tmp_path, check=True)  # noqa: S602 - the command that it advises
    listed = subprocess.run(("git", "ls-files"), cwd=checkout, check=True, capture_output=True, text=True).stdout
    assert {str(checkout / name) for name in listed.splitlines()} == set(said.result["files"])


@pytest.mark.long
def test_verification_on_another_machine(tmp_path: Path) -> None:
    checkout, other = tmp_path / "one/repository", tmp_path / "other/repository"
    env = caller(tmp_path / "home")
    words = ("--profile", "sim", "--from", "source", "--label", "big", "--gpu-label", "simulated")
    workflow = emit(checkout, *words, env=env)
    shutil.copytree(checkout, other)
    (row,) = workflow["jobs"]["build"]["strategy"]["matrix"]["include"]
    Job(checkout, env, row).run(workflow["jobs"]["build"])
    cell = Path(".github/xpusetup/sim")
    for name in ("wheels", "results", "SHA256SUMS"):
        source = checkout / cell / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, other / cell / name)
    shutil.rmtree(checkout)
    Job(other, env, row).run(workflow["jobs"]["verify"])
    assert '"verified": true' in (other / cell / "results/verify.json").read_text()
