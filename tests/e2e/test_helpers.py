"""Each entry script of the helpers alone: what is counted as its own is enough for it to be imported."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from helper_modules import HELPERS, closure_files, is_entry, modules

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e
IMPORT = "import sys; sys.path.insert(0, sys.argv[1]); __import__(sys.argv[2])"


@pytest.mark.parametrize("name", [name for name in modules() if is_entry(name)])
def test_a_copy_of_its_closure_is_enough(name: str, tmp_path: Path) -> None:
    for path in closure_files(name):
        copy = tmp_path / path.relative_to(HELPERS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    done = subprocess.run(
        (sys.executable, "-I", "-B", "-c", IMPORT, tmp_path, name), check=False, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.returncode == 0
