"""What the shell offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from commands_page import list_commands, render_commands
from golden import hold_one
from xpusetup.cli import app

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
        (("build", "--profile", "torch-2.5", "--only", ""), ["torch", "triton", "vision", "audio"]),
        (("plan", "--profile", "torch-2.14", "--until", "tri"), ["triton.fetch", "triton.install"]),
        (
            ("plan", "--profile", "torch-2.5", "--until", "vision."),
            [f"vision.{x}" for x in ("fetch", "build", "inspect", "install")],
        ),
        (("plan", "--profile", "none-such", "--until", "v"), ["venv", "verify.smoke"]),
        (("build", "--profile", "torch-2.14", "--arch", "bmg"), ["bmg", "bmg-g21", "bmg-g31"]),
        (("build", "--profile", "torch-2.14", "--arch", "pvc,bmg-g2"), ["pvc,bmg-g21"]),
        (("build", "--profile", "torch-2.14", "--arch", "au"), ["auto"]),
        (("build", "--profile", "sim", "--arch", ""), []),
        (("emit", ""), ["apptainer", "dockerfile", "github", "module", "shell", "slurm"]),
        (("emit", "sl"), ["slurm"]),
        (("emit", "slurm", "--from", ""), ["source", "wheels"]),
        (("build", "si"), ["sim"]),
        (("build", "2.1"), ["2.10", "2.11", "2.12", "2.13", "2.14", "2.15"]),
        (("remove", ""), ["sim"]),
        (("run", "si"), ["sim"]),
        (("build", "torch-2.5", "--only", "tri"), ["triton"]),
        (("emit", "dockerfile", "--os", "ubu"), ["ubuntu-24.04", "ubuntu-22.04", "ubuntu-26.04"]),
        (("emit", "dockerfile", "--target", "d"), ["devel"]),
        (("emit", "dockerfile", "--dialect", ""), ["buildkit", "portable"]),
        (("emit", "dockerfile", "--driver", "c"), ["client"]),
        (("emit", "shell", "--profile", "torch-2.5", "--arch", "pv"), ["pvc", "pvc-sdv", "pvc-vg"]),
        (("verify", "--suite", ""), ["transformers", "accelerate", "diffusers", "pytorch", "torch-xpu-ops"]),
        (("verify", "--suite", "trans"), ["transformers"]),
        (("build", "--profile", "torch-2.5", "--rev", "vi"), ["vision="]),
        (("build", "--profile", "torch-2.5", "--set", "to"), ["torch."]),
        (("build", "--profile", "torch-2.5", "--patch", "to"), ["torch="]),
        (("bisect", "--profile", "torch-2.5", "--component", "au"), ["audio"]),
        (("remove", "--name", "si"), ["sim"]),
        (("build", "--launcher", "s"), ["sccache"]),
        (("build", "--verify", "r"), ["require"]),
        (("verify", "--level", ""), ["quick", "smoke", "full"]),
        (("doctor", "--for", "b"), ["build"]),
    ],
)
def test_offers(words: tuple[str, ...], names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPUSETUP_ROOT", str(tmp_path))
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim/profile.lock.json").touch()
    assert offered(*words) == names


def test_every_command_is_on_its_page() -> None:
    hold_one("../../docs/commands.md", render_commands())


def test_every_option_says_what_it_means() -> None:
    silent = [f"{name} {each.name}" for name, command, _ in list_commands() for each in command.params if not each.help]
    assert silent == []
