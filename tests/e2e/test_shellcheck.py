"""Every script that the program writes or ships passes shellcheck."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from e2e.support import CHECKOUT, caller, unpack, xpusetup

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("packaging")]


@pytest.mark.parametrize(
    "words",
    [
        ("shell", "--profile", "sim"),
        ("shell", "--profile", "torch-2.5"),
        ("shell", "--profile", "torch-2.14"),
        ("shell", "--profile", "ascend-2.12"),
        ("slurm", "--profile", "torch-2.14", "--profile", "torch-2.5"),
        ("github", "--profile", "torch-2.14", "--extension", "acme"),
        ("github", "--profile", "torch-2.5", "--from", "source", "--label", "big", "--extension", "acme"),
    ],
)
def test_emitted_scripts(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = xpusetup("emit", *words, "-o", str(tmp_path / "out"), env=caller(tmp_path / "home"))
    assert said.code == 0, said.err
    for archive in (tmp_path / "out").rglob("helpers.tar"):
        unpack(archive.parent)
    scripts = [str(path) for path in sorted((tmp_path / "out").rglob("*.sh*")) if path.suffix in {".sh", ".sbatch"}]
    scripts += [str(path) for path in (tmp_path / "out").glob("*.sbatch")]
    assert len(scripts) > 8
    shellcheck(*scripts)


def test_own_scripts() -> None:
    shellcheck(str(CHECKOUT / ".ci/run"), str(CHECKOUT / "tests/real/torch_tree.sh"))


def shellcheck(*scripts: str) -> None:
    """Run shellcheck, as strict as it is by default."""
    program = Path(sys.executable).parent / "shellcheck"
    done = subprocess.run((str(program), *scripts), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
