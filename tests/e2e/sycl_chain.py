"""One SYCL tool chain of Intel's wheels for all tests that compile with it."""

from __future__ import annotations

import fcntl
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.support import caller, xpusetup

PROFILE = "torch-2.14"


@dataclass(frozen=True)
class Chain:
    """A tool chain: its folder, and the environment that its env.sh leads to, with this machine's processor alone."""

    home: Path
    env: dict[str, str]


@pytest.fixture(scope="session")
def sycl_chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    """Make it once for all workers of a run; the second one finds it done.

    XPUSETUP_TEST_SYCL names a folder that stays: only the driver in it is brought up to date.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "chain"
    folder.mkdir(exist_ok=True)
    env = caller(folder / "home")
    home = Path(os.environ.get("XPUSETUP_TEST_SYCL") or folder / "toolkit")
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = xpusetup("toolkit", str(home), "--profile", PROFILE, env=env)
    assert made.code == 0, made.out + made.err
    line = ("bash", "-c", '. "$0" && env -0', str(home / "env.sh"))
    told = subprocess.run(line, env=env, check=True, capture_output=True, text=True).stdout
    switched = dict(each.partition("=")[::2] for each in told.split("\0") if each)
    return Chain(home, {**switched, "ONEAPI_DEVICE_SELECTOR": "*:cpu"})
