"""Every release that ships, built whole against stand-ins that have the rules of just that release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from standins.eras import rules_of, runtime_of, triton_of
from standins.releases import RELEASES

if TYPE_CHECKING:
    from standins.eras import Eras

pytestmark = pytest.mark.e2e
WHOLE_ELSEWHERE = {"torch-2.5", "torch-2.14"}
"""In test_eras.py."""
NAMES = [
    pytest.param(f"torch-{release}", marks=pytest.mark.xdist_group(f"eras-{'2.5' if number % 2 else '2.14'}"))
    for number, release in enumerate(RELEASES)
    if f"torch-{release}" not in WHOLE_ELSEWHERE
]


@pytest.mark.parametrize("name", NAMES)
def test_a_release_becomes_its_wheels(eras: Eras, name: str) -> None:
    rules, built = rules_of(name), eras.built(name)
    wheels = {wheel["name"]: wheel["version"] for wheel in built.result["wheels"]}
    expected = {
        "torch": f"{rules.torch}+xpu",
        "torchvision": f"{rules.vision}+xpu",
        "torchaudio": f"{rules.audio}+xpu",
    }
    assert {name: version for name, version in wheels.items() if "triton" not in name} == expected
    assert {version for name, version in wheels.items() if "triton" in name} == (
        set() if name == "torch-2.4" else {triton_of(name)}
    )
    inspected = built.read("results/torch.inspect.json")
    levels = {check["id"]: check["level"] for check in inspected["checks"]}
    assert {levels[f"wheel.{check}"] for check in ("version", "tags", "xpu", "abi", "arch", "rpath")} == {"ok"}
    runtime = {requirement for requirement in inspected["requires"] if "sycl" in requirement}
    assert runtime == (set() if name == "torch-2.4" else {f"intel-sycl-rt=={runtime_of(name)}"})
