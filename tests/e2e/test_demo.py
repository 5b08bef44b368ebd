"""The first five minutes: a fresh clone, `make demo`, and what a newcomer does next."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.support import xpusetup
from xpusetup.base.document import read_as
from xpusetup.verify.outcomes import OwnerRecord

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.fixtures import Demo

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]
STEPS = [
    *("venv", "requirements", "torch.fetch", "torch.install"),
    *("simxpu.fetch", "simxpu.build", "simxpu.inspect", "simxpu.install", "guard", "verify.smoke"),
]


def test_demo_ends_with_a_verified_wheel(demo: Demo) -> None:
    assert demo.out.count("verified on simxpu (simulated, host memory): ") >= 2  # by build, and by status
    seen = demo.out.partition("tensor([2., 2.], device='simxpu:0')\n")[2]
    assert "its results equal those of the CPU" in seen
    for line in re.findall(r": (\S.*)", seen):  # what comes next
        assert xpusetup(*line.split()[1:], "--help", env=demo.env).code == 0
    assert seen.count(".venv/bin/xpusetup") == 2
    manifest = json.loads((demo.root / "manifest.json").read_text())
    assert manifest["verified"] is True
    assert [wheel["version"] for wheel in manifest["wheels"]] == ["2.13.0+cpu", "1.0.0"]
    assert all(len(wheel["sha256"]) == 64 for wheel in manifest["wheels"])
    assert manifest["facts"]["python"]["headers"] is True
    assert manifest["inspected"]["simxpu"]["ok"] is True
    assert not list(demo.clone.glob("xpusetup/simxpu/**/*.so"))


def test_second_build_does_nothing(demo: Demo) -> None:
    result = demo.json("build")["result"]
    assert (result["ran"], result["skipped"], result["failed"]) == ([], STEPS, None)
    assert result["verified"] is True


def test_what_leads_on_is_a_command_that_runs(demo: Demo) -> None:
    for first in (demo.json(verb)["result"]["next"][0] for verb in ("plan", "status", "build")):
        assert first["title"] == "use it"
        program, *words = first["argv"]
        path = f"{demo.clone}/.venv/bin:{demo.env['PATH']}"
        done = subprocess.run(
            (program, *words), env={**demo.env, "PATH": path}, check=False, capture_output=True, text=True
        )
        assert done.stdout.strip() == "2.13.0+cpu", done.stderr


@pytest.mark.long
def test_a_record_of_its_verification_names_nobody(demo: Demo, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    done = demo.json("verify", "--level", "quick", "--save", str(file))["result"]
    record = read_as(OwnerRecord, json.loads(file.read_text()))
    assert (done["saved"], record.verified, record.level) == (str(file), True, "quick")
    assert [wheel.name for wheel in record.wheels] == ["torch", "simxpu"]
    assert {check.id for check in record.checks} == {check["id"] for check in done["checks"]}
    assert str(demo.root) not in file.read_text()


def test_its_environment_works_at_another_place(demo: Demo, tmp_path: Path) -> None:
    """The same files below another folder: torch, the device that it loads by itself, and torchrun."""
    moved = tmp_path / "torch"
    subprocess.run(("cp", "-al", str(demo.root / "venv"), str(moved)), check=True)
    script = f"""
    source {moved}/bin/activate
    python -c 'import sys, torch; print(sys.prefix, torch.ones(2, device="simxpu") + 1); print(torch.__file__)'
    command -v torchrun
    torchrun --help | head -n 1
    """
    done = subprocess.run(("bash", "-euc", script), env=demo.env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    computed, place, program, usage = done.stdout.splitlines()
    assert computed == f"{moved} tensor([2., 2.], device='simxpu:0')"
    assert place.startswith(f"{moved}/lib/")
    assert program == f"{moved}/bin/torchrun"
    assert usage.startswith("usage: torchrun")


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (("build",), {"profile", "root", "ran", "skipped", "failed", "wheels", "verified", "seconds"}),
        (("plan",), {"profile", "root", "steps", "estimate"}),
        (("status",), {"profile", "root", "ran", "skipped", "failed", "wheels", "verified", "seconds"}),
        (("verify", "--level", "quick"), {"device", "devices", "checks", "verified"}),
        (("env",), {"set", "unset"}),
        (("env", "--build"), {"set", "unset"}),
        (("doctor",), {"findings", "root_causes", "way", "can_build", "can_run"}),
    ],
)
def test_every_command_has_the_envelope(demo: Demo, arguments: tuple[str, ...], keys: set[str]) -> None:
    document = demo.json(*arguments)
    assert set(document) == {"schema", "command", "ok", "result"}
    assert (document["schema"], document["command"], document["ok"]) == (1, arguments[0], True)
    assert keys <= set(document["result"])


@pytest.mark.long
def test_a_failed_proof_is_repeated_by_the_next_build(demo: Demo) -> None:
    assert demo.json("verify", "--level", "quick", SIMXPU_FAULT="wrong-numbers")["ok"] is False
    assert demo.json("status")["result"]["verified"] is False
    result = demo.json("build")["result"]
    assert (result["ran"], result["verified"]) == (["verify.smoke"], True)
    assert demo.json("verify", "--level", "quick")["ok"] is True
    assert demo.json("status")["ok"] is True
    assert demo.json("build")["result"]["ran"] == []


def test_run_and_env(demo: Demo) -> None:
    said = xpusetup("run", "--profile", "sim", "--", "python", "-c", "import sys; sys.exit(7)", env=demo.env)
    assert said.code == 7
    script = 'eval "$(cat)"; python -c "import simxpu; print(simxpu.__name__)"'
    exports = xpusetup("env", "--profile", "sim", env=demo.env).out
    done = subprocess.run(
        ("bash", "-c", script), input=exports, check=True, capture_output=True, text=True, env=demo.env
    )
    assert done.stdout == "simxpu\n"


@pytest.mark.long
def test_shell_form_gives_the_same_wheel(demo: Demo, tmp_path: Path) -> None:
    """Emitted, then built by bash alone in a folder of another length: the same bytes."""
    out = tmp_path / "a-folder-with-quite-another-length"
    said = xpusetup("emit", "shell", "--profile", "sim", "-o", str(out), "--json", env=demo.env)
    assert f"{out}/build.sh" in said.result["files"]
    done = subprocess.run(("bash", "build.sh"), cwd=out, env=demo.env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ours = {path.name: path.read_bytes() for path in (demo.root / "wheels").glob("simxpu-*.whl")}
    assert {path.name: path.read_bytes() for path in (out / "wheels").glob("simxpu-*.whl")} == ours
    assert json.loads((out / "results/verify.json").read_text())["verified"] is True
    again = subprocess.run(
        ("bash", "steps/simxpu.build.sh"), cwd=out, env=demo.env, check=True, capture_output=True, text=True
    )
    assert again.stdout == "simxpu.build is done\n"


@pytest.mark.long
def test_wheels_work_elsewhere(demo: Demo, tmp_path: Path) -> None:
    """In a clean environment that knows nothing of the root."""
    python = tmp_path / "venv/bin/python"
    subprocess.run(("python3", "-m", "venv", str(tmp_path / "venv")), check=True, env=demo.env)
    wheels = [str(path) for path in sorted((demo.root / "wheels").glob("*.whl"))]
    subprocess.run((str(python), "-m", "pip", "install", "-q", "numpy", *wheels), check=True, env=demo.env)
    code = "import torch; a = torch.ones(3, 3, device='simxpu'); print((a @ a).sum().item())"
    done = subprocess.run((str(python), "-c", code), check=True, capture_output=True, text=True, env=demo.env)
    assert done.stdout == "27.0\n"


@pytest.mark.long
def test_an_editable_tree_compiles_what_changed(demo: Demo, tmp_path: Path) -> None:
    """All six files were compiled by each build, also after no change at all. torch comes from the root beside it."""
    tree = tmp_path / "simxpu"
    shutil.copytree(demo.root / "src/simxpu", tree)
    root = demo.root.parent / "edited"
    words = ("build", "--root", str(root), "--only", "simxpu", "--verify", "off", "--source", f"simxpu={tree}:editable")
    env = {**demo.env, "XPUSETUP_BUILD_LAUNCHER": "none"}
    compiles = []
    for change in ("", "", "// edited\n"):
        kernels = tree / "src/simxpu/csrc/kernels.cpp"
        kernels.write_text(kernels.read_text() + change) if change else None
        assert demo.json(*words, **env)["result"]["failed"] is None
        log = (root / "logs/simxpu.install.log").read_text()
        compiles.append(len(re.findall(r"(?m)^ *\[\d/\d\] ", log)))
    assert compiles == [6, 0, 1]
    wheel = next((root / "wheels").glob("torch-*.whl"))
    assert wheel.samefile(next((demo.root / "wheels").glob("torch-*.whl")))
    kernels.write_text(kernels.read_text() + "this is not C++;\n")
    said = xpusetup(*words, "--profile", "sim", env={**env, "COLUMNS": "60"})
    line = len(kernels.read_text().splitlines())
    assert re.search(rf"(?m)^{re.escape(str(kernels))}:{line}:\d+: error: ", said.out), said
