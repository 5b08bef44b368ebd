"""Bundles for real: made with a network, built from without one, damaged, and asked for more than they hold."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
import tarfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import SETUP, Said, Tiny, caller, command, kill_all, make_tiny, wait_until, xpusetup
from standins.oneapi import make_dpclang
from xpusetup.base.document import read_as
from xpusetup.bundle import without_network
from xpusetup.bundle.contents import HEAD, BundleRepository, render_bundle
from xpusetup.bundle.io import find_broken, read_head
from xpusetup.bundle.io import make_repository as make_bare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from e2e.fixtures import Demo
    from xpusetup.bundle.contents import Bundle

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("airgap")]
WITHOUT = (sys.executable, "-I", str(without_network.__file__))
HIDDEN = """
import os, urllib.request
def reach():
    urllib.request.urlopen("https://hidden.invalid/weights.bin", timeout=20)
if os.environ.get("TINY_REACH") == "loudly":
    reach()
if os.environ.get("TINY_REACH") == "silently":
    try:
        reach()
    except OSError:
        pass
print("the kit:", open(os.environ["TINY_KIT"] + "/kit.txt").read())
"""
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@t.invalid", "-c", "init.defaultBranch=main")
KIT = """
[[components.archives]]
name = "kit"
url = "https://tiny.invalid/releases/kit-1.tar.gz"
variable = "TINY_KIT"
reason = "nobody published its hash"
source = "made here"
confidence = "unconfirmed"
"""
"""An archive that the build takes ready made, as Triton its LLVM."""
MODULE = '[submodule "{name}"]\n\tpath = {name}\n\turl = {url}\n'


@dataclass(frozen=True)
class Place:
    """A tiny project with submodules, its build with the network, and the bundle that was made of it."""

    tiny: Tiny
    root: Path
    online: Path
    bundle: Path
    env: dict[str, str]

    def options(self, *more: str) -> tuple[str, ...]:
        """Give the words of a build from the bundle."""
        return ("build", "--bundle", str(self.bundle), "--root", str(self.root), "--verify", "off", *more)


def git(repository: Path, *words: str) -> str:
    done = subprocess.run((*GIT, *words), cwd=repository, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit_link(repository: Path, name: str, url: str, rev: str) -> str:
    """Pin a submodule in a repository without fetching it, and give the new commit."""
    (repository / ".gitmodules").write_text(MODULE.format(name=name, url=url))
    git(repository, "add", ".gitmodules")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{rev},{name}")
    git(repository, "commit", "-qm", f"with {name}")
    return git(repository, "rev-parse", "HEAD")


def make_repository(path: Path) -> str:
    path.mkdir()
    (path / f"{path.name}.txt").write_text(f"{path.name}\n")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        git(path, *words)
    return git(path, "rev-parse", "HEAD")


def make_kit(folder: Path) -> None:
    folder.mkdir()
    with tarfile.open(folder / "kit-1.tar.gz", "w:gz") as tar:
        inside = tarfile.TarInfo("kit-1/kit.txt")
        inside.size = 4
        tar.addfile(inside, io.BytesIO(b"one\n"))


def make_nested(folder: Path) -> Tiny:
    """Make the tiny project with a submodule that has one itself, each behind an address of its own."""
    tiny = make_tiny(folder, setup_py=HIDDEN + SETUP)
    inner = make_repository(folder / "inner")
    make_repository(folder / "middle")
    middle = commit_link(folder / "middle", "inner", "https://tiny.invalid/inner", inner)
    rev = commit_link(tiny.repository, "middle", "https://tiny.invalid/middle", middle)
    git(tiny.repository, "tag", "-f", "v1.0")
    tiny.profile.write_text(tiny.profile.read_text().replace(tiny.rev, rev) + KIT)
    make_kit(folder / "kits")
    more = {
        "XPUSETUP_ARCHIVES": str(folder / "kits"),
        "GIT_CONFIG_COUNT": "5",
        "GIT_CONFIG_KEY_2": "protocol.file.allow",
        "GIT_CONFIG_VALUE_2": "always",
        "GIT_CONFIG_KEY_3": f"url.file://{folder}/inner.insteadOf",
        "GIT_CONFIG_VALUE_3": "https://tiny.invalid/inner",
        "GIT_CONFIG_KEY_4": f"url.file://{folder}/middle.insteadOf",
        "GIT_CONFIG_VALUE_4": "https://tiny.invalid/middle",
    }
    return replace(tiny, rev=rev, env={**tiny.env, **more})


def looks(root: Path) -> dict[str, int]:
    """Give every file of a root with the time of its last change."""
    return {str(path.relative_to(root)): path.lstat().st_mtime_ns for path in root.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Build with the network, make the bundle of the same profile, which leaves the build alone, and put that aside."""
    folder = tmp_path_factory.mktemp("airgap")
    tiny, root, bundle = make_nested(folder / "tiny"), folder / "root", folder / "tiny.bundle.tar"
    build = xpusetup("build", *tiny.options(root), "--verify", "off", "--json", env=tiny.env).result
    assert build["failed"] is None
    before = looks(root)
    created = xpusetup("bundle", "create", str(bundle), *tiny.options(root), "--json", env=tiny.env).result
    assert created["bytes"] == bundle.stat().st_size
    assert [len(each["commits"]) for each in created["repositories"]] == [1, 1, 1]
    assert looks(root) == before
    root.rename(folder / "online")
    return Place(tiny, root, folder / "online", bundle, bare(folder / "home"))


GONE = """\
[url "file:///gone"]
	insteadOf = https://tiny.invalid/inner
"""


def bare(home: Path) -> dict[str, str]:
    """Give a caller who knows no index, and whose own git settings have a mirror for one whole address, which is gone.

    Of two that stand for the same beginning git takes the first that it reads, and it reads the user's file first.
    """
    home.mkdir(exist_ok=True)
    (home / ".gitconfig").write_text(GONE)
    return {
        name: value for name, value in caller(home).items() if not name.startswith(("PIP_", "UV_", "GIT_", "XPUSETUP_"))
    }


def cut_off(*words: str, env: dict[str, str]) -> Said:
    """Run the program where there is no network."""
    done = subprocess.run((*WITHOUT, *command(*words)), check=False, capture_output=True, text=True, env=env)
    if done.returncode == without_network.IMPOSSIBLE:
        pytest.skip(done.stderr)
    assert "Traceback" not in done.stderr, done.stderr
    assert "asked for the network" not in done.stdout, done.stdout
    return Said(done.returncode, done.stdout, done.stderr)


def results(root: Path) -> dict[str, list[str]]:
    """Give the key of each step, and the hashes of what it made but for results: those hold times."""
    stamps = {path.name: path.read_text().splitlines() for path in (root / "stamps").iterdir()}
    made = {name: [line.split() for line in lines[1:]] for name, lines in stamps.items()}
    kept = {name: [words[0] for words in rows if "/results/" not in " ".join(words)] for name, rows in made.items()}
    return {name: [lines[0], *kept[name]] for name, lines in stamps.items()}


@pytest.fixture(scope="module")
def built(place: Place) -> dict[str, Any]:
    """Build from the bundle where there is no network."""
    return cut_off(*place.options("--json"), env=place.env).result


def test_without_a_network_the_same_comes_out(place: Place, built: dict[str, Any]) -> None:
    """Every key is that of the build with the network, and every hash, the wheel's too; nothing asked for more."""
    assert built["failed"] is None
    assert built["reached_out"] == []
    assert (place.root / "src/tiny/middle/inner/inner.txt").read_text() == "inner\n"
    assert results(place.root) == results(place.online)
    assert cut_off(*place.options("--json"), env=place.env).result["ran"] == []


@pytest.mark.parametrize(("way", "code"), [("silently", 0), ("loudly", 1)])
def test_a_hidden_download_is_named(place: Place, built: dict[str, Any], way: str, code: int) -> None:
    """On a machine that has a network, too; also where the package swallows that it failed."""
    assert built["failed"] is None
    said = xpusetup(*place.options("--set", f"tiny.TINY_REACH={way}", "--json"), env=place.env)
    assert said.code == code
    (row,) = said.document["result"]["reached_out"]
    assert (row["step"], row["times"] > 0) == ("tiny.build", True)
    found = subprocess.run(shlex.split(row["look"]), capture_output=True, text=True, check=True).stdout
    assert [line.partition("/src/")[2].split(":")[:2] for line in found.splitlines()] == [["tiny/setup.py", "4"]]
    assert "https://hidden.invalid/weights.bin" in found
    if code:
        assert f" --bundle {place.bundle}" in said.document["result"]["failure"]["go_on"]["command"]


def test_it_is_whole(place: Place) -> None:
    said = xpusetup("bundle", "verify", str(place.bundle), "--json", env=place.env)
    assert (said.result["missing"], said.result["parts"], len(said.result["wheels"])) == ([], ["tiny"], 3)
    assert any(name.startswith("xpusetup-") for name in said.result["program"])


def remake(place: Place, to: Path, change: Callable[[Bundle], Bundle]) -> Path:
    """Make a bundle that says something else of itself, and holds what it names."""
    bundle = change(read_head(place.bundle))
    names = {member.name for member in bundle.members}
    with tarfile.open(place.bundle) as old, tarfile.open(to, "w") as new:
        for info in old.getmembers():
            stream = old.extractfile(info)
            assert stream is not None
            text = render_bundle(bundle).encode() if info.name == HEAD else stream.read()
            info.size = len(text)
            if info.name in names | {HEAD}:
                new.addfile(info, io.BytesIO(text))
    return to


def without_repository(bundle: Bundle, name: str) -> Bundle:
    gone = [each for each in bundle.repositories if name in each.addresses[0]]
    packs = {pack for each in gone for pack in each.commits.values()}
    return replace(
        bundle,
        repositories=[each for each in bundle.repositories if each not in gone],
        members=[member for member in bundle.members if member.name not in packs],
    )


def test_what_a_bundle_lacks_is_named(place: Place, tmp_path: Path) -> None:
    """A submodule of a submodule: `verify` finds it, and a build stops at the step that asked for it."""
    lacking = remake(place, tmp_path / "lacking.tar", lambda bundle: without_repository(bundle, "inner"))
    said = xpusetup("bundle", "verify", str(lacking), "--json", env=place.env)
    assert said.code == 1
    (missing,) = said.document["result"]["missing"]
    assert missing.startswith("https://tiny.invalid/inner ")
    words = ("--root", str(tmp_path / "root"), "--until", "tiny.fetch", "--json")
    env = {**place.env, "XDG_CACHE_HOME": str(tmp_path / "cache")}  # what was fetched before has it
    said = xpusetup("build", "--bundle", str(lacking), *words, env=env)
    assert said.code == 1
    (row,) = said.document["result"]["reached_out"]
    assert (row["step"], "https://tiny.invalid/inner" in row["addresses"]) == ("tiny.fetch", True)


def test_a_pack_that_lacks_a_file_is_told(tmp_path: Path) -> None:
    """The hashes of such a bundle are right, and git takes the pack: only a walk through the tree finds it."""
    rev = make_repository(tmp_path / "source")
    listed = git(tmp_path / "source", "rev-list", "--objects", "--no-walk", rev).splitlines()
    kept = "".join(f"{line}\n" for line in listed if not line.endswith("source.txt"))
    packing = (*GIT, "pack-objects", "-q", str(tmp_path / "p"))
    subprocess.run(packing, cwd=tmp_path / "source", input=kept, check=True, capture_output=True, text=True)
    next(tmp_path.glob("p-*.pack")).rename(tmp_path / "one.pack")
    address = "https://x.invalid/source"
    told = {"folder": "git/source.git", "addresses": [address], "commits": {rev: "one.pack"}}
    make_bare(read_as(BundleRepository, told), tmp_path)
    broken = find_broken(tmp_path / "git/source.git", [rev, "0" * 40])
    assert broken[rev].startswith("missing blob object")
    assert broken["0" * 40].startswith("bad revision") or "ambiguous" in broken["0" * 40]


def test_wheels_that_lack_are_named(place: Place, tmp_path: Path) -> None:
    def without(bundle: Bundle) -> Bundle:
        return replace(bundle, members=[one for one in bundle.members if "setuptools" not in one.name])

    said = xpusetup("bundle", "verify", str(remake(place, tmp_path / "b.tar", without)), env=place.env)
    assert said.code == 1
    assert "lacks a wheel of setuptools==80.10.2 for Python 3" in said.out


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip(data: bytes) -> bytes:
    """Change one bit in the middle of the longest member, which is no header's."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        longest = max(tar.getmembers(), key=lambda info: info.size)
    place = longest.offset_data + longest.size // 2
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def escape(data: bytes) -> bytes:
    """Add a member whose name leads out of the folder."""
    stream = io.BytesIO(data)
    with tarfile.open(fileobj=stream, mode="a") as tar:
        tar.addfile(tarfile.TarInfo("../../escaped"), io.BytesIO())
    return stream.getvalue()


def tiny_tar(_data: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("readme"), io.BytesIO())
    return stream.getvalue()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut, "was cut off"),
        (flip, "its hash differs"),
        (escape, "leads out of it"),
        (tiny_tar, "does not begin with bundle.json"),
        (lambda _data: b"", "is no bundle of xpusetup"),
        (lambda _data: b"PK\x03\x04" * 500, "is no bundle of xpusetup"),
    ],
    ids=["cut", "flipped", "escaping", "another-tar", "empty", "no-tar"],
)
def test_a_damaged_file_is_refused(place: Place, tmp_path: Path, damage: Callable[[bytes], bytes], told: str) -> None:
    """By `verify` and by a build alike, which leave nothing half unpacked."""
    broken = tmp_path / "broken.tar"
    broken.write_bytes(damage(place.bundle.read_bytes()))
    env = {**place.env, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for words in (("bundle", "verify", str(broken)), ("build", "--bundle", str(broken), "--root", str(tmp_path / "r"))):
        said = xpusetup(*words, env=env)
        assert said.code == 2, said.err
        assert told in said.err.replace("\n   ", " "), said.err
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert not (tmp_path / "escaped").exists()


def test_it_is_for_what_it_was_made_for(place: Place, tmp_path: Path) -> None:
    """Another profile, another component, no file at all: bad usage, said before anything is done."""
    bundle = ("build", "--bundle", str(place.bundle), "--root", str(tmp_path / "root"))
    other = xpusetup(*bundle, "--profile", "sim", env=place.env)
    assert (other.code, "holds tiny, not sim" in other.err) == (2, True)
    only = xpusetup(*bundle, "--only", "torch", env=place.env)
    assert (only.code, "holds nothing of torch" in only.err) == (2, True)
    gone = xpusetup("build", "--bundle", str(tmp_path / "gone.tar"), env=place.env)
    assert (gone.code, "cannot read" in gone.err) == (2, True)
    kit = xpusetup(
        "bundle", "create", str(tmp_path / "b"), *place.tiny.options(tmp_path / "k"), "--installer", env=place.env
    )
    assert (kit.code, "is built without a toolkit" in kit.err) == (2, True)


TOOLKIT = """
[[toolkit]]
kind = "{0}"
accepts = ">={1}"
preferred = "{1}"
runtime = "toolkit"
source = "this test"
confidence = "confirmed"
"""


@pytest.mark.long
def test_a_bundle_for_another_tool_chain(tmp_path: Path) -> None:
    """Made on a machine that has none of them, and built with the one that was named: here a site says otherwise.

    Beyond test_bundles.py: a bundle that was really created, and a build from it.
    """
    tiny, bundle = make_tiny(tmp_path / "tiny"), tmp_path / "tiny.tar"
    kits = TOOLKIT.format("oneapi", "2026.0") + TOOLKIT.format("dpclang", "7.0")
    tiny.profile.write_text(tiny.profile.read_text() + kits)
    words = ("bundle", "create", str(bundle), *tiny.options(tmp_path / "gathering"), "--toolkit", "dpclang")
    created = xpusetup(*words, "--json", env=tiny.env).result
    assert (created["toolkit"], created["installer"]) == ("dpclang", None)
    site = tmp_path / "xpusetup/site.toml"
    site.parent.mkdir()
    site.write_text(f'[toolkit]\nname = "oneapi"\nroot = "{make_dpclang(tmp_path / "dpc")}"\n')
    env, root = {**bare(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path)}, tmp_path / "root"
    options = ("build", "--bundle", str(bundle), "--root", str(root), "--verify", "off", "--json")
    other = xpusetup(*options, "--toolkit", "oneapi", env=env)
    assert (other.code, other.document["error"]["message"]) == (2, "the bundle was made for --toolkit dpclang")
    assert cut_off(*options, env=env).result["failed"] is None
    lock = json.loads((root / "profile.lock.json").read_text())
    assert (lock["profile"]["toolkit"]["kind"], lock["target"]["toolkit"]["version"]) == ("dpclang", "7.0.0")


@pytest.mark.long
@pytest.mark.parametrize("step", ["bundle.wheels", "bundle.program"])
def test_a_killed_creation_goes_on(place: Place, tmp_path: Path, step: str) -> None:
    """What was fetched stays; what was half gathered is gathered anew."""
    root, bundle = tmp_path / "root", tmp_path / "b.tar"
    words = command("bundle", "create", str(bundle), *place.tiny.options(root))
    process = subprocess.Popen(words, env=place.tiny.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = root / f"packing/logs/{step}.log"
    wait_until(lambda: (log.exists() and "Saved" in log.read_text()) or process.poll() is not None)
    kill_all(process)
    assert not bundle.exists()
    again = xpusetup("bundle", "create", str(bundle), *place.tiny.options(root), "--json", env=place.tiny.env)
    assert again.code == 0, again.err
    said = xpusetup("bundle", "verify", str(bundle), "--json", env=place.env).result
    assert (said["missing"], said["wheels"]) == ([], read_head(place.bundle).names("wheels"))
    assert bundle.read_bytes() == place.bundle.read_bytes()


@pytest.mark.long
def test_the_program_comes_along(place: Place, tmp_path: Path) -> None:
    """A machine that has Python and git alone: the program out of the bundle installs, and builds from it."""
    subprocess.run(("tar", "-xf", str(place.bundle), "-C", str(tmp_path), "program"), check=True)
    venv = tmp_path / "venv"
    wheels = [str(path) for path in (tmp_path / "program").glob("*.whl")]
    subprocess.run((sys.executable, "-m", "venv", str(venv)), check=True)
    install = (str(venv / "bin/python"), "-m", "pip", "-q", "install", "--no-index", *wheels)
    subprocess.run((*WITHOUT, *install), check=True, env=place.env)
    words = ("--bundle", str(place.bundle), "--root", str(tmp_path / "root"), "--verify", "off", "--json")
    program = (*WITHOUT, str(venv / "bin/xpusetup"), "build", *words)
    done = subprocess.run(program, check=True, capture_output=True, text=True, env=place.env, cwd=tmp_path)
    assert json.loads(done.stdout)["result"]["wheels"][0]["name"] == "tiny"


@pytest.mark.long
@pytest.mark.xdist_group("demo")
def test_the_simulated_accelerator_without_a_network(demo: Demo, tmp_path: Path) -> None:
    """The whole road of `sim`: torch's ready wheel and all that it requires out of the bundle, verified at the end."""
    bundle = tmp_path / "sim.tar"
    created = xpusetup("bundle", "create", str(bundle), "--profile", "sim", "--json", env=demo.env).result
    assert any(name.startswith("torch-2.13.0") for name in created["wheels"])
    kept = demo.root.with_name("sim.online")
    demo.root.rename(kept)
    try:
        env = {**bare(tmp_path / "home"), "XPUSETUP_ROOT": str(demo.root.parent)}
        result = cut_off("build", "--bundle", str(bundle), "--json", env=env).result
        assert (result["verified"], result["reached_out"], result["root"]) == (True, [], str(demo.root))
        ours, theirs = results(demo.root), results(kept)
        assert {**ours, "verify.smoke": None} == {**theirs, "verify.smoke": None}  # after guard's results
    finally:
        subprocess.run(("rm", "-rf", str(demo.root)), check=True)
        kept.rename(demo.root)
