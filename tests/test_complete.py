"""What the shell offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from xpusetup.cli import app

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typer.testing import Result


def offered(*words: str) -> list[str]:
    """Ask as bash does: the words so far, the last of them incomplete."""
    line: Mapping[str, str] = {"COMP_WORDS": " ".join(("xpusetup", *words)), "COMP_CWORD": str(len(words))}
    asked = {"_XPUSETUP_COMPLETE": "complete_bash", **line}
    said: Result = CliRunner().invoke(app, prog_name="xpusetup", env=asked)
    return said.stdout.split()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("build", "--profile", "torch-2.5"), ["torch-2.5"]),
        (("build", "-p", "si"), ["sim"]),
        (("profiles", "show", "si"), ["sim"]),
        (("build", "--profile", "torch-2.5", "--only", ""), ["torch", "vision", "audio"]),
        (("plan", "--profile", "torch-2.14", "--until", "tri"), ["triton.fetch", "triton.install"]),
        (
            ("plan", "--profile", "torch-2.5", "--until", "vision."),
            [f"vision.{x}" for x in ("fetch", "build", "inspect", "install")],
        ),
        (("plan", "--profile", "none-such", "--until", "v"), ["venv", "verify.smoke"]),
    ],
)
def test_offers(words: tuple[str, ...], names: list[str]) -> None:
    assert offered(*words) == names
