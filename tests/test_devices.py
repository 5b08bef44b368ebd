"""Device files: those that ship hold to the schema and to what else is known; others are refused with every error."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from golden import hold_one
from xpusetup.base.errors import UsageError
from xpusetup.config.devices import (
    Device,
    SourcedFact,
    find_device,
    known_devices,
    parse_device,
    read_device,
    shipped_device,
    shipped_names,
)
from xpusetup.config.settings import Settings
from xpusetup.config.shipped import load_profile
from xpusetup.machine.accelerators import LoadedEntryPoint, Presence, cards_of, make_rows, owner_of
from xpusetup.machine.facts import Gpu, Hardware
from xpusetup.machine.probe_devices import find_python, probe_device
from xpusetup.machine.tables import gpu_table
from xpusetup.run.workspace import Where, describe_device, open_workspace
from xpusetup.system.files import Sysroot

PACKAGE = Path(__file__).parents[1] / "xpusetup"
ACME = 'name = "acme"\ntitle = "Acme"\nexpected = true\n'
BAD = """
nam = "acme"
title = 7
pci_vendors = ["0x1DA3"]
nodes = "some"
built_in = "maybe"
[hardware]
nodes = ["dev/acme"]
devices = { zz = "Acme One" }
[tool]
name = "-rf"
[extension]
distribution = "acme torch"
modul = "acme"
torch = "newest"
[gaps]
numbers = "no area"
[[releases]]
extention = "1"
"""


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_files(name: str) -> None:
    device = shipped_device(name)
    assert device.name == name
    assert device.built_in != "never" or device.extension is not None
    tables = [device.hardware, device.tool, device.environment, device.extension, device.source_, *device.releases]
    assert [table for table in tables if isinstance(table, SourcedFact) and not table.source] == []
    rows = [row.extension for row in device.releases]
    assert len(rows) == len(set(rows))


def test_all_that_the_project_names_have_a_file() -> None:
    assert shipped_names() == ["cpu", "cuda", "hpu", "npu", "openreg", "simxpu", "xpu"]


@pytest.mark.parametrize("name", ["hpu", "npu"])
def test_ids_are_those_of_the_gpu_table(name: str) -> None:
    """Two files that say the same may not drift apart."""
    device, table = shipped_device(name), gpu_table()
    found = {key: product for key, product in table.products.items() if product.family.accelerator == name}
    assert device.hardware is not None
    assert {(device.pci_vendors[0], each) for each in device.hardware.devices} == set(found)
    assert {each: product.name for (_, each), product in found.items()} == dict(device.hardware.devices)


def test_golden_every_error_of_a_file() -> None:
    with pytest.raises(UsageError) as caught:
        parse_device(BAD, "acme.toml")
    hold_one("errors/device.txt", f"{caught.value.message}\n---\n{caught.value.fix}\n")


@pytest.mark.parametrize("name", ["Acme", "1acme", "acme-2", "a.b", ""])
def test_names_are_what_torch_takes(name: str) -> None:
    with pytest.raises(UsageError, match="name: must match"):
        parse_device(ACME.replace("acme", name), "x.toml")


def literals(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text()))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_no_code_knows_simxpu() -> None:
    """It uses nothing else than its device file and its profile: what holds for it holds for any vendor's device."""
    sources = (path for path in PACKAGE.rglob("*.py") if "simxpu" not in path.parts)
    assert [path.name for path in sources if "simxpu" in literals(path)] == []


def gpu(vendor: str, device: str) -> Gpu:
    return Gpu(address=f"0000:{device}", vendor=vendor, device=device, pci_class="0x120000")


def test_cards_of_a_maker_of_many_things() -> None:
    hardware = Hardware(gpus=[gpu("19e5", "d802"), gpu("19e5", "1822"), gpu("1da3", "1020")])
    seen = {name: cards_of(shipped_device(name), hardware, gpu_table()) for name in shipped_names()}
    assert {name: cards for name, cards in seen.items() if cards} == {
        "npu": ("Ascend 910B at 0000:d802",),
        "hpu": ("Gaudi2 at 0000:1020",),
    }


def test_cards_of_a_device_from_outside() -> None:
    device = parse_device(f'{ACME}pci_vendors = ["1dac"]\n[hardware]\ndevices = {{ "0001" = "Acme One" }}\n')
    hardware = Hardware(gpus=[gpu("1dac", "0001"), gpu("1dac", "0002")])
    assert cards_of(device, hardware, gpu_table()) == ("Acme One at 0000:0001",)


def test_nodes_of_another_maker_do_not_count(tmp_path: Path) -> None:
    """Intel's NPU has a node of the same folder as Gaudi."""
    for number, vendor in enumerate(("0x8086", "0x1da3")):
        (tmp_path / f"sys/class/accel/accel{number}/device").mkdir(parents=True)
        (tmp_path / f"sys/class/accel/accel{number}/device/vendor").write_text(f"{vendor}\n")
        (tmp_path / "dev/accel").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"dev/accel/accel{number}").touch()
    device = replace(shipped_device("hpu"), tool=None)
    assert probe_device(device, Sysroot(str(tmp_path)), ()).nodes == ("/dev/accel/accel1",)


def test_the_vendors_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    script = tmp_path / "usr/local/Ascend/cann/set_env.sh"
    script.parent.mkdir(parents=True)
    script.touch()
    device = replace(shipped_device("npu"), tool=None)
    seen = probe_device(device, Sysroot(str(tmp_path)), ())
    assert (seen.script, seen.ready) == ("/usr/local/Ascend/cann/set_env.sh", False)
    monkeypatch.setenv("ASCEND_HOME_PATH", "/usr/local/Ascend/cann")
    assert probe_device(device, Sysroot(str(tmp_path)), ()).ready


@pytest.mark.parametrize(
    ("entry", "owner"),
    [
        (LoadedEntryPoint(name="torch_npu", value="torch_npu:_autoload", distribution="torch-npu"), "npu"),
        (LoadedEntryPoint(name="x", value="y:z", distribution="torch_npu"), "npu"),
        (LoadedEntryPoint(name="device_backend", value="habana_frameworks:__autoload", distribution="habana-x"), "hpu"),
        (LoadedEntryPoint(name="device_backend", value="acme:load", distribution="habana_torch_plugin"), "hpu"),
        (LoadedEntryPoint(name="simxpu", value="other:f", distribution="other"), "simxpu"),
        (LoadedEntryPoint(name="other", value="other:f", distribution="other"), None),
    ],
)
def test_whose_an_entry_is(entry: LoadedEntryPoint, owner: str | None) -> None:
    found = owner_of(entry, known_devices(Settings()))
    assert (found.name if found else None) == owner


def test_without_an_environment_a_device_is_here_by_its_bus_alone() -> None:
    rows = make_rows(known_devices(Settings()), {"hpu": Presence(nodes=("/dev/accel/accel0",))}, None)
    assert [row.name for row in rows if row.present] == ["cpu", "hpu"]
    assert not any(row.package for row in rows)


def write(folder: Path, text: str = ACME) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "acme.toml"
    path.write_text(text)
    return path


def test_a_site_adds_devices(tmp_path: Path) -> None:
    settings = Settings(devices=[str(write(tmp_path))])
    assert find_device("acme", "", settings).title == "Acme"
    assert known_devices(settings)[-1].name == "acme"
    assert find_device("cpu", "", settings) == shipped_device("cpu")


def test_a_site_stands_in_for_ours(tmp_path: Path) -> None:
    settings = Settings(devices=[str(write(tmp_path, ACME.replace('"acme"', '"xpu"')))])
    assert find_device("xpu", "", settings).title == "Acme"
    assert [each.title for each in known_devices(settings) if each.name == "xpu"] == ["Acme"]


def test_a_profile_names_its_device_from_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "mine")
    text = (PACKAGE.parent / "profiles/sim.toml").read_text()
    profile = tmp_path / "mine/p.toml"
    profile.write_text(text.replace('accelerator = "simxpu"', 'accelerator = "acme"\ndevice = "acme.toml"'))
    monkeypatch.chdir(tmp_path)
    workspace = open_workspace(Where(profile="mine/p.toml"))
    assert (workspace.device.title, workspace.profile.device) == ("Acme", str(tmp_path / "mine/acme.toml"))
    assert load_profile("sim").device == ""
    profile.write_text(profile.read_text().replace('accelerator = "acme"', 'accelerator = "acne"'))
    with pytest.raises(UsageError, match="is about 'acme', and the profile is for 'acne'"):
        open_workspace(Where(profile="mine/p.toml"))


def test_a_device_of_which_no_more_than_the_name_is_known(tmp_path: Path) -> None:
    assert describe_device("mystery") == Device(name="mystery", title="mystery device")
    assert describe_device(str(write(tmp_path))).title == "Acme"
    with pytest.raises(UsageError, match="there is no device file"):
        read_device(str(tmp_path / "none.toml"))


def test_environments_by_folder_and_interpreter(tmp_path: Path) -> None:
    python = tmp_path / "env/bin/python3"
    python.parent.mkdir(parents=True)
    python.touch()
    assert find_python(tmp_path / "env") == find_python(python) == str(python)
    assert find_python(tmp_path) == ""
