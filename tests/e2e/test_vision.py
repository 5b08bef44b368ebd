"""The real torchvision through the product: fetched, compiled, inspected, installed, verified, used; then nothing.

One build serves all tests of this file, because it takes minutes.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.support import Said, caller, xpusetup
from real.vision_source import UPSTREAM, UPSTREAM_REV, VisionSource, vision_repository

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("vision")]

PROFILE = Path(__file__).parents[1] / "profiles/vision-0.21.toml"
PROGRAM = """
import json, torch, torchvision
boxes = torch.tensor([[0.0, 0.0, 10.0, 10.0], [1.0, 1.0, 11.0, 11.0], [20.0, 20.0, 30.0, 30.0]])
kept = torchvision.ops.nms(boxes, torch.tensor([0.9, 0.8, 0.7]), iou_threshold=0.5)
with torch.inference_mode():
    out = torchvision.models.resnet50(weights=None).eval()(torch.ones(1, 3, 64, 64))
shape, finite = list(out.shape), bool(out.isfinite().all())
print(json.dumps({"version": torchvision.__version__, "nms": kept.tolist(), "shape": shape, "finite": finite}))
"""


@dataclass(frozen=True)
class Built:
    source: VisionSource
    root: Path
    env: dict[str, str]
    said: Said

    @property
    def manifest(self) -> Mapping[str, object]:
        found: dict[str, object] = json.loads((self.root / "manifest.json").read_text())
        return found

    def again(self, command: str, *more: str) -> Said:
        profile = str(self.root.with_name(PROFILE.name))
        return xpusetup(command, "--profile", profile, "--root", str(self.root), *more, env=self.env)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build from the pinned upstream commit, or where that is out of reach from the same release as Debian keeps it."""
    work = tmp_path_factory.mktemp("vision")
    source = vision_repository(work / "source")
    profile, root = work / PROFILE.name, work / "root"
    profile.write_text(PROFILE.read_text().replace(UPSTREAM_REV, source.rev))
    env = caller(work / "home", **redirection(source))
    said = xpusetup("build", "--profile", str(profile), "--root", str(root), "--json", env=env)
    return Built(source, root, env, said)


def redirection(source: VisionSource) -> dict[str, str]:
    """Lead git to the local repository as any mirror would be used: the profile keeps upstream's address."""
    if source.origin == "upstream":
        return {name: value for name, value in os.environ.items() if name.startswith("GIT_CONFIG_")}
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{source.url}.insteadOf",
        "GIT_CONFIG_VALUE_0": UPSTREAM,
    }


def test_built_and_verified(built: Built) -> None:
    assert built.said.code == 0, built.said.out
    result = built.said.result
    assert result["verified"] is True
    assert result["failed"] is None
    assert [(wheel["name"], wheel["version"]) for wheel in result["wheels"]] == [
        ("torch", "2.13.0+cpu"),
        ("torchvision", "0.21.0+cpu"),
    ]
    assert built.manifest["verified"] is True


def test_the_wheel_was_inspected(built: Built) -> None:
    inspected = json.loads((built.root / "results/vision.inspect.json").read_text())
    assert (inspected["name"], inspected["version"], inspected["ok"]) == ("torchvision", "0.21.0+cpu", True)
    assert {Path(library["path"]).name for library in inspected["libraries"]} >= {"_C.so", "image.so"}
    assert built.manifest["inspected"] == {"vision": inspected}


def test_the_sources_are_at_the_pin(built: Built) -> None:
    status = built.again("status", "--json")
    assert status.code == 0, status.out
    assert status.result["sources"] == {
        "vision": {"rev": built.source.rev, "changed": False, "own": False, "editable": False, "archive": ""}
    }


def test_torch_puts_no_cache_of_its_own_before_the_compiler(built: Built) -> None:
    """It would, whether asked or not, and twice where the build has one already."""
    written = list(built.root.glob("src/vision/build/**/build.ninja"))
    assert written
    assert all("\ncxx = g++\n" in path.read_text() for path in written)


def test_it_computes(built: Built) -> None:
    said = built.again("run", "--", "python", "-c", PROGRAM)
    assert said.code == 0, said.err
    assert json.loads(said.out) == {"version": "0.21.0+cpu", "nms": [0, 2], "shape": [1, 1000], "finite": True}


def test_a_second_build_runs_nothing(built: Built) -> None:
    second = built.again("build", "--json")
    assert second.code == 0, second.out
    assert second.result["ran"] == []
    assert second.result["skipped"] == built.said.result["ran"]
    assert second.result["wheels"] == built.said.result["wheels"]
    assert second.result["verified"] is True


def test_another_root_gives_the_same_bytes(built: Built) -> None:
    """It compiles once more, without a cache, under another folder, home, locale, host name, user and time zone."""
    found = built.again("wheel", "rebuild", "--json").result
    assert {each["name"]: each["differences"] for each in found["wheels"]} == {"torchvision": []}
    assert found["same"]
