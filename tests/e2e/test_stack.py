"""A stack on the real torch for the CPU: built, killed in a member, resumed, proved; built again only where it must.

The short form has one small extension of torch in C++ and one wheel; by name the shipped `stack-cpu` is built whole. It
runs what stacks.md shows.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import subprocess
import tarfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from e2e.environments import link
from e2e.support import caller, command, kill_all, xpusetup
from e2e.test_airgap import bare, cut_off
from standins.wheels import pack_wheel

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]

make_repository: Any = importlib.import_module("make_repository")
PATIENCE_S = 3600.0  # a member before the one in which it is killed may have to be compiled first

SETUP = """\
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="tiny-op",
    version="1.0",
    packages=["tiny_op"],
    install_requires=[
        "torch==1.0",
    ],
    ext_modules=[CppExtension("tiny_op._C", ["op.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
"""
OPERATOR = """\
#include <Python.h>
#include <torch/library.h>

static at::Tensor twice(const at::Tensor& x) { return x.add(x); }
TORCH_LIBRARY(tiny_op, m) { m.def("twice", &twice); }

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr, nullptr, nullptr, nullptr,
                                    nullptr};
extern "C" PyObject* PyInit__C(void) { return PyModule_Create(&module); }
"""
PACKAGE = "import torch\n\nfrom tiny_op import _C\n"
FILES = {"setup.py": SETUP, "op.cpp": OPERATOR, "tiny_op/__init__.py": PACKAGE, "PKG-INFO": "Name: tiny-op\n"}
FILES["tiny_op.egg-info/SOURCES.txt"] = "setup.py\n"  # which each build writes anew
STACK = """\
schema = 1
name = "tiny-stack"
summary = "one extension in C++ and one wheel"
tier = "test"
tried = "in tests"
torch = "cpu-2.13"
version_headers = ["torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"]

[[members]]
name = "op"
distribution = "tiny-op"
binds = "torch-minor"
[[members.candidates]]
kind = "source"
version = "1.0"
repo = "{url}"
sha256 = "{sha256}"
rev = "{rev}"
source = "this test"
confidence = "confirmed"
frontend = "setup.py"
[[members.candidates.loosen]]
file = "setup.py"
line = '"torch==1.0",'
to = '"torch",'
source = "this test"
confidence = "confirmed"
[members.proof]
imports = ["tiny_op"]
operators = ["tiny_op::twice"]
call = "torch.ops.tiny_op.twice"
arguments = [[1.0, 2.5]]
gives = [2.0, 5.0]

[[members]]
name = "plain"
distribution = "plain-wheel"
binds = "none"
[[members.candidates]]
kind = "wheel"
version = "2.0"
source = "this test"
confidence = "confirmed"
[[members.fits]]
torch = "2.13.0+cpu"
file = "{wheel}"
answer = "fits"
reason = "it is Python alone"
source = "this test"
confidence = "confirmed"
[members.proof]
imports = ["plain"]
call = "plain.twice"
arguments = ["ab"]
gives = "abab"
"""


UNVERIFIED = ("--verify", "off")


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pack_source(folder: Path) -> Path:
    """Pack a source archive as a package index has it."""
    path = folder / "tiny_op-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in FILES.items():
            info = tarfile.TarInfo(f"tiny_op-1.0/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def commit_of(folder: Path) -> str:
    """Give the commit that the program makes of what is in the archive."""
    for name, text in FILES.items():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name).write_text(text)
    return str(make_repository.make_repository(folder / "tree", folder / "tree.git", "main", whole=True))


@dataclass(frozen=True)
class Tried:
    """A stack, its root, and a caller."""

    root: Path
    env: dict[str, str]
    words: tuple[str, ...]

    def build(self, *more: str) -> dict[str, Any]:
        """Build to the end."""
        return xpusetup(*self.words, *more, "--json", env=self.env).result

    def kill_in(self, step: str, after: float = 3.0) -> None:
        """Begin to build, and kill everything within a step."""
        events = self.root.parent / "events"
        events.unlink(missing_ok=True)
        process = subprocess.Popen(
            command(*self.words, "--events", str(events)),
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and process.poll() is None and not began(events, step):
            time.sleep(0.2)
        assert began(events, step)
        time.sleep(after)
        assert process.poll() is None, f"it ended before {step}"
        kill_all(process)


def began(events: Path, step: str) -> bool:
    lines = events.read_text().splitlines() if events.exists() else []
    return any(f'"step": "{step}"' in line and '"start"' in line for line in lines)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    folder = tmp_path_factory.mktemp("stack")
    source = pack_source(folder)
    wheel = pack_wheel(folder / "wheels", "plain-wheel", "2.0", {"plain.py": b"def twice(x):\n    return x + x\n"})
    text = STACK.format(url=source.as_uri(), sha256=hash_of(source), rev=commit_of(folder), wheel=hash_of(wheel))
    (folder / "tiny.toml").write_text(text)
    env = caller(folder / "home")
    env["PIP_FIND_LINKS"] = f"{env.get('PIP_FIND_LINKS', '')} {folder / 'wheels'}".strip()
    root = folder / "root"
    return Tried(root, env, ("build", "--stack", str(folder / "tiny.toml"), "--root", str(root), "--jobs", "1"))


def test_the_commands_of_stacks_md(tmp_path: Path) -> None:
    """`plan` shows every candidate with its reason, and why one package is in the stack."""
    env = caller(tmp_path / "home")
    plan = ("plan", "--stack", "stack-cpu")
    members = members_of(xpusetup(*plan, "--json", env=env).result)
    assert [each["answer"] for each in members["vision"]["candidates"]] == ["refused", "taken"]
    assert {each["how"] for each in members.values()} == {"wheel", "source", "skip"}
    said = xpusetup(*plan, env=env)
    assert "libc10_cuda.so" in said.out
    assert "scatter.interface" in said.out
    why = xpusetup(*plan, "--why", "torch-sparse", env=env)
    assert "it stands on torch-scatter 2.1.2" in why.out
    assert xpusetup(*plan, "--why", "numba", env=env).code == 2


def test_forms_of_wheels_alone_say_what_they_leave_out(tmp_path: Path) -> None:
    env = caller(tmp_path / "home")
    for kind, more in (("github", ()), ("module", ("--from", "wheels")), ("slurm", ("--from", "wheels"))):
        said = xpusetup("emit", kind, *more, "--stack", "stack-cpu", "--out", str(tmp_path / kind), env=env)
        assert "stack-cpu: left out, for no wheel of them fits: torch-scatter" in " ".join(said.out.split()), kind
    whole = xpusetup("emit", "module", "--stack", "stack-cpu", "--out", str(tmp_path / "whole"), env=env)
    assert (whole.code, "left out" in whole.out) == (0, False)
    assert (tmp_path / "whole/modulefiles/stack-cpu/2.13.0+cpu.lua").exists()


def members_of(result: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each for each in result["members"]}


@pytest.fixture(scope="module")
def built(tiny: Tried) -> dict[str, Any]:
    """Kill the build while the extension compiles, then build to the end: without torch's own numbers."""
    tiny.kill_in("op.build")
    return tiny.build(*UNVERIFIED)


def test_killed_in_a_member_it_goes_on_there(tiny: Tried, built: dict[str, Any]) -> None:
    assert "torch.install" not in built["ran"]
    assert {"op.build", "op.fits", "op.proof", "guard"} <= {*built["ran"]}
    assert {name: each["proven"] for name, each in members_of(built).items()} == {"op": True, "plain": True}
    assert tiny.build(*UNVERIFIED)["ran"] == []


def test_status_and_the_constraints_know_the_members(tiny: Tried, built: dict[str, Any]) -> None:
    assert built["verified"] is None
    found = xpusetup("status", "--root", str(tiny.root), "--json", env=tiny.env).result
    assert members_of(found)["op"]["proof"] == "gives [2.0, 5.0]"
    assert found["profile"] == "tiny-stack"
    kept = (tiny.root / "venv/xpusetup-constraints.txt").read_text()
    assert {"tiny-op==1.0", "plain-wheel==2.0", "torch==2.13.0+cpu"} <= {*kept.splitlines()}


def test_the_pin_was_loosened_in_the_open(tiny: Tried, built: dict[str, Any]) -> None:
    assert built["failed"] is None
    log = (tiny.root / "logs/op.fetch.log").read_text()
    assert '-        "torch==1.0",\n+        "torch",\n' in log
    assert (tiny.root / "archives/tiny_op-1.0.tar.gz").exists()
    assert json.loads((tiny.root / "manifest.json").read_text()).get("edited", []) == []


@pytest.mark.long
def test_it_is_built_again_where_what_it_uses_changed(tiny: Tried, built: dict[str, Any]) -> None:
    """Another version of torch alone builds nothing; a header that the compiler read does."""
    used = json.loads((tiny.root / "results/op.used.json").read_text())
    assert not used["all_headers"]
    assert any("Tensor" in name for name in used["names"])
    include = next(tiny.root.glob("venv/lib/python3*/site-packages/torch/include"))
    header, other = (include / name for name in ("torch/headeronly/version.h", "ATen/Parallel.h"))
    assert "ATen/Parallel.h" not in used["headers"]
    for path in (header, other):
        path.write_text(path.read_text() + "\n// another release\n")
    (tiny.root / "stamps/op.interface").unlink()
    assert tiny.build(*UNVERIFIED)["ran"] == ["op.interface"]
    read = include / "torch/library.h"
    read.write_text(read.read_text() + "\n// another release\n")
    (tiny.root / "stamps/op.interface").unlink()
    ran = tiny.build(*UNVERIFIED)["ran"]
    assert ran[:2] == ["op.interface", "op.build"]
    assert "torch/library.h: the header is another" in (tiny.root / "logs/op.interface.log").read_text()
    assert built["failed"] is None


@pytest.mark.long
def test_with_the_numbers_of_torch_it_is_verified(tiny: Tried, built: dict[str, Any]) -> None:
    assert built["failed"] is None
    assert tiny.build()["verified"] is True
    assert tiny.build()["ran"] == []


@pytest.mark.long
def test_install_takes_the_wheels_that_fit(tiny: Tried) -> None:
    """Each wheel is held against the torch that is there before it is taken, whatever the stack says, and proved."""
    folder = tiny.root.parent
    bad = pack_wheel(folder / "wheels", "bad-wheel", "3.0", {"bad/_C.so": link_bad(folder)})
    member = STACK[STACK.index('name = "plain"') :].replace('"plain', '"bad').replace('"2.0"', '"3.0"')
    text = (folder / "tiny.toml").read_text() + "\n[[members]]\n" + member.format(wheel=hash_of(bad))
    (folder / "bad.toml").write_text(text)
    words = ("install", "--stack", str(folder / "bad.toml"), "--root", str(folder / "installed"), "--json")
    env = {**tiny.env, "CC": "/nowhere/cc", "CXX": "/nowhere/c++"}
    refused = xpusetup(*words, env=env)
    assert refused.code == 1
    failure = refused.document["result"]["failure"]
    assert failure["step"] == "bad.fits"
    assert "gone_from_torch" in refused.out
    assert "--take bad=skip" in refused.out
    found = xpusetup(*words, "--take", "bad=skip", env=env).result
    assert {wheel["name"] for wheel in found["wheels"]} == {"torch", "plain-wheel"}
    assert not any(step.endswith(".build") for step in found["ran"])
    assert "wheels.install" not in found["ran"]
    assert {"members.install", "plain.proof"} <= {*found["ran"]}
    assert {name: each["proven"] for name, each in members_of(found).items()} == {
        "op": None,
        "plain": True,
        "bad": None,
    }
    assert xpusetup(*words, "--take", "bad=skip", env=env).result["ran"] == []


def link_bad(folder: Path) -> bytes:
    """Make a library that asks torch for a name that it has not."""
    path = link(folder / "bad.so", "extern void gone_from_torch(void); void begin(void) { gone_from_torch(); }")
    return path.read_bytes()


@pytest.mark.long
def test_a_bundle_builds_a_stack_without_a_network(tiny: Tried, tmp_path: Path) -> None:
    """The member's source archive and every wheel come along; it is compiled, held against torch and proved there.

    torch's own numbers are left out: its collectives ask a name server who the other end of the loopback is.
    """
    bundle, gathering = str(tmp_path / "tiny.tar"), str(tmp_path / "gathering")
    created = xpusetup("bundle", "create", bundle, *tiny.words[1:3], "--root", gathering, "--json", env=tiny.env).result
    assert (created["purpose"], created["parts"]) == ("build", ["torch", "plain", "op"])
    assert xpusetup("bundle", "verify", bundle, "--json", env=tiny.env).result["missing"] == []
    words = ("build", "--bundle", bundle, "--root", str(tmp_path / "root"), "--jobs", "1", *UNVERIFIED, "--json")
    result = cut_off(*words, env=bare(tmp_path / "home")).result
    assert {name: each["proven"] for name, each in members_of(result).items()} == {"op": True, "plain": True}
    assert result["reached_out"] == []


@pytest.mark.long
def test_a_bundle_installs_a_stack_without_a_network(tiny: Tried, tmp_path: Path) -> None:
    """Wheels alone, with all that they require; the other command is named."""
    bundle, env = str(tmp_path / "tiny.tar"), bare(tmp_path / "home")
    words = ("--from", "wheels", "--root", str(tmp_path / "gathering"), "--json")
    created = xpusetup("bundle", "create", bundle, *tiny.words[1:3], *words, env=tiny.env).result
    assert (created["purpose"], created["repositories"]) == ("install", [])
    assert any(name.startswith("sympy-") for name in created["wheels"]), "torch requires it"
    assert xpusetup("bundle", "verify", bundle, "--json", env=env).result["missing"] == []
    root = ("--root", str(tmp_path / "root"))
    result = cut_off("install", "--bundle", bundle, *root, "--verify", "off", "--json", env=env).result
    assert {wheel["name"] for wheel in result["wheels"]} == {"torch", "plain-wheel"}
    assert result["reached_out"] == []
    refused = xpusetup("build", "--bundle", bundle, *root, env=env)
    assert (refused.code, "xpusetup install" in refused.err) == (2, True)


@pytest.mark.long
def test_a_bundle_of_the_shipped_stack(tmp_path: Path) -> None:
    """Every wheel and every source that `stack-cpu` pins can be had, and all of it is in the bundle."""
    env, bundle = caller(tmp_path / "home"), str(tmp_path / "whole.tar")
    words = ("--stack", "stack-cpu", "--root", str(tmp_path / "gathering"), "--json")
    created = xpusetup("bundle", "create", bundle, *words, env=env).result
    planned = members_of(xpusetup("plan", "--stack", "stack-cpu", "--json", env=env).result)
    assert {*created["parts"]} == {"torch", *(name for name, each in planned.items() if each["how"] != "skip")}
    assert xpusetup("bundle", "verify", bundle, "--json", env=bare(tmp_path / "bare")).result["missing"] == []
    with tarfile.open(bundle) as tar:
        sources = [name for name in tar.getnames() if name.endswith(".tar.gz")]
    assert len(sources) == sum(each["how"] == "source" for each in planned.values()) == 4


@pytest.mark.long
def test_the_shipped_stack(tmp_path: Path) -> None:
    """`stack-cpu` whole: killed once in each member, then nothing is left to do."""
    env = caller(tmp_path / "home")
    root = tmp_path / "root"
    stack = Tried(root, env, ("build", "--stack", "stack-cpu", "--root", str(root)))
    planned = members_of(xpusetup("plan", "--stack", "stack-cpu", "--json", env=env).result)
    assert {name for name, each in planned.items() if each["how"] == "skip"} == {"vision"}
    for name in (name for name, each in planned.items() if each["how"] == "wheel"):
        stack.kill_in(f"{name}.proof", after=0)
    for name in ("scatter", "cluster", "spline-conv", "sparse"):  # in the order in which they are built
        assert planned[name]["how"] == "source"
        stack.kill_in(f"{name}.build")
    last = stack.build()
    assert [step for step in last["ran"] if step.endswith(".build")] == ["sparse.build"]
    found = members_of(last)
    assert len(found) == len(planned) == 9
    assert all(each["proof"] for each in found.values() if each["how"] != "skip")
    assert stack.build()["ran"] == []
