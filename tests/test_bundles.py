"""Bundles as values: what bundle.json may say, submodules, wheels that fit, variables, logs, and the file's bytes."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tarfile
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from data.profiles import shipped
from data.targets import plan_for
from xpusetup.base.document import read_as, to_table
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import ROOT, Layout, Request
from xpusetup.bundle import offline
from xpusetup.bundle.collect import bundled_parts, bundled_pins, make_bundle_plan, make_wheel_bundle_plan
from xpusetup.bundle.contents import (
    Bundle,
    BundleMember,
    is_safe,
    make_offline,
    missing_wheels,
    parse_bundle,
    render_bundle,
    resolve_address,
)
from xpusetup.bundle.io import hash_head, hash_members, read_head, read_members, unpack, write_bundle
from xpusetup.bundle.offline import enter, find_attempt
from xpusetup.config.shipped import shipped as all_shipped
from xpusetup.config.take import choose_toolkit, toolkits_of
from xpusetup.plan.install import make_install_plan
from xpusetup.plan.requirements import requirement_texts
from xpusetup.recommend.machine import known
from xpusetup.run.prepare import asking_words
from xpusetup.run.workspace import Where
from xpusetup.system.program import repack, running_with

if TYPE_CHECKING:
    from pathlib import Path

REV = "a0c00e72cbc4a08d4200771ea33ea9fa32d58706"
SHA = "0" * 64


def document(**changes: Any) -> dict[str, Any]:
    sim = to_table(shipped("sim"))
    told: dict[str, Any] = {
        "schema": 1,
        "created_by": "0.1.0",
        "profile": sim,
        "base": sim,
        "file": "profile/sim.toml",
        "parts": ["torch", "simxpu"],
        "pins": ["wheel==0.48.0"],
        "python": "3.11.7",
        "machine": "x86_64",
        "repositories": [
            {"folder": "git/x-1.git", "addresses": ["https://x.invalid/x"], "commits": {REV: f"git/x-1-{REV}.pack"}}
        ],
        "members": [
            {"name": name, "size": 1, "sha256": SHA}
            for name in ("profile/sim.toml", f"git/x-1-{REV}.pack", "wheels/a.whl")
        ],
    }
    return {**told, **changes}


def parse(**changes: Any) -> Bundle:
    return parse_bundle(json.dumps(document(**changes)).encode(), "b.tar")


def refused(**changes: Any) -> str:
    with pytest.raises(UsageError) as caught:
        parse(**changes)
    return caught.value.message


def test_what_is_written_is_read() -> None:
    bundle = parse()
    assert parse_bundle(render_bundle(bundle).encode(), "b.tar") == bundle
    assert (bundle.names("wheels"), bundle.size) == (["a.whl"], 3)


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../up", "a/../../up", "a//b", "./a", "a/.", "-rf", "a\nb", "a b", "C:x", "", "a\\b", "a/..", "é"],
)
def test_names_that_lead_elsewhere(name: str) -> None:
    assert not is_safe(name)
    member = {"name": name, "size": 1, "sha256": SHA}
    assert refused(members=[*document()["members"], member])


def test_packs_and_profile_have_to_be_members() -> None:
    told = document()["members"]
    assert "git/x-1-" in refused(members=[told[0], told[2]])
    assert "profile/sim.toml" in refused(members=told[1:])
    assert "profile/sim.toml" in refused(members=[*told, told[0]])


def test_strange_documents() -> None:
    assert "made by a newer xpusetup (0.9)" in refused(schema=2, created_by="0.9")
    assert "wheel: unknown key" in refused(wheel=[])
    with pytest.raises(UsageError, match="is no JSON"):
        parse_bundle(b"[" * 100000, "b.tar")
    with pytest.raises(UsageError, match=r"bundle\.json"):
        parse_bundle(b"[]", "b.tar")


def test_a_bundle_is_for_a_build_or_for_an_installation() -> None:
    assert (parse().purpose, parse(purpose="install").purpose) == ("build", "install")
    assert "purpose" in refused(purpose="run")


def test_the_plan_that_gathers_wheels() -> None:
    """What an installation downloads, and all that it requires; no survey of nothing, and nothing is installed."""
    profile = shipped("torch-2.14")
    plan = make_install_plan(profile, Request(), plan_for("torch-2.14").target, Layout())
    gathered = make_wheel_bundle_plan(profile, Request(), plan, ("0.1.0", "/src", "/constraints"))
    downloads = [f"{name}.download" for name in ("torch", "vision", "audio", "triton")]
    assert [step.id for step in gathered.steps] == ["venv", "survey", *downloads, "bundle.wheels", "bundle.program"]
    assert bundled_parts(gathered) == ["torch", "vision", "audio", "triton"]
    words = next(step.run[1] for step in gathered.steps if step.id == "bundle.wheels")
    assert "torchaudio==2.11.0+xpu" in words
    assert words[words.index("--into") + 1] == f"{ROOT}/bundle/wheels"


@pytest.mark.parametrize(("command", "other"), [("build", "install"), ("install", "build")])
def test_the_other_command_is_named(command: Any, other: Any, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    contents = {"profile/sim.toml": tmp_path / "sim.toml"}
    contents["profile/sim.toml"].write_text("x")
    members = [to_table(member) for member in (read_as(BundleMember, each) for each in hash_members(contents))]
    write_bundle(file, render_bundle(parse(members=members, repositories=[], purpose=command)), contents)
    with pytest.raises(UsageError) as caught:
        enter(Where(), Request(), str(file), print, print, other)
    assert caught.value.fix.startswith(f"xpusetup {command} --bundle {file}")
    with pytest.raises(UsageError, match=r"holds sim, not torch-2\.14") as caught:
        enter(Where(profile="torch-2.14"), Request(), str(file), print, print, other)
    assert caught.value.fix == f"xpusetup {command} --bundle {file}"


def bundled(folder: Path, kit: str) -> Path:
    """Write a bundle of torch-2.13 for a tool chain of it."""
    base = choose_toolkit(shipped("torch-2.13"), kit or "oneapi")
    (folder / "x.toml").write_text("x")
    contents = {f"profile/{base.name}.toml": folder / "x.toml"}
    said = {
        **dict.fromkeys(("profile", "base"), to_table(base)),
        "file": f"profile/{base.name}.toml",
        "parts": [part.name for part in base.components if part.kind != "skip"],
        "members": [to_table(member) for member in (read_as(BundleMember, each) for each in hash_members(contents))],
    }
    write_bundle(folder / "b.tar", render_bundle(parse(repositories=[], toolkit=kit, **said)), contents)
    return folder / "b.tar"


@pytest.mark.parametrize(("kit", "site"), [("dpclang", ""), ("dpclang", "oneapi-2025.3"), ("", "dpclang")])
def test_it_is_built_with_the_tool_chain_that_it_was_made_for(
    kit: str, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a site names another one, and by the name of the profile where that ships."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(offline, "_take_away", lambda: ((), ""))
    (tmp_path / "xpusetup.toml").write_text(f'[toolkit]\nname = "{site}"\n' if site else "")
    file = bundled(tmp_path, kit)
    warned: list[str] = []
    told: list[str] = []
    workspace, _ = enter(Where(), Request(), str(file), warned.append, told.append)
    enter(Where(), Request(), str(file), warned.append, told.append)
    assert "is not read again" in told[1]  # a damaged file would do as well, and did so in silence
    assert warned == []
    assert workspace.base == choose_toolkit(shipped("torch-2.13"), kit or "oneapi")
    assert (workspace.known["named"], asking_words(workspace)) == (
        "torch-2.13",
        ("--toolkit", kit or "oneapi"),
    )
    assert workspace.known["bundle"] == str(file)  # a build that is cut off goes on from it
    with pytest.raises(UsageError, match=f"the bundle was made for --toolkit {kit or 'oneapi'}") as caught:
        enter(Where(toolkit="oneapi-2025.3"), Request(), str(file), print, print)
    assert caught.value.fix.endswith("bundle create FILE --profile torch-2.13 --toolkit oneapi-2025.3")


def test_everything_comes_from_the_bundle() -> None:
    """Addresses whole, in place of all that the caller says of the network; what it lacks is refused by name."""
    told = make_offline(parse(), "/cache/b")
    assert told == {
        "PIP_INDEX_URL": "",
        "PIP_EXTRA_INDEX_URL": "",
        "UV_DEFAULT_INDEX": "",
        "UV_INDEX": "",
        "PIP_NO_INDEX": "1",
        "UV_NO_INDEX": "1",
        "PIP_FIND_LINKS": "/cache/b/wheels",
        "UV_FIND_LINKS": "/cache/b/wheels",
        "XPUSETUP_ARCHIVES": "/cache/b/archives",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_COUNT": "3",
        "GIT_CONFIG_KEY_0": "url.file:///cache/b/git/x-1.git.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://x.invalid/x",
        "GIT_CONFIG_KEY_1": "protocol.allow",
        "GIT_CONFIG_VALUE_1": "never",
        "GIT_CONFIG_KEY_2": "protocol.file.allow",
        "GIT_CONFIG_VALUE_2": "always",
    }


WHEELS = (
    "packaging-26.3-py3-none-any.whl",
    "PyYAML-6.0.2-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "psutil-7.2.2-cp36-abi3-manylinux2010_x86_64.whl",
    "six-1.16.0-py2.py3-none-any.whl",
    "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl",
    "numpy-2.4.6-cp311-cp311-musllinux_1_2_aarch64.whl",
)


@pytest.mark.parametrize(
    ("pin", "python", "missing"),
    [
        ("packaging==26.3", "3.11.7", False),
        ("packaging==26.2", "3.11.7", True),
        ("pyyaml==6.0.2", "3.11.7", False),
        ("pyyaml==6.0.2", "3.12.1", True),
        ("psutil==7.2.2", "3.14.0", False),
        ("six==1.16", "3.10.4", True),
        ("six==1.16.0", "3.10.4", False),
        ("torch==2.13.0+cpu", "3.11.7", False),
        ("numpy==2.4.6", "3.11.7", True),
        ("tomli==2.0.2; python_full_version < '3.11'", "3.11.7", False),
        ("tomli==2.0.2; python_full_version < '3.11'", "3.10.7", True),
    ],
)
def test_wheels_that_fit(pin: str, python: str, missing: bool) -> None:
    found = missing_wheels([pin], python, "x86_64", [*WHEELS, "no-wheel.txt"])
    assert bool(found) is missing


@pytest.mark.parametrize(
    ("address", "full"),
    [
        ("https://y.invalid/b", "https://y.invalid/b"),
        ("../b.git", "https://x.invalid/o/b.git"),
        ("../../p/b", "https://x.invalid/p/b"),
        ("./b", "https://x.invalid/o/a/b"),
    ],
)
def test_relative_addresses(address: str, full: str) -> None:
    assert resolve_address("https://x.invalid/o/a/", address) == full


PIP = """\
WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(Failed to establish a new connection)'
ERROR: HTTPSConnectionPool(host='pypi.invalid', port=443): NameResolutionError
"""
ASKED = """note: git asked for https://a.invalid/b (2), and this step has no network
note: git asked for ssh://git@c.invalid/d (1), and this step has no network
"""
GIT = "Cloning into 'x'...\nfatal: clone of 'https://x.invalid/b.git' failed\nfatal: transport 'https' not allowed\n"


@pytest.mark.parametrize(
    ("log", "times", "addresses"),
    [
        ("all is well\nsee https://docs.invalid/\n", None, ()),
        ("see https://docs.invalid/\nnote: it asked for the network once, which is taken away\n", 1, ()),
        ("note: it asked for the network 12 times, which is taken away\n", 12, ()),
        ("echo note: it asked for the network 12 times\n", None, ()),
        (PIP, 0, ("pypi.invalid",)),
        (GIT, 0, ("https://x.invalid/b.git",)),
        (ASKED, 3, ("https://a.invalid/b", "ssh://git@c.invalid/d")),
        (
            f"{ASKED}note: it asked for the network 12 times, which is taken away\n",
            12,
            ("https://a.invalid/b", "ssh://git@c.invalid/d"),
        ),
        ("curl: (6) Could not resolve host: a.invalid\n", 0, ()),
        ("urlopen https://a.invalid/x.\n" * 3 + "[Errno 101] Network is unreachable\n", 0, ("https://a.invalid/x",)),
    ],
)
def test_attempts(log: str, times: int | None, addresses: tuple[str, ...]) -> None:
    found = find_attempt("torch.build", iter(log.splitlines()))  # read once: a log may be larger than the memory
    assert (found.times if found else None, found.addresses if found else ()) == (times, addresses)


def test_where_a_network_may_have_answered_refusals_do_not_count() -> None:
    assert find_attempt("torch.build", GIT.splitlines(), heard=False) is None
    asked = find_attempt("torch.build", (GIT + ASKED).splitlines(), heard=False)
    assert (asked.times, asked.addresses[0]) == (3, "https://a.invalid/b") if asked else False


def test_the_plan_that_gathers() -> None:
    """What needs the network and no compiler: fetches, and the wheels of what the rest would install."""
    profile, plan = shipped("torch-2.14"), plan_for("torch-2.14")
    gathered = make_bundle_plan(profile, Request(), plan, ("0.1.0", "/src", "/constraints"))
    assert [step.id for step in gathered.steps if "compiler" in step.needs or "toolkit" in step.needs] == []
    assert [step.id for step in gathered.steps if not step.id.endswith(".fetch")] == [
        *("venv", "requirements", "bundle.wheels", "bundle.program"),
    ]
    assert gathered.steps[-2].title == "wheels of the pinned requirements"  # not all pins hold on every Python
    assert bundled_parts(gathered) == [part.name for part in profile.components if part.kind != "skip"]
    assert profile.runtime_requirements is not None
    both = [*profile.build_requirements.pins, *profile.runtime_requirements.pins]
    assert bundled_pins(profile, plan) == both
    named = [word.removeprefix(f"{ROOT}/") for word in gathered.steps[-2].run[-1] if "/requirements/" in word]
    text = "".join(requirement_texts(profile)[name] for name in named)
    assert [pin for pin in both if f"{pin} \\\n    --hash=sha256:" not in text] == []
    only = plan_for("torch-2.14", Request(only=("vision",)))
    assert "audio" not in bundled_parts(make_bundle_plan(profile, Request(), only, ("0.1.0", "/src", "/c")))


def test_installers() -> None:
    """One for each oneAPI that a profile can be compiled with from 2025.0 on, and none for what is not oneAPI."""
    table = known().platforms
    found = table.installer_of("oneapi", "2025.3")
    assert found is not None
    file = "intel-deep-learning-essentials-2025.3.2.36_offline.sh"
    assert found.file == file
    plan = make_bundle_plan(
        shipped("torch-2.14"), Request(), plan_for("torch-2.14"), ("0.1.0", "/src", "/c"), found.url
    )
    step = next(step for step in plan.steps if step.id == "bundle.toolkit")
    assert step.makes == (f"{ROOT}/bundle/toolkit/{file}",)
    assert "--into" not in step.run[0]  # it is held to its first use, and not unpacked
    kits = {(kit.kind, kit.preferred) for profile in all_shipped() for kit in toolkits_of(profile)}
    assert {kit for kit in kits if table.installer_of(*kit) is None} == {
        *(("oneapi", "2024.1"), ("dpclang", "6.2"), ("dpclang", "7.0"), ("dpclang", "7.1")),
        *(("wheels", version) for version in ("2026.0.0", "2026.1.0", "2026.1.2")),
    }


def make_file(folder: Path, name: str) -> tuple[Path, dict[str, Path]]:
    """Write a bundle whose members hold their own names."""
    files = {}
    for member in ("profile/sim.toml", f"git/x-1-{REV}.pack", "wheels/a.whl"):
        files[member] = folder / "files" / member
        files[member].parent.mkdir(parents=True, exist_ok=True)
        files[member].write_text(member)
    path = folder / name
    write_bundle(path, render_bundle(parse(members=hash_members(files))), files)
    return path, files


def read_all(path: Path, bundle: Bundle) -> dict[str, str]:
    return {name: b"".join(blocks).decode() for name, blocks in read_members(path, bundle)}


def test_the_same_contents_give_the_same_bytes(tmp_path: Path) -> None:
    one, _files = make_file(tmp_path / "one", "a.tar")
    (tmp_path / "two").mkdir()
    two, _files = make_file(tmp_path / "two", "b.tar")
    assert one.read_bytes() == two.read_bytes()
    assert hash_head(one) == hash_head(two)
    assert sorted(path.name for path in one.parent.iterdir()) == ["a.tar", "files"]
    with tarfile.open(one) as tar:
        assert {(info.mtime, info.uid, info.mode) for info in tar} == {(0, 0, 0o644)}


def test_a_disk_that_is_too_small_is_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=10))
    with pytest.raises(NotReadyError, match="and its disk has 0 KiB left"):
        make_file(tmp_path, "a.tar")
    assert [path.name for path in tmp_path.iterdir()] == ["files"]


def test_a_pipe_is_no_bundle(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.tar")
    with pytest.raises(UsageError, match="is no file but a pipe or a device"):
        read_head(tmp_path / "x.tar")


def test_where_unpacking_found_no_room_the_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _files = make_file(tmp_path, "a.tar")
    bundle = read_head(path)

    def full(*_given: object, **_words: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("xpusetup.bundle.io._write", full)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(NotReadyError, match="No space left on device") as caught:
        unpack(path, bundle, tmp_path / "cache/xpusetup/bundles/1", lambda _made: None)
    assert caught.value.fix == "free space or choose another place: export XDG_CACHE_HOME=DIR"
    assert not [*(tmp_path / "cache/xpusetup/bundles").iterdir()]


def test_nothing_half_stays_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "addfile", full)
    with pytest.raises(NotReadyError, match="No space left on device"):
        make_file(tmp_path, "a.tar")
    assert [path.name for path in tmp_path.iterdir()] == ["files"]


def test_members_are_read_with_their_hashes(tmp_path: Path) -> None:
    path, files = make_file(tmp_path, "a.tar")
    bundle = read_head(path)
    assert read_all(path, bundle) == {name: name for name in files}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_only_plain_files_are_taken(tmp_path: Path, kind: bytes) -> None:
    """A link that bears a member's name could make the next one land elsewhere."""
    path, _files = make_file(tmp_path, "a.tar")
    bundle = read_head(path)
    with tarfile.open(path) as old, tarfile.open(tmp_path / "b.tar", "w") as new:
        for info in old:
            if info.name == "wheels/a.whl":
                info.type, info.linkname, info.size = kind, "/etc/passwd", 0
            new.addfile(info, old.extractfile(info) if info.isreg() else None)
    with pytest.raises(UsageError, match="is no plain file"):
        read_all(tmp_path / "b.tar", bundle)


def test_an_installed_distribution_becomes_its_wheel_again(tmp_path: Path) -> None:
    info = tmp_path / "site/demo_one-1.0.dist-info"
    info.mkdir(parents=True)
    texts = {"METADATA": "Name: demo.one\nVersion: 1.0\n", "WHEEL": "Tag: py3-none-any\n", "INSTALLER": "pip\n"}
    for name, text in texts.items():
        (info / name).write_text(text)
    (tmp_path / "site/demo.py").write_text("ONE = 1\n")
    files = (
        "demo.py",
        "__pycache__/demo.cpython-311.pyc",
        "../../bin/demo",
        *(f"{info.name}/{name}" for name in texts),
    )
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in (*files, f"{info.name}/RECORD")))
    wheel = repack(PathDistribution(info), tmp_path / "out")
    with zipfile.ZipFile(wheel) as archive:
        assert wheel.name == "demo_one-1.0-py3-none-any.whl"
        assert archive.namelist() == ["demo.py", *(f"{info.name}/{name}" for name in ("METADATA", "WHEEL", "RECORD"))]
        assert archive.read("demo.py") == b"ONE = 1\n"
        assert archive.read(f"{info.name}/RECORD").decode().splitlines()[0].startswith("demo.py,sha256=")


def test_what_this_program_runs_with() -> None:
    found = running_with()
    assert {"typer", "rich", "pydantic", "pydantic-core"} <= set(found)
    assert "xpusetup" not in found


@pytest.mark.parametrize("purpose", ["build", "install"])
def test_a_damaged_bundle_is_created_again_as_it_was(tmp_path: Path, purpose: str) -> None:
    """The fix was `bundle create FILE`: it named neither the file nor the profile."""
    path, files = make_file(tmp_path, "a.tar")
    told: dict[str, Any] = {"members": hash_members(files), "revs": {"simxpu": "main"}, "purpose": purpose}
    write_bundle(path, render_bundle(parse(**told)), files)
    whole, bundle = path.read_bytes(), read_head(path)
    wheels = " --from wheels" if purpose == "install" else ""
    again = f"copy it again, or create it again: xpusetup bundle create {path} --profile sim --rev simxpu=main{wheels}"
    member = whole.index(b"wheels/a.whl", whole.rindex(b"wheels/a.whl") - 1)  # the content of the last one
    for bad in (whole[:member], whole[: member - 400], whole[:member] + b"X" + whole[member + 1 :]):
        path.write_bytes(bad)
        with pytest.raises(UsageError) as caught:
            read_all(path, bundle)
        assert caught.value.fix == again, caught.value.message
    path.write_bytes(b"x" * 2000)
    with pytest.raises(UsageError, match="is no bundle") as caught:
        read_head(path)
    assert caught.value.fix.endswith("xpusetup bundle create FILE --profile PROFILE")  # this file is not written over


@pytest.mark.parametrize(
    ("profile", "purpose", "elsewhere"),
    [
        ("sim", "build", ""),
        ("torch-2.14", "build", "xpusetup bundle create FILE --profile torch-2.14 --from wheels"),
        ("torch-2.14", "install", "xpusetup bundle create FILE --profile torch-2.14"),
    ],
)
def test_where_a_bundle_is_for_another_command(tmp_path: Path, profile: str, purpose: Any, elsewhere: str) -> None:
    """Of a bundle of sim `install` advised one of wheels, which `bundle create` refused."""
    told = to_table(shipped(profile))
    file = tmp_path / "b.tar"
    member = tmp_path / "x"
    member.write_text("x")
    contents = {f"profile/{profile}.toml": member}
    changes: dict[str, Any] = {"profile": told, "base": told, "file": f"profile/{profile}.toml", "repositories": []}
    bundle = parse(**changes, members=hash_members(contents), purpose=purpose, parts=[], pins=[])
    write_bundle(file, render_bundle(bundle), contents)
    with pytest.raises(UsageError) as caught:
        enter(Where(), Request(), str(file), print, print, "install" if purpose == "build" else "build")
    assert caught.value.fix.partition("; or, where there is a network: ")[2] == elsewhere
