"""Profile files that people write: the schema for their editors, a new one to begin with, a lock as a file."""

from __future__ import annotations

import re
import shlex
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
from xpusetup.commands.next_commands import list_next
from xpusetup.commands.profiles import check_profile, lock, make_schema, new_file, new_profile, show_profile
from xpusetup.config.load import parse_profile
from xpusetup.config.new_profile import render_profile
from xpusetup.config.profile import SourceComponent
from xpusetup.config.shipped import load_profile, profile_names
from xpusetup.run.workspace import Where
from xpusetup.system.files import package_text
from xpusetup.system.package_index import PinHashes


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


def test_a_profile_of_ones_own_is_copied_too() -> None:
    own = package_text("profiles/sim.toml").replace('name = "sim"', "name='own'", 1)
    Path("folder").mkdir()
    Path("folder/own.toml").write_text(own)
    new_profile("mine", "folder/own.toml", new_file("mine", ""))
    assert load_profile("mine.toml") == replace(shipped("sim"), name="mine", tier="own", tried="not yet")
    patch = 'frontend = "setup.py"\npatches = [{file = "a.diff", source = "me", confidence = "likely"}]'
    Path("folder/own.toml").write_text(own.replace('frontend = "setup.py"', patch))
    with pytest.raises(UsageError, match="there is no patch"):
        new_profile("other", "folder/own.toml", new_file("other", ""))
    assert not Path("other.toml").exists()


def test_a_stack_is_not_copied_as_a_profile() -> None:
    with pytest.raises(UsageError, match="stack-cpu is a stack, and no profile"):
        new_profile("mine", "stack-cpu", new_file("mine", ""))


ODD = ["plain", "-dash", "a b.toml", "new\nline.toml", "bell\x07.toml", "\udcff.toml", "quote'.toml", "é.toml"]


@pytest.mark.parametrize("out", ODD)
def test_what_follows_a_new_file_is_a_whole_command(out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xpusetup.commands.profiles.read_hashes", lambda *_asked: PinHashes())
    locked = lock(Where(profile="sim"), out, lambda _text: None).data
    file = locked.file or ""
    assert load_profile(file) == shipped("sim")
    first, _, rest = Path(file).read_text().partition("\n")
    assert first.startswith("# Locked ")
    assert rest.startswith("schema = 1\n")
    (again,) = re.findall(r"Again: (.*)", first)
    for line in (locked.follows, again):
        assert line.isprintable()
    if "$" not in again:
        assert shlex.split(again) == ["xpusetup", "profiles", "lock", "--profile", "sim", "--out", file]
        assert shlex.split(locked.follows) == ["xpusetup", "build", "--profile", file]
    assert Path(file).resolve() == Path(out).resolve()


def test_a_lock_of_a_file_names_that_file_to_do_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xpusetup.commands.profiles.read_hashes", lambda *_asked: PinHashes())
    new_profile("mine", "sim", new_file("mine", "my own.toml"))
    lock(Where(profile="my own.toml"), "locked.toml", lambda _text: None)
    assert "xpusetup profiles lock --profile 'my own.toml' --out locked.toml\n" in Path("locked.toml").read_text()


def test_what_was_checked_is_named_as_it_was_asked_for() -> None:
    new_profile("mine", "sim", new_file("mine", "my own.toml"))
    (follows,) = list_next(check_profile("my own.toml").data, {})
    assert follows.argv == ["xpusetup", "plan", "my own.toml"]


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
    del shown["costs"]
    profile = load_profile(name)
    assert shown == to_table(profile)
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
        ("[a]\nb = 1\nb = 2\n", "Cannot overwrite a value (at line 3"),
        ("[a.b]\nc = 1\n[a.b]\n", "Cannot declare ('a', 'b') twice (at line 3"),
        ("\ufffd\ufffds\0c\0", "it is no UTF-8; in the editor: save as UTF-8"),
    ],
)
def test_what_is_no_toml_names_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"mine.toml is not TOML: {said}")):
        parse_profile(text, "mine.toml")


def test_a_repository_below_home_is_found_there(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here / "home"))
    vendored = (
        '\n[[components.vendored]]\nname = "lib"\npath = "lib"\nrepo = "~/lib"\n'
        f'rev = "{"a" * 40}"\nsource = "me"\nconfidence = "likely"\n'
    )
    text = package_text("profiles/sim.toml").replace("package:simxpu", "~/tree") + vendored
    Path("mine.toml").write_text(text)
    part = load_profile("mine.toml").components[-1]
    assert isinstance(part, SourceComponent)
    assert [part.repo, part.vendored[0].repo] == [f"{here}/home/tree", f"{here}/home/lib"]


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
