"""What a place has of its own: mirrors and packages by the site file alone, and a quota that is too small."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from e2e.support import Tiny, make_tiny, xpusetup

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("into")]
PINS = ("setuptools==80.10.2", "wheel==0.48.0", "packaging==26.3")
SITE = """
[network]
find_links = ["{wheels}"]

[network.git]
"https://tiny.invalid/" = "file://{sources}/"
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return make_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def site(tiny: Tiny, tmp_path: Path) -> dict[str, str]:
    """Give a caller who knows no mirror and no index, on a machine whose site file does."""
    wheels = tmp_path / "wheels"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "download", "--no-deps", "-d", str(wheels))
    subprocess.run((*pip, *PINS), check=True, env=tiny.env)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/tiny").symlink_to(tiny.repository)
    file = tmp_path / "config/xpusetup/site.toml"
    file.parent.mkdir(parents=True)
    file.write_text(SITE.format(wheels=wheels, sources=tmp_path / "sources"))
    kept = {name: value for name, value in tiny.env.items() if not name.startswith(("GIT_CONFIG_", "PIP_", "UV_"))}
    return {**kept, "PIP_NO_INDEX": "1", "XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.mark.long
def test_a_mirror_by_the_site_file_alone(tiny: Tiny, site: dict[str, str], tmp_path: Path) -> None:
    options = ("build", *tiny.options(tmp_path / "root"), "--verify", "off", "--json")
    without = xpusetup(*options, env={**site, "XDG_CONFIG_HOME": str(tmp_path / "none")})
    assert without.document["result"]["failed"] == "requirements"
    assert xpusetup(*options, env=site).result["ran"][-1] == "guard"
    assert "network" not in json.loads((tmp_path / "root/profile.lock.json").read_text())["asked"]["settings"]
    file = Path(site["XDG_CONFIG_HOME"]) / "xpusetup/site.toml"
    file.write_text(file.read_text().replace("[network]", '[network]\npip_extra_index = ["https://other.invalid"]'))
    assert xpusetup(*options, env=site).result["ran"] == []
    plan = xpusetup("plan", *tiny.options(tmp_path / "root"), "--json", env=site).result
    assert plan["chosen_by"]["network.git"] == str(file)
    change = xpusetup("env", "--build", *tiny.options(tmp_path / "root"), "--json", env=site).result["set"]
    assert change["GIT_CONFIG_VALUE_0"] == "https://tiny.invalid/"


def mount_source(path: Path) -> str:
    """Give the device or export that a folder lies on."""
    holding = [each for each in psutil.disk_partitions(all=True) if path.is_relative_to(each.mountpoint)]
    return max(holding, key=lambda each: len(each.mountpoint)).device


def test_a_quota_stops_a_build_before_its_first_byte(tiny: Tiny, tmp_path: Path) -> None:
    profile = tmp_path / "tiny.toml"
    text = tiny.profile.read_text()
    cost = '[cost]\ndisk_gib = [0.5, 0.6]\ncore_hours = [0.1, 0.2]\nsource = "x"\nconfidence = "confirmed"\n'
    profile.write_text(text.replace("[build_requirements]", f"{cost}[build_requirements]", 1))
    program = tmp_path / "bin/quota"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{mount_source(tmp_path)} 900000 0 1000000 0 100 0 0 0'\nexit 1\n")
    program.chmod(0o755)
    env = {**tiny.env, "PATH": f"{program.parent}:{tiny.env['PATH']}"}
    said = xpusetup("build", "--profile", str(profile), "--root", str(tmp_path / "root"), "--verify", "off", env=env)
    assert said.code == 3
    assert " MiB left of the quota at" in said.err
    assert not (tmp_path / "root").exists()
    said = xpusetup(
        "build", "--profile", str(profile), "--root", str(tmp_path / "root"), "--until", "venv", env=tiny.env
    )
    assert said.code == 0, said.err
