"""Gaudi's road to the numbers: a device that computes, under PyTorch's own key for Gaudi, beside a real torch.

PyTorch knows hpu by name, so the simulated device is compiled once more for that key (see standins.gaudi); everything
else is what a person with a card would type.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import CHECKOUT, Said, caller, xpusetup
from standins.gaudi import make_device_source, make_installer, pack_torch

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("gaudi_device")]
TORCH = """
[[components]]
kind = "wheel"
name = "torch"
distribution = "torch"
version = "2.13.0+cpu"
index = "https://download.pytorch.org/whl/cpu"
source = "what these tests have"
confidence = "confirmed"
"""
LEFT = ("training", "models.train_fp32", "models.train_amp_fp16", "kernels", "tensors", "random")
"""What takes minutes here and is no matter of Gaudi's; simxpu's own tests hold it."""


class Card:
    """A folder with a profile for a software whose torch is 2.13, and a caller with the installer on PATH."""

    def __init__(self, folder: Path) -> None:
        device = (CHECKOUT / "xpusetup/data/devices/hpu.toml").read_text()
        (folder / "hpu.toml").write_text(device.replace('"1.22"\ntorch = "2.7"', '"1.22"\ntorch = "2.13"'))
        (folder / "gaudi.toml").write_text(self.profile())
        self.folder, self.root = folder, folder / "root"
        there = make_installer(folder / "installer", pack_torch(folder, "2.13.0+hpu_1.22.0-740.git1"))
        env = caller(folder / "home")
        self.env = {**env, "PATH": f"{there}:{env['PATH']}"}

    @staticmethod
    def profile() -> str:
        text = (CHECKOUT / "profiles/gaudi-1.22.toml").read_text()
        sim = (CHECKOUT / "profiles/sim.toml").read_text()
        changes = (
            ('modes = ["eager", "lazy"]', 'modes = ["eager"]\ndevice = "hpu.toml"'),
            ('pytorch = "fork"', 'pytorch = "public"'),
            ('torch = "2.7"', 'torch = "2.13"'),
            ("pins = []", f"pins = [{sim.split('pins = [')[1].split(']')[0]}]"),
        )
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        return text + TORCH

    def run(self, command: str, *more: str, **variables: str) -> Said:
        """Run a command on the root."""
        options = ("--profile", "gaudi.toml", "--root", str(self.root))
        return xpusetup(command, *options, *more, env={**self.env, **variables}, cwd=self.folder)

    def verify(self, *only: str, **variables: str) -> dict[str, Any]:
        """Verify these checks, and give each by its id."""
        words = [word for name in only for word in ("--only", name)]
        said = self.run("verify", *words, "--json", **variables)
        assert said.code in (0, 1), said
        return {check["id"]: check for check in said.document["result"]["checks"]}


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Card:
    """Build the bridge in the environment that the installer will fill, then install."""
    made = Card(tmp_path_factory.mktemp("card"))
    assert made.run("build", "--until", "requirements", "--json").code == 0
    assert made.run("build", "--until", "torch.fetch", "--json").code == 0
    python = str(made.root / "venv/bin/python")
    source = make_device_source(made.folder / "bridge")
    (wheel,) = (made.root / "wheels").glob("torch-*.whl")
    pip = (python, "-m", "pip", "-q")
    env = {**made.env, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    for words in (
        ("install", "--no-deps", "--force-reinstall", str(wheel)),
        ("wheel", "--no-build-isolation", "--no-deps", "-w", str(made.folder / "installer"), str(source)),
        ("uninstall", "-y", "torch"),
    ):
        subprocess.run((*pip, *words), check=True, env=env)
    return made


def test_installed_and_verified_in_eager_mode(card: Card) -> None:
    skips = [word for name in LEFT for word in ("--skip", name)]
    result = card.run("install", "--verify", "off", "--json").result
    assert result["ran"][-2:] == ["pairing", "guard"]
    seen = json.loads((card.root / "results/pairing.json").read_text())["checks"]
    assert [row["level"] for row in seen] == ["ok"] * len(seen)
    assert seen[-1]["seen"] == "C++ ABI 1: torch and 1 library that call it"
    said = card.run("verify", *skips, "--json")
    checks = {check["id"]: check for check in said.document["result"]["checks"]}
    bad = {name: check["seen"] for name, check in checks.items() if check["level"] in ("fail", "crash")}
    assert bad == {}
    assert said.result["device"] == "hpu:0"
    assert "hpu_backend: 1 graph" in checks["models.infer_compiled"]["seen"]


def test_the_data_loader_is_used_or_says_that_it_fell_back(card: Card) -> None:
    back = card.verify("data")["data.loader"]
    assert (back["level"], "torch's own did the work: Failed to initialize" in back["seen"]) == ("info", True)
    used = card.verify("data", HABANA_TAKES_ALL="1")["data.loader"]
    assert (used["level"], used["seen"]) == ("ok", "2 batches of tensors; the device's own did the work")
    wrong = card.verify("data", HABANA_TAKES_ALL="1", HABANA_SPOILS="1")["data.loader"]
    assert (wrong["level"], wrong["seen"].startswith("other pictures in batch 0")) == ("fail", True)


def test_what_the_device_gets_wrong_is_found(card: Card) -> None:
    found = card.verify("numbers", SIMXPU_FAULT="wrong-numbers")
    assert found["numbers.matmul"]["level"] == "fail"
