"""Profile files that people write: the schema for their editors, a new one to begin with, a lock as a file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from data.profiles import shipped
from xpusetup.base.document import to_json, to_table
from xpusetup.base.errors import UsageError
from xpusetup.base.text import hide_all
from xpusetup.base.values import parse_toml
from xpusetup.commands.profiles import make_schema, new_file, new_profile, show_profile
from xpusetup.config.load import parse_profile
from xpusetup.config.new_profile import render_profile
from xpusetup.run.tables import load_profile, profile_names
from xpusetup.system.files import package_text


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(text: str) -> list[str]:
    """Say as an editor would what is wrong with a file: the places of its errors."""
    validator = jsonschema.Draft202012Validator(make_schema().data)
    return sorted("/".join(map(str, error.path)) for error in validator.iter_errors(parse_toml(text)))


@pytest.mark.parametrize("name", profile_names())
def test_the_schema_takes_what_ships(name: str) -> None:
    assert check(package_text(f"profiles/{name}.toml")) == []


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ('summary = "', 'sumary = "', ["", ""]),
        ('tier = "demo"', 'tier = "best"', ["tier"]),
        ("schema = 1", "schema = 2", ["schema"]),
        (re.compile(r'rev = "[0-9a-f]{40}"'), 'rev = "main"', ["components/1"]),
        (re.compile(r'"setuptools==[0-9.]+"'), '"setuptools>=80"', ["build_requirements/pins/"]),
    ],
)
def test_the_schema_refuses_what_the_program_refuses(old: Any, new: str, places: list[str]) -> None:
    text = re.sub(old, new, package_text("profiles/sim.toml"), count=1)
    with pytest.raises(UsageError):
        parse_profile(text, "x.toml")
    found = check(text)
    assert len(found) == len(places), found
    assert all(place.startswith(expected) for place, expected in zip(found, places, strict=True)), found


@pytest.mark.parametrize("base", profile_names())
def test_a_new_profile_is_the_old_one_by_another_name(base: str) -> None:
    result = new_profile("mine", base, new_file("mine", ""))
    assert to_json(result.data) == {"profile": "mine", "from": base, "file": "mine.toml"}
    old = shipped(base)
    assert replace(load_profile("mine.toml"), name=base, tier=old.tier, tried=old.tried) == old
    text = Path("mine.toml").read_text()
    assert text.startswith("#:schema ./profile.schema.json\n")
    comments = [line for line in package_text(f"profiles/{base}.toml").splitlines()[1:] if line.startswith("# ")]
    assert [line for line in comments if line not in text] == []


@pytest.mark.parametrize(
    ("name", "base", "out", "message"),
    [
        ("Mine", "sim", "", "'Mine' is no name of a profile"),
        ("mine", "simm", "", "there is no profile 'simm'; did you mean sim?"),
        ("mine", "sim", "there.toml", "there.toml is there already"),
    ],
)
def test_refusals(name: str, base: str, out: str, message: str) -> None:
    Path("there.toml").write_text("mine")
    with pytest.raises(UsageError, match=re.escape(message)):
        new_profile(name, base, new_file(name, out))
    assert Path("there.toml").read_text() == "mine"


@pytest.mark.parametrize("name", profile_names())
def test_a_rendered_profile_is_read_back(name: str) -> None:
    assert parse_profile(render_profile(shipped(name), "a comment"), "x.toml") == shipped(name)


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_is_shown_as_its_file_says_it(name: str) -> None:
    data = show_profile(name).data
    shown = to_json(hide_all(data))
    assert isinstance(shown, dict)
    rules = shown.pop("upstream")
    del shown["costs"]
    profile = load_profile(name)
    assert shown == to_table(profile)
    assert isinstance(rules, list)
    assert all(isinstance(rule, dict) and {"place", "told", "ours"} <= rule.keys() for rule in rules)
    measured = [each.target for each in data.costs.cost] if data.costs else []
    assert {*measured} <= {*(profile.arch.default if profile.arch else [])}
