"""What files of intel/llvm's end-to-end tests are about, on this machine's processor: one program, one check a file."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli

if TYPE_CHECKING:
    from e2e.sycl_chain import Chain

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("sycl-chain")]

SOURCE = Path(__file__).with_name("files") / "features.cpp"
DIVISION = SOURCE.with_name("division.cpp")
FILES = tomli.loads((Path(__file__).parents[1] / "data/sycl_features.toml").read_text())
LEAST = 40


def test_each_feature_works(sycl_chain: Chain, tmp_path: Path) -> None:
    """Kernels in a namespace without a name are no warning either: -Werror holds for both passes."""
    icpx = (
        str(sycl_chain.home / "bin/icpx"),
        "-fsycl",
        "-std=c++20",
        "-Wall",
        "-Werror",
        str(SOURCE),
        "-o",
        "features",
    )
    made = subprocess.run(icpx, cwd=tmp_path, env=sycl_chain.env, check=False, capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (0, "")
    done = subprocess.run(
        str(tmp_path / "features"), env=sycl_chain.env, check=False, capture_output=True, text=True, timeout=900
    )
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert said == dict.fromkeys(FILES, "ok"), done.stderr
    assert len(said) > LEAST


def test_an_image_that_asks_for_precise_division_is_built(sycl_chain: Chain, tmp_path: Path) -> None:
    """The run time puts the words of a back end in the place of icpx's, or takes them out."""
    words = ("-foffload-fp32-prec-div", "-foffload-fp32-prec-sqrt")
    icpx = (str(sycl_chain.home / "bin/icpx"), "-fsycl", *words, str(DIVISION), "-o", "division")
    subprocess.run(icpx, cwd=tmp_path, env=sycl_chain.env, check=True)
    program = tmp_path / "division"
    assert " ".join(words).encode() in program.read_bytes()
    done = subprocess.run(str(program), env=sycl_chain.env, check=True, capture_output=True, text=True)
    assert done.stdout == "as on the host\n"
