"""What we write is run by its real interpreters, with values that would run a command where a quote is missing."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given

from data.profiles import shipped
from data.targets import NEW, NEW_KIT
from fuzzing import examples
from nasty import encodable
from xpusetup.base.model import Layout, Request, Step
from xpusetup.base.text import bash_on_one_line, lua_long_string, lua_string, render_word
from xpusetup.config.settings import ModuleSettings, Scheduler
from xpusetup.emit.lmod import render_modules
from xpusetup.emit.matrix import Cell
from xpusetup.emit.script import render_script
from xpusetup.emit.slurm import render_slurm
from xpusetup.machine.activation import render_first
from xpusetup.plan.steps import make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.e2e
FEW = examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
LUA = shutil.which("lua5.3") or shutil.which("lua")
needs_lua = pytest.mark.skipif(LUA is None, reason="needs lua5.3 from Debian")
CANARY = "CANARY"
TRIES = (
    "]] .. tostring(os.execute('touch CANARY')) .. [[",
    "x]=]==]",
    "]",
    "$(touch CANARY)",
    "`touch CANARY`",
    '"; touch CANARY; "',
    "'; touch CANARY; '",
    "a\ntouch CANARY\n",
    "\\",
    "${IFS}",
)
LMOD = """
local function ignore() end
help, whatis, LmodError = print, print, print
conflict, depends_on, family, prepend_path, setenv, source_sh = ignore, ignore, ignore, ignore, ignore, ignore
function myFileName() return "/a/modulefiles/b/c.lua" end
function pathJoin(a, b) return a .. "/" .. b end
function isFile() return false end
function mode() return "load" end
"""
STEP_LIBRARY = """
ROOT=$PWD
fail() { printf 'failed: %s\\n' "$1"; exit "${3:-1}"; }
begin() { :; }
run() { printf '%s\\0' "$@"; }
finish() { :; }
source() { printf 'sourced %s\\0' "$@"; CMPLR_ROOT=1; }
"""


def run(argv: Sequence[str], folder: Path) -> bytes:
    done = subprocess.run(argv, cwd=folder, capture_output=True, check=False, timeout=60)
    assert not (folder / CANARY).exists(), "what was written ran a value"
    assert done.returncode == 0, done.stderr
    return done.stdout


@FEW
@given(encodable)
def test_bash_takes_a_word_as_text(tmp_path: Path, text: str) -> None:
    printed = run(["bash", "-c", f"ROOT=@ROOT@; printf '%s\\0' {render_word(text)} {bash_on_one_line(text)}"], tmp_path)
    assert printed.split(b"\0")[:2] == [text.encode(), text.encode()]


@needs_lua
@FEW
@given(encodable)
def test_lua_takes_a_string_as_text(tmp_path: Path, text: str) -> None:
    plain = "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
    (tmp_path / "a.lua").write_text(f'io.write({lua_string(text)}, "\\0", {lua_long_string("x" + text)})', newline="")
    assert run([str(LUA), "a.lua"], tmp_path).split(b"\0") == [text.encode(), f"x{plain}".encode()]


def cell(text: str) -> Cell:
    """Give a build that says a text wherever one is said, past the schema."""
    profile, kit = shipped("torch-2.14"), replace(NEW_KIT, version=text.strip() or "1", at_run_time=True)
    parts = [replace(part, version=text) if part.kind != "skip" else part for part in profile.components]
    plan = make_plan(profile, Request(), replace(NEW, arch=(text,), toolkit=kit), Layout())
    return Cell(name=text, profile=replace(profile, summary=text, components=parts), plan=plan)


@needs_lua
@pytest.mark.parametrize("text", TRIES)
def test_a_modulefile_runs_no_value(tmp_path: Path, text: str) -> None:
    """As a device target did that ended the help's long string."""
    files = render_modules([cell(text)], ModuleSettings())
    module = next(text for name, text in files.items() if name.endswith(".lua"))
    (tmp_path / "a.lua").write_text(LMOD + module, newline="")
    said = run([str(LUA), "a.lua"], tmp_path).decode()
    assert f"Version: {text}" in said
    assert "is not built yet" in said


@pytest.mark.parametrize("text", TRIES)
def test_a_step_script_runs_no_value(tmp_path: Path, text: str) -> None:
    step = Step(id="a", title=text, run=(("c", text),), env=(("X", text),), needs=("compiler", "toolkit", "device"))
    kit = replace(NEW_KIT, version=text, compiler=f"/x/{text.replace('/', '')}", scripts=(f"/{text}",))
    target = replace(NEW, toolkit=kit, scripts=(f"/{text}", f"{tmp_path}/there"))
    plan = make_plan(shipped("torch-2.14"), Request(), NEW, Layout())
    (tmp_path / "steps").mkdir()
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers/step.sh").write_text(STEP_LIBRARY)
    (tmp_path / "there").write_text("")
    script = render_script(step, replace(plan, target=target, steps=(step,)))
    for looks in ("command -v", "grep -qF", '[ -f "$script"'):
        script = script.replace(looks, "true")
    (tmp_path / "steps/a.sh").write_text(script, newline="")
    said = run(["bash", "steps/a.sh"], tmp_path).split(b"\0")
    assert said == [f"sourced /{text}".encode(), f"sourced {tmp_path}/there".encode(), b"c", text.encode(), b""]


@pytest.mark.parametrize("text", TRIES)
def test_a_device_that_is_not_here_runs_no_value(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.sh").write_text(f"{STEP_LIBRARY}\n(\n{render_first((f'/{text}',))}\n) || true\n", newline="")
    assert run(["bash", "a.sh"], tmp_path) == f"failed: there is no /{text}\n".encode()


@pytest.mark.parametrize("text", TRIES)
def test_what_drives_a_cluster_runs_no_value(tmp_path: Path, text: str) -> None:
    files = render_slurm([cell(text)], Scheduler(modules=["gcc/13"]))
    (tmp_path / "common.sh").write_text(files["common.sh"], newline="")
    said = run(["bash", "-c", '. ./common.sh; printf \'%s\\0\' "${CELLS[@]}" "${MODULES[@]}"'], tmp_path)
    assert said == f"{text}\0gcc/13\0".encode()
    driver = next(text for name, text in files.items() if name.endswith("/compile.sh"))
    (tmp_path / "compile.sh").write_text(driver, newline="")
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers/lock.sh").write_text("lock_folder() { :; }\n")
    (tmp_path / "steps").mkdir()
    for step in cell(text).plan.steps:
        (tmp_path / f"steps/{step.id}.sh").write_text("")
    run(["bash", "compile.sh"], tmp_path)
