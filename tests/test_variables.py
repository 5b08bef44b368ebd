"""Variables by which SYCL ends a program: what a selector may say, and what steps and `env` leave out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from xpusetup.doctor.variables import ENDINGS, ending_names, selector_fault

HELPERS = Path(__file__).parents[1] / "xpusetup/helpers"
STEP = """set -eu
STEP=x AFTER= NEEDS= KEEP='HOME PATH SYCL_* ONEAPI_DEVICE_SELECTOR'
. "$(dirname "${BASH_SOURCE[0]}")/../helpers/step.sh"
MAKES=()
begin
env | sort
finish
"""


@pytest.mark.parametrize(
    ("selector", "fault"),
    [
        ("opencl:cpu", ""),
        ("OPENCL:cpu;", ""),
        ("opencl:cpu,", ""),
        ("!opencl:*", ""),
        ("level_zero:0.1,2.*;!level_zero:2.1", ""),
        ("level_zero", "level_zero names no devices; SYCL wants BACKEND:DEVICES"),
        ("opencl:acc", "'acc' names no device"),
        ("*:fpga", "'fpga' names no device"),
        ("level_zero:GPU", "'GPU' names no device"),
        ("opencl:cpu, gpu", "' gpu' names no device"),
        (" level_zero:gpu", "' level_zero' is no backend of SYCL"),
        ("'level_zero:gpu'", '"\'level_zero" is no backend of SYCL'),
        ("ext_oneapi_level_zero:0", "'ext_oneapi_level_zero' is no backend of SYCL"),
        ("opencl:cpu:0", "'cpu:0' names no device"),
        ("!opencl:cpu;level_zero:0", "what is left out (!) has to come last"),
    ],
)
def test_a_selector_as_the_run_time_reads_it(selector: str, fault: str) -> None:
    """Each was given to intel-sycl-rt 2026.2.0; blanks, quotes, capitals and `acc` passed for well before."""
    assert selector_fault(selector) == fault


@pytest.mark.parametrize(
    ("there", "names"),
    [
        ({}, ()),
        ({"SYCL_PI_TRACE": "0", "ONEAPI_DEVICE_SELECTOR": ""}, ("SYCL_PI_TRACE", "ONEAPI_DEVICE_SELECTOR")),
        ({"ONEAPI_DEVICE_SELECTOR": "level_zero:0", "SYCL_DUMP_IMAGES": "0"}, ()),
        ({"SYCL_DEVICE_ALLOWLIST": "garbage"}, ("SYCL_DEVICE_ALLOWLIST",)),
        ({"SYCL_DEVICE_ALLOWLIST": "BackendName:level_zero"}, ()),
    ],
)
def test_what_ends_every_program(there: dict[str, str], names: tuple[str, ...]) -> None:
    assert ending_names(there) == names


@pytest.mark.e2e
def test_a_step_passes_on_nothing_that_ends_a_program_or_litters(tmp_path: Path) -> None:
    for name in ("helpers", "steps", "stamps"):
        (tmp_path / name).mkdir()
    for name in ("step.sh", "lock.sh", "pip.sh"):
        (tmp_path / "helpers" / name).symlink_to(HELPERS / name)
    (tmp_path / "steps/x.sh").write_text(STEP)
    always = {one.name: "1" for one in ENDINGS if one.values == ".*"}
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ONEAPI_DEVICE_SELECTOR": "", **always}
    bash = ("bash", str(tmp_path / "steps/x.sh"))
    said = subprocess.run(bash, check=True, capture_output=True, text=True, env={**env, "SYCL_KEPT": "1"}).stdout
    assert always
    assert "SYCL_KEPT=1" in said
    assert not [name for name in (*always, "ONEAPI_DEVICE_SELECTOR") if f"{name}=" in said]
