"""Hashes of pins: which are known, how they reach pip, what is of unverified origin, and what is refused."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from data.plans import plan_of
from data.profiles import SHIPPED, TOP, shipped, small
from data.targets import plan_for
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Request
from xpusetup.config.hashes import (
    FILE,
    find_hashes,
    free_pins,
    indexes_of,
    key_of,
    pins_of,
    render_requirements,
    with_known,
)
from xpusetup.config.request import render_request
from xpusetup.config.shipped import load_profile, stack_names
from xpusetup.plan.requirements import FOLDER, requirement_file, requirement_texts
from xpusetup.plan.steps import check_origins, find_unverified
from xpusetup.run.root import Root, helper_files, read_origins

if TYPE_CHECKING:
    from pathlib import Path

env_pins: Any = importlib.import_module("helperlib.env.pins")
TEXT = (TOP / FILE).read_text()
OWN_INDEX = re.compile(r"(torch|torchvision|torchaudio)==.*\+(cpu|xpu)|(pytorch-)?triton-xpu==.*")
"""What lies on PyTorch's own indexes alone, which could not be read."""
PIP = re.compile(r"-m pip( --\S+)* (install|download|wheel) ")


def test_all_that_is_on_the_public_index_has_hashes() -> None:
    free = {pin for name in SHIPPED for pin in free_pins(shipped(name))}
    free |= {pin for name in stack_names() for pin in free_pins(load_profile(name))}
    assert [pin for pin in sorted(free) if not OWN_INDEX.fullmatch(pin)] == []
    assert any(OWN_INDEX.fullmatch(pin) for pin in free)


def test_the_file_is_read_whole_and_holds_nothing_else() -> None:
    pins = [line.split(" ")[0] for line in TEXT.splitlines() if "==" in line and not line.startswith("#")]
    found = find_hashes(TEXT, set(pins))
    assert sorted(found) == pins == sorted({*pins})
    assert sum(map(len, found.values())) == TEXT.count("--hash=sha256:")
    profiles = (*map(shipped, SHIPPED), *map(load_profile, stack_names()))
    used = {key_of(pin) for profile in profiles for pin in pins_of(profile)}
    own = (TOP / "tests/profiles").glob("*.toml")
    tests = {key_of(pin) for path in own for pin in re.findall(r'"([\w.-]+==[^"]+)"', path.read_text())}
    assert [pin for pin in pins if pin not in used | tests] == []


def test_hashes_of_the_profile_go_first() -> None:
    own = {"setuptools==80.10.2": ["0" * 64]}
    profile = with_known(replace(small(), hashes=own), TEXT)
    assert profile.hashes["setuptools==80.10.2"] == ["0" * 64]
    assert len(profile.hashes["pip==26.0"]) == 2
    assert free_pins(profile) == ["second==2.0"]
    assert indexes_of(shipped("torch-2.14")) == ["https://download.pytorch.org/whl/xpu"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('"Setuptools==80.10.2" = ["%s"]', "must be written as setuptools==80.10.2"),
        ('"setuptools>=80" = ["%s"]', "must be pinned exactly"),
        ('"setuptools==80.10.2; python_version < \'3\'" = ["%s"]', "hashes hold for every Python"),
        ('"setuptools==80.10.2" = ["%s0"]', "hashes"),
        ('"setuptools==80.10.2" = []', "hashes"),
    ],
)
def test_hashes_in_a_profile_are_checked(line: str, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        small(more=f"\n[hashes]\n{line.replace('%s', 'a' * 64)}\n")


def test_requirements_are_read_as_they_are_written(tmp_path: Path) -> None:
    pins = ["numpy==2.2.6; python_version < '3.11'", "PyYAML==6.0.3", "free==1.0"]
    hashes = {"numpy==2.2.6": ["b" * 64, "a" * 64], "pyyaml==6.0.3": ["c" * 64]}
    (tmp_path / "r.txt").write_text(render_requirements(hashes, pins))
    found = env_pins.read_pins([tmp_path / "r.txt", tmp_path / "r.txt"])
    assert [(pin.text, pin.key, pin.hashes) for pin in found] == [
        (pins[0], "numpy==2.2.6", ("a" * 64, "b" * 64)),
        (pins[1], "pyyaml==6.0.3", ("c" * 64,)),
        (pins[2], "free==1.0", ()),
    ]


def test_a_changed_hash_changes_the_step() -> None:
    profile = shipped("sim")
    other = replace(profile, hashes={**profile.hashes, "packaging==26.3": ["0" * 64]})
    assert requirement_file(profile, "build") != requirement_file(other, "build")
    assert requirement_file(profile, "torch.wheel") == requirement_file(other, "torch.wheel")


@pytest.mark.parametrize("name", SHIPPED)
def test_no_step_fetches_past_its_hashes(name: str) -> None:
    """Every file of requirements that a step names travels with it, and no step calls pip with a pin."""
    profile = shipped(name)
    travels = {*helper_files(profile)}
    assert {*requirement_texts(profile)} <= travels
    for argv in (argv for step in plan_of(profile).steps for argv in step.run):
        words = " ".join(argv)
        assert not PIP.search(words) or "--no-index" in words or "--no-build-isolation" in words, words
        for word in (word for word in argv if f"/{FOLDER}/" in word):
            assert word.partition("/")[2] in travels


def test_what_is_of_unverified_origin() -> None:
    gaudi = shipped("gaudi-1.24.1")
    assert find_unverified(shipped("torch-2.14"), plan_for("torch-2.14")) == ("triton-xpu==3.8.0",)
    assert find_unverified(gaudi, plan_of(gaudi)) == ("habanalabs-installer.sh 1.24.1",)
    old = replace(shipped("cpu-2.13"), hashes={})
    found = find_unverified(old, plan_of(shipped("cpu-2.13")))
    assert "numpy==2.4.6" in found
    assert "numpy==2.2.6" not in found


def test_where_hashes_are_required() -> None:
    asked = Request(require_hashes=True)
    with pytest.raises(UsageError, match=r"no published hash is known of triton-xpu==3\.8\.0") as caught:
        check_origins(shipped("torch-2.14"), asked, plan_for("torch-2.14"))
    assert "xpusetup profiles lock torch-2.14 --out FILE" in caught.value.fix
    assert plan_for("torch-2.14", Request(until="requirements", require_hashes=True)).steps
    assert render_request(asked) == ("--require-hashes",)


def test_first_use(tmp_path: Path) -> None:
    pin = env_pins.Pin("one-thing==1.0")
    assert env_pins.recorded(tmp_path / "origins", pin).hashes == ()
    env_pins.write_record(tmp_path / "origins", pin, [("a" * 64, "one_thing-1.0-py3-none-any.whl")])
    assert env_pins.recorded(tmp_path / "origins", pin).hashes == ("a" * 64,)
    published = env_pins.Pin("one-thing==1.0", ("b" * 64,))
    assert env_pins.recorded(tmp_path / "origins", published).hashes == ("b" * 64,)
    assert read_origins(Root(tmp_path)) == {"one-thing==1.0": "a" * 64}


@pytest.mark.parametrize(
    "lines",
    [
        ["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM ...", "    one-thing==1.0 from https://x.invalid/a.whl:"],
        ["Collecting other==1.0", "error: Failed to fetch", "  Caused by: Hash mismatch for `one-thing==1.0`"],
    ],
)
def test_what_came_instead_is_named(lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pins: list[Any] = [env_pins.Pin("other==1.0", ("b" * 64,)), env_pins.Pin("one-thing==1.0", ("a" * 64,))]
    env_pins.refuse_other(["Collecting one-thing==1.0"], pins, tmp_path)
    with pytest.raises(SystemExit):
        env_pins.refuse_other(lines, pins, tmp_path)
    assert "one-thing==1.0: the file that came is not the one that was published" in capsys.readouterr().err
