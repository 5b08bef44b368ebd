"""How a toolkit is switched on, by provider; the same lines serve scripts and capture."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.targets import NEW_KIT, OLD_KIT, SETVARS_KIT
from xpusetup.base.model import Toolkit
from xpusetup.machine.activation import ABSENT, render_activation

if TYPE_CHECKING:
    from pathlib import Path

CHECKED = """\
[ -n "${CMPLR_ROOT-}" ] || fail "the toolkit did not set CMPLR_ROOT" "run it by hand and read what it says" 3
command -v icpx >/dev/null || fail "the toolkit has no icpx" "run it by hand and read what it says" 3"""


def checked(version: str) -> str:
    wrong = (
        f'fail "the toolkit that was switched on is not {version}" "choose another one: [toolkit] in the site file" 3'
    )
    return f"{CHECKED}\nicpx --version | grep -qF -- {version} || {wrong}"


def wrapped(version: str, *lines: str) -> str:
    scripts = [line.removeprefix("source ") for line in lines if line.startswith("source ")]
    there = [f"for script in {' '.join(scripts)}; do", ABSENT, "done"] if scripts else []
    return "\n".join((*there, "set +eu", "set --", *lines, "set -eu", checked(version)))


MODULES = replace(NEW_KIT, provider="modules", scripts=(), prelude=("module purge", "module load oneapi/2026.1"))


@pytest.mark.parametrize(
    ("kit", "text"),
    [
        (SETVARS_KIT, wrapped(SETVARS_KIT.version, "source /opt/intel/oneapi/setvars.sh")),
        (
            OLD_KIT,
            wrapped(
                OLD_KIT.version,
                "source /opt/intel/oneapi/pytorch-gpu-dev-0.5/oneapi-vars.sh",
                "source /opt/intel/oneapi/pti/latest/env/vars.sh",
            ),
        ),
        (MODULES, wrapped(MODULES.version, "module purge", "module load oneapi/2026.1")),
        (replace(NEW_KIT, provider="environment", scripts=()), checked(NEW_KIT.version)),
        (
            replace(SETVARS_KIT, scripts=("/opt/it's $here/setvars.sh",)),
            wrapped(SETVARS_KIT.version, "source '/opt/it'\"'\"'s $here/setvars.sh'"),
        ),
    ],
)
def test_activation(kit: Toolkit, text: str) -> None:
    assert render_activation(kit) == text


@pytest.mark.e2e
def test_a_script_that_is_named_and_absent_stops_the_step(tmp_path: Path) -> None:
    there, absent = tmp_path / "compiler.sh", tmp_path / "it's ccl.sh"
    there.write_text("export CMPLR_ROOT=/kit\n")
    text = render_activation(replace(NEW_KIT, version="", scripts=(str(there), str(absent))))
    fail = 'fail() { echo "$1"; exit "$3"; }\n'
    done = subprocess.run(["bash", "-c", f"set -eu\n{fail}{text}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, f"the toolkit has no {absent}\n")


def test_without_anything_to_look_for() -> None:
    text = render_activation(Toolkit(provider="environment", version="", compiler="icpx"))
    assert text == CHECKED.splitlines()[1]
