"""The libraries of an environment with a real torch in it: sound, and read without loading any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.environments import Place, link
from e2e.support import xpusetup

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.fixtures import Demo

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]


def test_a_real_torch_is_sound(demo: Demo) -> None:
    found = Place(demo.root / "venv").look()
    assert found["conflicts"] == []
    assert found["looked"] > 10


def test_an_extension_of_the_other_abi_beside_a_real_torch(demo: Demo, tmp_path: Path) -> None:
    """Ask for a function of c10 with the old std::string; the environment itself stays as it is."""
    venv = Place(demo.root / "venv")
    core = venv.packages / "torch/lib/libc10.so"
    place = Place.make(tmp_path / "env")
    (place.packages / "torch").symlink_to(venv.packages / "torch")
    text = "#include <string>\nnamespace c10 { struct Error { Error(std::string, std::string); }; }\n"
    text += "void go() { c10::Error(std::string(), std::string()); }\n"
    module = link(place.module("acme"), text, "-D_GLIBCXX_USE_CXX11_ABI=0", core, compiler="g++")
    place.record("acme 1.0", module)
    (one,) = place.look()["conflicts"]
    assert (one["kind"], one["owners"]["library"]) == ("abi", "acme 1.0")
    assert one["first"].endswith("/torch/lib/libc10.so")
    assert all("c105Error" in name and "Ss" in name for name in one["names"])


def test_the_wheel_that_was_built_is_what_its_profile_says(demo: Demo) -> None:
    (wheel,) = (demo.root / "wheels").glob("simxpu-*.whl")
    result = xpusetup("wheel", "check", str(wheel), "--profile", "sim", "--json", env=demo.env).result
    assert result["ok"]
    assert {one["level"] for one in result["checks"] if one["id"] in ("wheel.abi", "wheel.version")} == {"ok"}
