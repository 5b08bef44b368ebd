"""What a profile may say, value by value: each bad one is refused at its key path."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError

import pytest

from data.profiles import SHIPPED, shipped, small, small_text
from xpusetup.base.document import to_table
from xpusetup.base.errors import UsageError
from xpusetup.config.load import parse_profile

REV = "0123456789abcdef0123456789abcdef01234567"
FIRST = "components.first"
ARCH = '\n[arch]\nvariable = "LIST"\ndefault = ["pvc"]\nsource = "x"\nconfidence = "likely"\n'


def said(old: str, new: str, more: str = "") -> str:
    """Give what is said of the small profile with one text replaced, without the file's name and line."""
    with pytest.raises(UsageError) as caught:
        parse_profile(small_text((old, new), more=more), "small.toml")
    assert caught.value.fix == "correct the file, then: xpusetup profiles check small.toml"
    return re.sub(r"(?m)^small\.toml(:\d+)?: ", "", caught.value.message)


def vendored(lines: str) -> str:
    fixed = 'name = "v"\npath = "third_party/v"\nrepo = "https://example.org/v"\nsource = "x"\nconfidence = "likely"\n'
    return f'frontend = "build"\n\n[[components.vendored]]\n{fixed}{lines}'


TIERS = "'demo', 'own', 'new', 'current', 'kept', 'reference', 'moving', 'other' or 'test'"


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped(name: str) -> None:
    assert shipped(name).name == name
    assert shipped(name).components or shipped(name).installer


def test_three_are_shipped() -> None:
    assert {"sim", "torch-2.5", "torch-2.14"} <= set(SHIPPED)


@pytest.mark.parametrize(
    ("rev", "message"),
    [
        (REV[:12], "must be a whole commit id of 40 hexadecimal digits, not 12 characters (here: '0123456789ab')"),
        (REV.upper(), f"must be lower case, as git prints it (here: '{REV.upper()}')"),
        (
            "g" * 40,
            f"must be a whole commit id of 40 hexadecimal digits, not 40 characters (here: '{'g' * 40}')",
        ),
        ("", "must be a whole commit id of 40 hexadecimal digits, not 0 characters (here: '')"),
    ],
)
def test_revs(rev: str, message: str) -> None:
    assert said(REV, rev) == f"{FIRST}.rev: {message}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('version = "1.0"', "version = 1.0", f"{FIRST}.version: must be text in quotes (here: 1.0)"),
        ('version = "1.0"', 'version = "abc"', f"{FIRST}.version: must be a version, as in 1.2.3 (here: 'abc')"),
        (
            'version = "1.0"',
            'version = "1.0\\n"',
            f"{FIRST}.version: must be written as in the name of a wheel: 1.0 (here: '1.0\\n')",
        ),
        (
            'version = "1.0"',
            'version = "1.0-rc1"',
            f"{FIRST}.version: must be written as in the name of a wheel: 1.0rc1 (here: '1.0-rc1')",
        ),
        ('">=3.10"', "3", "python: must be text in quotes (here: 3)"),
        ('">=3.10"', '"nope"', "python: must be versions, as in >=1.2,<2 (here: 'nope')"),
        ("schema = 1", "schema = 2", "schema: must be 1 (here: 2)"),
        (
            '"test"',
            '"best"',
            f"tier: must be {TIERS} (here: 'best')",
        ),
        (
            'frontend = "build"',
            'frontend = "make"',
            f"{FIRST}.frontend: must be 'setup.py' or 'build' (here: 'make')",
        ),
        (
            'frontend = "build"',
            'frontend = "build"\ncmake = 1',
            f"{FIRST}.cmake: must be true or false (here: 1)",
        ),
        (
            'frontend = "build"',
            'frontend = "build"\ninspect.abi = "1"',
            f"{FIRST}.inspect.abi: must be 0 or 1 (here: '1')",
        ),
        (
            'frontend = "build"',
            'frontend = "build"\nenvironment = { A = 1 }',
            f"{FIRST}.environment.A: must be text in quotes (here: 1)",
        ),
        (
            'python = ">=3.10"',
            'python = ">=3.10"\nmemory_per_job_gib = 0.0',
            "memory_per_job_gib: must be greater than 0 (here: 0.0)",
        ),
    ],
)
def test_types(old: str, new: str, message: str) -> None:
    assert said(old, new) == message


@pytest.mark.parametrize(
    "pin", ["pip", "pip>=26", "pip==26.*", "pip>=26,==26.0", "pip===26.0", "pip @ https://example.org/pip.whl"]
)
def test_pins_are_exact(pin: str) -> None:
    message = f"must be pinned exactly, as in name==1.2.3 (here: '{pin}')"
    assert said("pip==26.0", pin) == f"build_requirements.pins.0: {message}"


@pytest.mark.parametrize("path", ["/etc", "~/x", "..", "a/../../b", ""])
def test_paths_stay_below_the_tree(path: str) -> None:
    message = f"must be a path below the source tree: no leading '/' and no '..' (here: '{path}')"
    assert said('frontend = "build"', f'frontend = "build"\ndirectory = "{path}"') == f"{FIRST}.directory: {message}"
    lines = vendored(f'rev = "{REV}"\npin_file = "{path}"')
    assert said('frontend = "build"', lines) == f"{FIRST}.vendored.v.pin_file: {message}"


def test_dots_in_a_name_are_no_way_out() -> None:
    profile = small(('frontend = "build"', 'frontend = "build"\ndirectory = "a..b/c"'))
    assert profile.components[0].kind == "source"


@pytest.mark.parametrize("text", ["a\\nb", "a\\tb", "\\u0000", "\\u001b[2J", "\\u007f", "a\\u2028b", "@ROOT@"])
def test_control_characters(text: str) -> None:
    for old, path in (("one component", "summary"), ("https://example.org/first", f"{FIRST}.repo")):
        assert said(old, text).startswith(f"{path}: must be one line of printable text")


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("https://example.org/first", "--upload-pack=x", f"{FIRST}.repo"),
        ('frontend = "build"', 'frontend = "build"\ndirectory = "-x"', f"{FIRST}.directory"),
        ('frontend = "build"', 'frontend = "build"\ntag = "--exec"', f"{FIRST}.tag"),
        ('after = ["first"]', 'after = ["first"]\nindex = "-i"', "components.second.index"),
    ],
)
def test_nothing_reads_as_an_option(old: str, new: str, path: str) -> None:
    assert said(old, new).startswith(f"{path}: must not begin with '-': a program would read it as an option")


def test_an_arch_is_no_option_either() -> None:
    with pytest.raises(UsageError, match=r"arch\.default\.0: must not begin with '-'"):
        small(more=ARCH.replace("pvc", "-pvc"))
    assert said("schema = 1", "schema = 1", ARCH.replace('"x"', "1")) == (
        "arch.source: must be text in quotes (here: 1)"
    )


def test_empty_repo() -> None:
    assert said("https://example.org/first", "") == f"{FIRST}.repo: must have at least 1 character (here: '')"


def test_a_rev_that_is_absent_needs_a_reason_and_a_tag() -> None:
    assert said(f'rev = "{REV}"', "") == f"{FIRST}: a rev that is absent needs a reason"
    without_tag = said(f'rev = "{REV}"', 'reason = "unknown"')
    needs = "without a rev a tag is needed, which is resolved when the source is fetched, or a ref"
    assert without_tag == f"{FIRST}: {needs}"
    assert small((f'rev = "{REV}"', 'reason = "unknown"\ntag = "v1"')).components[0].name == "first"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "needs a rev, a tag, or a pin_file in the tree that holds the commit"),
        ('tag = "v1"', "a rev that is absent needs a reason"),
        ('pin_file = "pin.txt"', "a rev that is absent needs a reason"),
        (
            'tag = "v1"\nreason = "x"\nclones = ["https://a.invalid/a"]',
            "what the build clones needs a pin_file that names it; no patch and no define reaches it",
        ),
        (
            'tag = "v1"\nreason = "x"\npin_file = "a.cmake"\ndefine = "X"\nclones = ["https://a.invalid/a"]',
            "what the build clones needs a pin_file that names it; no patch and no define reaches it",
        ),
    ],
)
def test_vendored_sources_can_be_found(lines: str, message: str) -> None:
    assert said('frontend = "build"', vendored(lines)) == f"{FIRST}.vendored.v: {message}"


@pytest.mark.parametrize(
    ("lines", "lacking"),
    [
        ('sparse = ["a"]', "."),
        ('sparse = ["a"]\ndirectory = "ab"', "ab"),
        ('sparse = ["a/b"]\ndirectory = "a"', "a"),
        (
            vendored('pin_file = "pin.txt"\nreason = "x"').replace("\n", '\nsparse = ["a"]\ndirectory = "a"\n', 1),
            "pin.txt",
        ),
    ],
)
def test_a_sparse_tree_holds_what_is_read_of_it(lines: str, lacking: str) -> None:
    lines = lines if "frontend" in lines else f'frontend = "build"\n{lines}'
    assert said('frontend = "build"', lines) == f"{FIRST}: {lacking} lies in none of the folders of sparse"


def test_a_folder_in_a_sparse_one() -> None:
    part = small(('frontend = "build"', 'frontend = "build"\nsparse = ["x", "a"]\ndirectory = "a/b"')).components[0]
    assert to_table(part)["sparse"] == ["x", "a"]


@pytest.mark.parametrize("name", ["First", "1st", "", "a b", "a/b", "a;b", "$(a)", "é"])
def test_names_are_plain(name: str) -> None:
    message = f"must be small letters, digits and any of . _ -, and begin with a letter (here: '{name}')"
    assert said('name = "small"', f'name = "{name}"') == f"name: {message}"


def test_a_profile_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        small().name = "other"  # type: ignore[misc]
