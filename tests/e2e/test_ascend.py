"""Ascend's road with stand-ins: an index with torch and torch-npu, and CANN's set_env.sh in a folder of the test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from e2e.support import CHECKOUT, Said, caller, xpusetup
from standins.gaudi import pack_torch
from standins.hashes import with_hashes
from standins.wheels import pack_wheel

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("gaudi")]
FILES = CHECKOUT / "tests/standins/files/ascend"
ENTRY = b"[torch.backends]\ntorch_npu = torch_npu:_autoload\n"
CANN = "/usr/local/Ascend/ascend-toolkit/set_env.sh"
OTHER = "/usr/local/Ascend/cann/set_env.sh"
HOSTILE = 'echo "$NOT_SET_ANYWHERE" >/dev/null\nexport ASCEND_HOME_PATH="$(dirname "${BASH_SOURCE[0]}")/latest"\n'


@dataclass(frozen=True)
class Place:
    """A folder with a profile, its device file and a root, and a caller whose pip knows the stand-ins alone."""

    folder: Path
    env: dict[str, str]

    def run(self, command: str, *more: str) -> Said:
        """Run a command on the root."""
        options = ("--profile", "ascend.toml", "--root", str(self.folder / "root"))
        return xpusetup(command, *options, *more, env=self.env, cwd=self.folder)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("ascend")
    wheels = folder / "wheels"
    pack_torch(wheels, "2.12.0+cpu")
    npu = {"torch_npu/__init__.py": (FILES / "torch_npu.py").read_bytes(), "@INFO@/entry_points.txt": ENTRY}
    pack_wheel(wheels, "torch-npu", "2.12.0", npu, ("torch==2.12.0",))
    for name, version in (("numpy", "2.2.6"), ("pyyaml", "6.0.3")):
        pack_wheel(wheels, name, version, {f"{name}_standin.py": b""})
    device = (CHECKOUT / "xpusetup/data/devices/npu.toml").read_text()
    for script in (CANN, OTHER):
        device = device.replace(script, f"{folder}{script}")
    (folder / "npu.toml").write_text(device)
    profile = (CHECKOUT / "profiles/ascend-2.12.toml").read_text()
    ours = profile.replace('"npu"\npython', '"npu"\ndevice = "npu.toml"\npython')
    (folder / "ascend.toml").write_text(with_hashes(ours, wheels))
    env = caller(folder / "home", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels), PIP_EXTRA_INDEX_URL="")
    return Place(folder, env)


@pytest.fixture(scope="module", autouse=True)
def installed(place: Place) -> Said:
    """Return what install said while there was no CANN; every test needs what it installed."""
    return place.run("install", "--json")


def test_without_cann_it_is_installed_and_not_verified(place: Place, installed: Said) -> None:
    result = installed.result
    assert (result["failed"], result["verified"]) == (None, None)
    assert result["ran"][-2:] == ["guard", "verify.smoke"]
    log = (place.folder / "root/logs/verify.smoke.log").read_text()
    assert f"there is no {place.folder}{CANN}" in log
    assert place.run("env", "--json").result["set"].get("ASCEND_HOME_PATH") is None


def test_its_script_is_sourced_before_torch_is_imported(place: Place) -> None:
    """It reads a variable that nobody set, as such scripts do."""
    script = place.folder / CANN.lstrip("/")
    script.parent.mkdir(parents=True)
    script.write_text(HOSTILE)
    said = place.run("verify", "--level", "quick")
    assert said.code == 4, said
    assert "there is no Ascend NPU here" in said.err
    told = place.run("env", "--json").result["set"]
    assert told["ASCEND_HOME_PATH"] == f"{script.parent}/latest"
    again = place.run("install", "--verify", "require", "--json")
    assert (again.code, again.document["error"]["code"]) in ((3, 3), (4, 4))
    script.unlink()


def test_without_the_script_the_extension_breaks_the_import_and_is_named(place: Place) -> None:
    said = place.run("verify", "--level", "quick", "--json")
    assert said.code == 1
    (first, *_) = said.document["result"]["checks"]
    assert first["seen"].startswith("extension torch_npu (torch-npu 2.12.0) cannot be loaded: ImportError: libhccl.so")
