"""Where a build goes: settings, profile, device and the folder of its root."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from data.profiles import SHIPPED, small_text
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import Request
from xpusetup.config.shipped import load_profile, profile_names
from xpusetup.run.workspace import Where, load_device, open_built, open_workspace, origins_of, root_name
from xpusetup.system.files import check_folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def refused(**where: Any) -> tuple[str, str]:
    with pytest.raises(UsageError) as caught:
        open_workspace(Where(**where))
    return caught.value.message, caught.value.fix


def test_the_default(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPUSETUP_SYSROOT", str(here / "nothing"))
    workspace = open_workspace(Where())
    assert workspace.profile.name == "torch-2.14"
    assert workspace.device.title == "Intel GPU"
    assert workspace.root == here / "data/xpusetup/torch-2.14"
    assert workspace.chosen_by == "the newest release"
    assert workspace.layout.src == "@ROOT@/src"


@pytest.mark.parametrize(
    ("device", "profile", "why"),
    [
        ("e20b", "torch-2.14", "the newest that fits Arc B580 (Battlemage)"),
        ("0bd5", "torch-2.12", "the newest that fits Data Center GPU Max 1550 (Ponte Vecchio)"),
        ("9a49", "torch-2.14", "the newest release"),
    ],
)
def test_the_default_fits_the_gpu(
    here: Path, monkeypatch: pytest.MonkeyPatch, device: str, profile: str, why: str
) -> None:
    gpu = here / "sysroot/sys/bus/pci/devices/0000:03:00.0"
    gpu.mkdir(parents=True)
    for name, text in {"vendor": "0x8086", "device": f"0x{device}", "class": "0x030000"}.items():
        (gpu / name).write_text(f"{text}\n")
    monkeypatch.setenv("XPUSETUP_SYSROOT", str(here / "sysroot"))
    workspace = open_workspace(Where())
    assert (workspace.profile.name, workspace.chosen_by) == (profile, why)
    assert open_workspace(Where(profile="torch-2.9")).chosen_by == "--profile"


def test_the_only_build_here_is_meant(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPUSETUP_SYSROOT", str(here / "nothing"))
    roots = here / "data/xpusetup"

    def chosen(profile: str = "") -> tuple[str, str]:
        workspace = open_built(Where(profile=profile))
        return workspace.profile.name, workspace.chosen_by

    def build(name: str) -> None:
        (roots / name).mkdir(parents=True)
        own = {"schema": 1, "profile": {"name": name}} if not name.startswith("notes") else {}
        (roots / name / "profile.lock.json").write_text(json.dumps(own))

    assert chosen() == ("torch-2.14", "the newest release")
    build("sim")
    build("notes-of-mine")
    with pytest.raises(NotReadyError, match=r"not finished: sim \(there is no environment"):
        chosen()
    (roots / "sim/venv/bin").mkdir(parents=True)
    (roots / "sim/venv/bin/python").touch()
    assert chosen() == ("sim", "the only build here")
    assert chosen(profile="torch-2.5") == ("torch-2.5", "--profile")
    build("torch-2.9")
    assert chosen() == ("sim", "the build that was finished last")


@pytest.mark.parametrize("name", ["", "gone"])
def test_a_lock_that_somebody_changed(name: str, here: Path) -> None:
    """Without the profile's file the root's own counts: where that is none any more, it is said, with what mends it."""
    root = here / "there"
    root.mkdir()
    (root / "profile.lock.json").write_text(json.dumps({"schema": 1, "profile": {"name": name}}))
    with pytest.raises(UsageError, match=r"profile\.lock\.json: ") as caught:
        open_built(Where(profile=name, root=str(root)))
    assert "rm " in caught.value.fix


@pytest.mark.parametrize(
    ("where", "root"),
    [
        ({"profile": "sim"}, "data/xpusetup/sim"),
        ({"profile": "sim", "name": "other"}, "data/xpusetup/other"),
        ({"profile": "sim", "root": "there"}, "there"),
        ({"profile": "sim", "root": "there", "name": "other"}, "there"),
        ({"profile": "sim", "rev": ("simxpu=main",)}, "data/xpusetup/sim-simxpu-main"),
        ({"profile": "sim", "rev": ("simxpu=refs/pull/7/head",), "name": "other"}, "data/xpusetup/other"),
        (
            {"profile": "torch-2.5", "rev": ("vision=pr/7", f"torch={'a' * 40}")},
            f"data/xpusetup/torch-2.5-torch-{'a' * 12}-vision-pr-7",
        ),
    ],
)
def test_roots(where: dict[str, Any], root: str, here: Path) -> None:
    assert open_workspace(Where(**where)).root == here / root


def test_without_xdg(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME")
    assert open_workspace(Where(profile="sim")).root == here / "home/.local/share/xpusetup/sim"


def test_the_parent_of_roots(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPUSETUP_ROOT", str(here / "scratch"))
    assert open_workspace(Where(profile="sim")).root == here / "scratch/sim"
    assert open_workspace(Where(profile="sim", root="x")).root == here / "x"
    monkeypatch.setenv("XPUSETUP_ROOT", "~/builds")
    assert open_workspace(Where(profile="sim")).root == here / "home/builds/sim"


def test_settings_of_the_project_and_the_site(here: Path) -> None:
    site = here / "config/xpusetup/site.toml"
    site.parent.mkdir(parents=True)
    site.write_text('root = "/scratch/me"\nbuild_dir = "~/tmp"\nprefix = "/opt/torch"\nprofile = "torch-2.5"\n')
    (here / "xpusetup.toml").write_text('profile = "sim"\n')
    workspace = open_workspace(Where())
    assert (workspace.profile.name, workspace.chosen_by) == ("sim", "xpusetup.toml")
    assert workspace.root == Path("/scratch/me/sim")
    assert (workspace.layout.src, workspace.layout.venv) == (str(here / "home/tmp/sim"), "/opt/torch/sim")
    given = open_workspace(Where(profile="torch-2.14", build_dir="b", prefix="p"))
    assert (given.profile.name, given.chosen_by) == ("torch-2.14", "--profile")
    assert (given.layout.src, given.layout.venv) == (str(here / "b"), str(here / "p"))


def test_where_each_value_came_from(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "xpusetup.toml").write_text(
        'prefix = "/opt"\narch = ["pvc"]\nroot = "/r"\n[network]\npip_index = "https://m"\n'
    )
    where = Where(profile="torch-2.14", build_dir="b")
    found = origins_of(open_workspace(where), where, Request())
    assert found == {
        "profile": "--profile",
        "arch": "xpusetup.toml",
        "prefix": "xpusetup.toml",
        "root": "xpusetup.toml",
        "network.pip_index": "xpusetup.toml",
        "build_dir": "--build-dir",
    }
    assert origins_of(open_workspace(where), where, Request(arch=("bmg",)))["arch"] == "--arch"
    monkeypatch.setenv("XPUSETUP_ROOT", "/other")
    assert origins_of(open_workspace(where), where, Request())["root"] == "XPUSETUP_ROOT"
    (here / "xpusetup.toml").unlink()
    assert origins_of(open_workspace(where), where, Request())["arch"] == "the profile"
    sim = Where(profile="sim")
    assert "arch" not in origins_of(open_workspace(sim), sim, Request())


def test_a_bad_settings_file_is_refused(here: Path) -> None:
    (here / "xpusetup.toml").write_text("profil = 1\n")
    assert refused() == ("xpusetup.toml:1: profil: unknown key; did you mean 'profile'?", "correct xpusetup.toml")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("zzzzzz", "there is no profile 'zzzzzz'"),
        ("../profiles/none.toml", "there is no profile file ../profiles/none.toml that can be read"),
        ("x" * 5000, f"there is no profile {'x' * 5000!r}"),
    ],
)
def test_unknown_profiles(name: str, message: str) -> None:
    said, fix = refused(profile=name)
    assert (said, fix.endswith("xpusetup profiles list")) == (message, True)


@pytest.mark.parametrize(("name", "meant"), [("sin", "sim"), ("torch-2-14", "torch-2.14")])
def test_the_nearest_profile_is_named_whole(name: str, meant: str) -> None:
    told = (f"there is no profile {name!r}; did you mean {meant}?", f"the same command with {meant}")
    assert refused(profile=name) == told


def test_a_folder_is_no_profile() -> None:
    assert refused(profile="./") == ("cannot read .: Is a directory", "name a file, not a folder")


def test_a_file_serves_as_a_name(here: Path) -> None:
    (here / "mine.toml").write_text(small_text())
    workspace = open_workspace(Where(profile="mine.toml"))
    digest = hashlib.sha256(str(here / "mine.toml").encode()).hexdigest()[:8]
    assert workspace.profile.name == "small"
    assert workspace.root.name == f"mine-{digest}"
    assert root_name("./mine.toml") == workspace.root.name
    assert root_name("sim") == "sim"


@pytest.mark.parametrize("name", ["my own.toml", "a;b.toml", "new\nline.toml", "\udcff.toml"])
def test_a_file_with_any_name_has_a_root_that_can_hold_a_build(here: Path, name: str) -> None:
    (here / name).write_text(small_text())
    root = open_workspace(Where(profile=name)).root
    assert check_folder(root) == root
    assert root.name.isprintable()


@pytest.mark.parametrize("name", ["a b", "new\nline", "\x07", "\udcff"])
def test_a_root_that_cannot_hold_a_build_is_refused(here: Path, name: str) -> None:
    assert "compiler flags and PATH cannot carry" in refused(profile="sim", root=f"{here}/{name}")[0]


def test_messages_of_a_file_name_it(here: Path) -> None:
    (here / "mine.toml").write_text(small_text(("tier", "teir")))
    message, fix = refused(profile="./mine.toml")
    assert message.splitlines()[-1] == "./mine.toml:4: teir: unknown key; did you mean 'tier'?"
    assert fix == "correct the file, then: xpusetup profiles check ./mine.toml"


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "."])
def test_a_name_is_no_path(name: str) -> None:
    assert refused(profile="sim", name=name) == (
        f"--name {name!r} is not a folder name",
        "use --root DIR for a folder elsewhere",
    )


@pytest.mark.parametrize("char", [*" :;'\"`\\$&|<>()[]{}*?!#@", "\t", "\n"])
def test_odd_characters(char: str) -> None:
    places = {
        "root": "--root DIR (or XPUSETUP_ROOT)",
        "build_dir": "--build-dir DIR",
        "prefix": "--prefix DIR",
        "name": "--name a-b",
    }
    for option, named in places.items():
        where = {option: f"a{char}b" if option == "name" else f"/a{char}b"}
        message, fix = refused(profile="sim", **where)
        assert message.startswith("the folder ")
        assert message.endswith(f" holds {char!r}, which compiler flags and PATH cannot carry")
        assert fix == f"choose a plainer one: {named}"


@pytest.mark.parametrize("path", ["/a-b_c.d+e/f", "/home/é", "/x=y", "/a,b", "/a%b", "/~x"])
def test_folders_that_are_fine(path: str) -> None:
    assert check_folder(Path(path)) == Path(path)


def test_several_odd_characters_are_named() -> None:
    with pytest.raises(UsageError, match=r"holds ' ' '\$', which"):
        check_folder(Path("/a $b"))


def test_devices() -> None:
    assert load_device("simxpu").expected
    with pytest.raises(UsageError) as caught:
        load_device("gpu")
    known = "cpu, cuda, hpu, npu, openreg, simxpu, xpu"
    assert caught.value.message == "nothing is known of an accelerator 'gpu'"
    assert caught.value.fix == f'known: {known}; another one needs a file of its own: device = "FILE" in the profile'


def test_names_are_those_of_the_files() -> None:
    assert tuple(profile_names()) == SHIPPED
    assert os.path.isabs(open_workspace(Where(profile="sim", root="relative")).root)  # noqa: PTH117 - a text
    assert load_profile("sim").name == "sim"


def test_the_options_that_lead_here_again(here: Path) -> None:
    """A command that is offered as a fix means the same profile and folders, also where the profile is a file."""
    given = Where(profile="sim", root="r", prefix="p")
    assert open_workspace(given).options == "--profile sim --root r --prefix p"
    text = (Path(__file__).parents[1] / "profiles/sim.toml").read_text()
    (here / "my own").mkdir()
    (here / "my own/mine.toml").write_text(text)
    assert open_workspace(Where(profile="my own/mine.toml")).options == "--profile 'my own/mine.toml'"
