"""The profile of the tests that builds the real torchvision, pinned to what is within reach from here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import FailedError, seconds_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.place import Place

TESTS = Path(__file__).resolve().parents[1] / "tests"
PROFILE = TESTS / "profiles/vision-0.21.toml"
WARM = 3
UPSTREAM = "https://github.com/pytorch/vision"
UPSTREAM_REV = "7af698794eded568735f9519593603c1ec889eba"


def write_profile(folder: Path, env: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Give the profile's file and the environment in which git finds its source."""
    argv = (sys.executable, "-m", "real.vision_source", str(folder / "source"))
    done = subprocess.run(argv, cwd=TESTS, env=env, check=False, capture_output=True, text=True)
    if done.returncode:
        raise FailedError(done.stderr)
    source = json.loads(done.stdout)
    profile = folder / PROFILE.name
    profile.write_text(PROFILE.read_text().replace(UPSTREAM_REV, source["rev"]))
    if source["origin"] == "upstream":
        return str(profile), dict(env)
    redirected = {"GIT_CONFIG_KEY_0": f"url.{source['url']}.insteadOf", "GIT_CONFIG_VALUE_0": UPSTREAM}
    return str(profile), {**env, "GIT_CONFIG_COUNT": "1", **redirected}


def empty_cache(folder: Path) -> dict[str, str]:
    """Give the settings of a compiler cache that has nothing yet."""
    return {"CCACHE_DIR": str(folder / "ccache"), "CCACHE_MAXSIZE": "5G"}


def measure_warm(place: Place) -> Row:
    """Build the component from its fetch on, with an empty cache and then with what that left."""
    rebuild = place.build(before=place.forget_component)
    shutil.rmtree(place.env["CCACHE_DIR"], ignore_errors=True)
    cold = [seconds_of(rebuild)]
    warm = [seconds_of(rebuild) for _ in range(WARM)]
    return make_row("vision_warm", warm, cold, goal=1 / 8, unit="s")
