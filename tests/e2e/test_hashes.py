"""Downloads with known hashes, each replaced by a changed file of the same version: whatever brings it in stops."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import CHECKOUT, Said, Tiny, by_name, caller, make_tiny, make_venv, xpusetup
from standins.hashes import hash_of, with_hashes
from standins.wheels import pack_wheel
from xpusetup.config.shipped import load_profile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("hashes")]
PINS = {"build": "one-build", "runtime": "one-runtime", "ready": "one-ready"}
MORE = """
[runtime_requirements]
component = "tiny"
variable = "TINY_REQUIRES"
source = "this test"
confidence = "confirmed"
pins = ["one-runtime==1.0"]

[[components]]
kind = "wheel"
name = "ready"
distribution = "one-ready"
version = "1.0"
source = "this test"
confidence = "confirmed"
"""


@dataclass(frozen=True)
class Place:
    """A tiny project that brings in a wheel in every way there is, and the folder that is its whole index."""

    tiny: Tiny
    index: Path
    root: Path

    def call(self, *words: str, **more: str) -> Said:
        return xpusetup(*words, *self.tiny.options(self.root), env={**self.tiny.env, **more})

    def build(self, *more: str) -> Said:
        return self.call("build", "--verify", "off", "--json", *more)

    def change(self, name: str) -> None:
        """Put another file of the same name and version in the place of a wheel."""
        pack_wheel(self.index, name, "1.0", {f"{name.replace('-', '_')}.py": b"owner = 'someone else'\n"})

    @property
    def origins(self) -> dict[str, str]:
        """Give what was written down at first use: the hash of each pin."""
        return {path.name: path.read_text().split()[0] for path in (self.root / "origins").glob("*/*")}


@pytest.fixture
def make_place(tmp_path: Path) -> Callable[..., Place]:
    """Make the project; `held`: the hashes of its wheels stand in its profile."""

    def make(*, held: bool = True) -> Place:
        tiny, index = make_tiny(tmp_path / "tiny"), tmp_path / "index"
        for name in PINS.values():
            pack_wheel(index, name, "1.0", {f"{name.replace('-', '_')}.py": b"owner = 'us'\n"})
        text = tiny.profile.read_text().replace('pins = ["setup', 'pins = ["one-build==1.0", "setup') + MORE
        tiny.profile.write_text(with_hashes(text, index) if held else text)
        links = f"{index} {tiny.env.get('PIP_FIND_LINKS', '')}".strip()
        return Place(
            Tiny(tiny.profile, tiny.repository, tiny.rev, {**tiny.env, "PIP_FIND_LINKS": links}),
            index,
            tmp_path / "root",
        )

    return make


def last_words(said: Said) -> str:
    return " ".join(said.document["result"]["failure"]["last_lines"])


@pytest.mark.parametrize(
    ("name", "step"), [("build", "requirements"), by_name("runtime", "runtime"), by_name("ready", "ready.fetch")]
)
def test_a_changed_wheel_of_the_same_version_stops_the_build(
    make_place: Callable[..., Place], name: str, step: str
) -> None:
    place = make_place()
    place.change(PINS[name])
    said = place.build()
    assert (said.code, said.document["result"]["failed"]) == (1, step)
    words = f"{PINS[name]}==1.0: the file that came is not the one that was published: its hash differs"
    assert words in last_words(said)
    assert not list(place.root.glob(f"venv/lib/*/site-packages/{PINS[name].replace('-', '_')}.py"))


def steps_of(profile: str) -> dict[str, str]:
    """Give all that a build of a profile brings in from an index and has a hash of, with the step that does."""
    held = load_profile(profile)
    found = dict.fromkeys(held.build_requirements.pins, "requirements")
    found |= dict.fromkeys(held.runtime_requirements.pins if held.runtime_requirements else (), "runtime")
    found |= {
        f"{part.distribution}=={part.version}": f"{part.name}.fetch" for part in held.components if part.kind == "wheel"
    }
    assert found.keys() <= held.hashes.keys()
    return found


@pytest.mark.long
def test_each_download_that_was_changed_stops_the_build(make_place: Callable[..., Place]) -> None:
    """Every file with a known hash in turn, and no other: what is asked for has no other place to come from."""
    place = make_place()
    wanted = steps_of(str(place.tiny.profile))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "download", "--no-deps")
    pins = [pin for pin, step in wanted.items() if step == "requirements"]
    words = (*pip, "--only-binary", ":all:", "--dest", str(place.index), *pins)
    subprocess.run(words, env=place.tiny.env, check=True)
    alone = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(place.index), "UV_NO_INDEX": "1"}
    assert len(wanted) == 6
    for pin, step in wanted.items():
        shutil.rmtree(place.root, ignore_errors=True)  # what was fetched before is not fetched again
        (wheel,) = place.index.glob(f"{pin.partition('==')[0].replace('-', '_')}-*.whl")
        true = wheel.read_bytes()
        with zipfile.ZipFile(wheel, "a") as archive:
            archive.writestr("changed.py", "owner = 'someone else'\n")
        said = place.call("build", "--verify", "off", "--json", **alone)
        assert (pin, said.code, said.document["result"]["failed"]) == (pin, 1, step)
        assert f"{pin}: the file that came is not the one that was published: its hash differs" in last_words(said)
        wheel.write_bytes(true)
    assert place.call("build", "--verify", "off", "--json", **alone).result["failed"] is None


@pytest.mark.long
def test_what_is_held_is_built_and_nothing_is_said_of_it(make_place: Callable[..., Place]) -> None:
    place = make_place()
    result = place.build("--require-hashes").result
    assert (result["failed"], result["unverified"]) == (None, [])
    assert place.origins == {}
    assert place.build().result["ran"] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "step"), [("build", "requirements"), by_name("runtime", "runtime"), by_name("ready", "ready.fetch")]
)
def test_what_has_no_hash_is_written_down_and_held_to(make_place: Callable[..., Place], name: str, step: str) -> None:
    place = make_place(held=False)
    pins = sorted(f"{each}==1.0" for each in PINS.values())
    assert place.call("plan", "--json").result["unverified"] == [{"name": pin, "sha256": None} for pin in pins]
    result = place.build().result
    first = {f"{each}==1.0": hash_of(next(place.index.glob(f"{each.replace('-', '_')}-*"))) for each in PINS.values()}
    assert place.origins == first
    assert result["unverified"] == [{"name": pin, "sha256": first[pin]} for pin in pins]
    assert place.call("status", "--json").result["unverified"] == result["unverified"]
    screen = place.call("status", "-v").out
    assert all(f"! {pin}: unverified origin" in screen for pin in pins), screen
    place.change(PINS[name])
    for stamp in ("venv", step):  # what is installed already is not fetched
        (place.root / f"stamps/{stamp}").unlink()
    said = place.build()
    assert (said.code, said.document["result"]["failed"]) == (1, step)
    assert f"{PINS[name]}==1.0: the file that came is not the one as it was at first use" in last_words(said)
    assert f"rm {place.root}/origins/" in last_words(said)
    pack_wheel(place.index, PINS[name], "1.0", {f"{PINS[name].replace('-', '_')}.py": b"owner = 'us'\n"})
    assert place.build().result["failed"] is None


@pytest.mark.parametrize(
    "words", [("build", "--verify", "off"), ("plan",), ("bundle", "create", "b.tar"), ("emit", "shell")]
)
def test_where_hashes_are_required_nothing_else_begins(
    make_place: Callable[..., Place], tmp_path: Path, words: tuple[str, ...]
) -> None:
    place = make_place(held=False)
    where = (
        ("--out", str(tmp_path / "out"), "--profile", str(place.tiny.profile))
        if words[0] == "emit"
        else place.tiny.options(place.root)
    )
    said = xpusetup(*words, *where, "--require-hashes", env=place.tiny.env, cwd=tmp_path)
    assert said.code == 2
    assert "no published hash is known of one-build==1.0, one-runtime==1.0, one-ready==1.0" in " ".join(
        said.err.split()
    )
    assert not (place.root / "venv").exists()


@pytest.mark.long
def test_a_bundle_holds_the_same_files(make_place: Callable[..., Place], tmp_path: Path) -> None:
    place, bundle = make_place(), tmp_path / "b.tar"
    assert place.call("bundle", "create", str(bundle), "--json").result["profile"] == "tiny"
    words = ("build", "--bundle", str(bundle), "--root", str(tmp_path / "elsewhere"), "--verify", "off", "--json")
    assert xpusetup(*words, env=caller(tmp_path / "home")).result["failed"] is None
    for name in PINS.values():
        place.change(name)
        for stamp in place.root.glob("packing/stamps/*"):
            stamp.unlink()
        said = place.call("bundle", "create", str(tmp_path / "c.tar"))
        assert said.code == 1
        assert "another file came than the one whose hash is held" in " ".join((said.out + said.err).split())
        pack_wheel(place.index, name, "1.0", {f"{name.replace('-', '_')}.py": b"owner = 'us'\n"})


@pytest.mark.parametrize(
    ("name", "step"), [("build", "requirements"), by_name("runtime", "runtime"), by_name("ready", "ready.fetch")]
)
def test_the_shell_form_stops_too(make_place: Callable[..., Place], tmp_path: Path, name: str, step: str) -> None:
    place, out = make_place(), tmp_path / "out"
    words = ("--profile", str(place.tiny.profile), "--out", str(out))
    assert xpusetup("emit", "shell", *words, env=place.tiny.env).code == 0
    place.change(PINS[name])
    done = subprocess.run(
        ("bash", "build.sh"), cwd=out, env=place.tiny.env, check=False, capture_output=True, text=True
    )
    assert (done.returncode, f"failed: {step}" in done.stderr) == (1, True), done.stderr
    assert "its hash differs" in (out / f"logs/{step}.log").read_text()


@pytest.mark.parametrize("form", ["dockerfile", "apptainer"])
def test_the_image_forms_carry_the_hashes(form: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = xpusetup("emit", form, "--profile", "cpu-2.13", "--out", str(out), env=caller(tmp_path / "home"))
    assert said.code == 0, said.err
    script = (out / "steps/requirements.sh").read_text()
    (listed,) = (out / "helpers/requirements").glob("build-*.txt")
    assert f"helpers/requirements/{listed.name}" in script
    assert listed.read_text().count("--hash=sha256:") > listed.read_text().count("==")
    document = json.loads((out / "profile.lock.json").read_text())
    assert document["profile"]["hashes"]["packaging==26.3"]


def test_a_lock_takes_the_hashes_that_an_index_publishes(make_place: Callable[..., Place], tmp_path: Path) -> None:
    """For every platform, of that version alone; what no index has a hash of is said to be of unverified origin."""
    place, simple = make_place(held=False), tmp_path / "simple/one-ready"
    simple.mkdir(parents=True)
    names = {"1.0-py3-none-any": "a" * 64, "1.0-cp39-cp39-win_amd64": "b" * 64, "2.0-py3-none-any": "c" * 64}
    links = [f'<a href="one_ready-{name}.whl#sha256={found}">one</a>\n' for name, found in names.items()]
    (simple / "index.html").write_text("<!DOCTYPE html>\n" + "".join(links))
    out, index = tmp_path / "locked.toml", (tmp_path / "simple").as_uri()
    words = ("profiles", "lock", "--profile", str(place.tiny.profile), "--out", str(out), "--json")
    result = xpusetup(*words, env={**place.tiny.env, "PIP_INDEX_URL": index}).result
    locked = load_profile(str(out))
    assert locked.hashes["one-ready==1.0"] == ["a" * 64, "b" * 64]
    assert result["notes"] == [
        "no published hash was found of one-build==1.0, one-runtime==1.0: unverified origin",
    ]
    assert locked.components == load_profile(str(place.tiny.profile)).components


INSTALLER = """#!/bin/sh
case $1 in -v) echo "release 1.0"; exit;; esac
{python} -m pip install -q --no-deps --no-index --find-links {links} one-ready==1.0
"""


def test_an_installer_is_held_to_what_came_first(tmp_path: Path) -> None:
    pack_wheel(tmp_path / "links", "one-ready", "1.0", {})
    program = tmp_path / "served/install-it.sh"
    program.parent.mkdir()
    python = tmp_path / "venv/bin/python"
    program.write_text(INSTALLER.format(python=python, links=tmp_path / "links"))
    make_venv(tmp_path / "venv")
    words: tuple[str, ...] = (
        str(python),
        str(CHECKOUT / "xpusetup/helpers/makers_installer.py"),
        "--program",
        "install-it.sh",
    )
    words += ("--url", program.as_uri(), "--into", str(tmp_path / "installers"), "--release", "1.0", "--ask=-v")
    words += ("--prefix-variable", "WHERE", "--prefix", str(tmp_path / "venv"), "--brings", "one-ready=1.0")
    words += ("--record", str(tmp_path / "origins"), "--out", str(tmp_path / "out.json"), "--", "install")

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, env=caller(tmp_path / "home"), check=False, capture_output=True, text=True)

    first = run()
    assert first.returncode == 0, first.stderr
    assert "install-it.sh 1.0: unverified origin" in first.stdout
    told: dict[str, Any] = json.loads((tmp_path / "out.json").read_text())
    assert told["sha256"] == hash_of(program)
    fetched = tmp_path / "installers/1.0/install-it.sh"
    fetched.write_text(fetched.read_text() + "\n")
    second = run()
    assert second.returncode == 1
    assert "is not the program that was run at first: its hash differs" in second.stderr
    fetched.unlink()
    program.write_text(program.read_text() + "touch changed\n")
    assert run().returncode == 1
    assert not (tmp_path / "changed").exists()
