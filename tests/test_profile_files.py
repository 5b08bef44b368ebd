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


WRONG = """schema = 1
name = "mine"
python = 3.10
extends = "sim"
[build_requirements]
pins = [
  "pip==26.0",
  "ninja>=1",
]

[[components]]
kind = "source"
name = "first"
frontend = "make"

[components.environment]
"A B" = "x"

[[components]]
kind = "wheal"
name = "second"
after = ["frist"]
"""


def test_each_error_names_its_line() -> None:
    with pytest.raises(UsageError) as caught:
        parse_profile(WRONG, "mine.toml")
    said = caught.value.message
    for line, words in (
        (3, "python: must be text in quotes (here: 3.1)"),
        (4, "extends: unknown key; nothing is inherited"),
        (8, "build_requirements.pins.1: must be pinned exactly, as in name==1.2.3 (here: 'ninja>=1')"),
        (11, "components.first.version: is missing"),
        (14, "components.first.frontend: must be 'setup.py' or 'build' (here: 'make')"),
        (17, "components.first.environment.A B.[key]: must be the name of a variable"),
        (19, "components.second: needs a kind, one of source, wheel, skip (here: 'wheal')"),
        (22, "components.second.after: there is no component 'frist'; did you mean 'first'?"),
    ):
        assert f"\nmine.toml:{line}: {words}" in f"\n{said}"
    assert "\nmine.toml: accelerator: is missing" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\nb = 1\nb = 2\n", "b stands there already (at line 3"),
        ("[a.b]\nc = 1\n[a.b]\n", "[a.b] stands there already; one of several is written [[a.b]] (at line 3"),
        ("\ufffd\ufffds\0c\0", "it is no UTF-8; in the editor: save as UTF-8"),
    ],
)
def test_what_is_no_toml_names_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"mine.toml is not TOML: {said}")):
        parse_profile(text, "mine.toml")


def test_a_mark_before_the_first_line_is_none_of_it() -> None:
    text = package_text("profiles/sim.toml")
    assert parse_profile(f"\ufeff{text}", "x.toml") == parse_profile(text, "x.toml")


@pytest.mark.parametrize("repo", ["github.com/a/b", "../tree", "a/b"])
def test_a_repository_is_an_address_or_a_whole_path(repo: str) -> None:
    text = package_text("profiles/sim.toml").replace("package:simxpu", repo)
    with pytest.raises(UsageError, match=r"components\.simxpu\.repo: must be an address"):
        parse_profile(text, "x.toml")
    for good in ("git@example.org:a/b", "example:a/b", "ssh://git@example.org/a", "file:///a", "/srv/a", "~/a"):
        parse_profile(text.replace(f'"{repo}"', f'"{good}"'), "x.toml")
