"""One finished `make demo` for all tests that need torch: those of the newcomer, and those of the helpers."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import caller, copy_checkout, xpusetup

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Demo:
    """A finished `make demo`."""

    env: dict[str, str]
    root: Path
    clone: Path
    out: str

    def json(self, *arguments: str, **more: str) -> dict[str, Any]:
        """Give a command's document."""
        return xpusetup(*arguments, "--profile", "sim", "--json", env={**self.env, **more}).document


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Run `make demo` as a newcomer does."""
    folder = tmp_path_factory.mktemp("newcomer")
    clone = copy_checkout(folder / "xpusetup")
    env = caller(folder / "home")
    done = subprocess.run(("make", "demo"), cwd=clone, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return Demo(env, folder / "home/.local/share/xpusetup/sim", clone, done.stdout)


@pytest.fixture(scope="session")
def torch_python(demo: Demo) -> str:
    """Give the python of an environment that has torch."""
    return str(demo.root / "venv/bin/python")
