"""Every code block of README and the pages is run by a test, or says why not; each command that they show is one.

A block that is not marked is run as it stands (e2e/test_blocks.py). The commands of the others are parsed here as the
program would parse them, with profiles that ship.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from pages import ALL, CHECKOUT, PAGES, Block, read_blocks
from test_advice import parse
from xpusetup.base.verbs import OLD
from xpusetup.config.settings import merge_settings
from xpusetup.config.shipped import profile_names

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = {"xpusetup", "make"}
"""What the blocks begin their lines with that are run."""
ELLIPSIS = re.compile(r"\.\.\.|\u2026")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[\w-]*)?\)")
ANCHOR = re.compile(r"\]\((?!https?:)([^)#]*)#([\w-]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
ID = re.compile(r'<a id="([\w.-]+)">')
TEST = re.compile(r"tests/[\w/]+\.py")
SEVERAL = """
one

    first

    still the first

<!-- not run: because -->

    second

<!-- run by: tests/test_pages.py -->
```sh
third
```

- an item

  <!-- read as: settings -->

      fourth

    no code
"""


def commands(block: Block) -> Iterator[tuple[str, str]]:
    for text in block.commands():
        for part in re.split(r" (?:&&|\|\|?|;) | > \S+| 2?>&?1? ", text):
            if part.split(" ")[0] == "xpusetup" and not ELLIPSIS.search(part):
                yield block.where, re.sub(r"[\[\]]", "", part).rstrip("\\ ")


SHOWN = [each for block in ALL for each in commands(block)]


def test_there_are_commands() -> None:
    assert (len(SHOWN) > 90, len(ALL) > 75) == (True, True)


def test_how_blocks_are_read() -> None:
    found = [(block.text.split()[0], block.kind, block.why) for block in read_blocks(SEVERAL, "x.md")]
    marks = [("", ""), ("not run", "because"), ("run by", "tests/test_pages.py"), ("read as", "settings")]
    assert found == [(name, *mark) for name, mark in zip(("first", "second", "third", "fourth"), marks, strict=True)]


def test_a_mark_says_why_and_names_what_is_there() -> None:
    """Who marks a block says by what it is run, or why it cannot be; one that is not marked holds commands alone."""
    for block in ALL:
        hold_mark(block)


def hold_mark(block: Block) -> None:
    for name in TEST.findall(block.why):
        text = (CHECKOUT / name).read_text()
        assert block.kind != "run by" or Path(block.page).name in text or "make" in block.text, name
    if block.kind == "run by":
        assert TEST.fullmatch(block.why), block.where
    if block.kind == "read as":
        assert block.why == "settings", block.where
        merge_settings([(block.where, block.text)])
    if not block.kind:
        assert {re.split(r"[ |]", line)[0] for line in block.commands()} <= PROGRAMS, block.text


def test_a_command_of_a_page_is_one() -> None:
    for where, command in dict.fromkeys(SHOWN):
        if command != "xpusetup":
            hold_command(where, command)


def hold_command(where: str, command: str) -> None:
    for old, new in OLD.items():  # which work for one more release
        words = new.removesuffix(" --suite") if command.endswith(f" {old}") else new
        command = re.sub(rf"^xpusetup {old}(?= |$)", f"xpusetup {words}", command)
    parse(command)
    for name in re.findall(r"(?:--profile|-p) ((?!.*/)[\w.-]+)", command):
        assert name.endswith(".toml") or name in profile_names(), where


def test_words_about_a_command_are_a_comment() -> None:
    """Who copies a line of a page, its words too, runs that command and no other."""
    assert [where for where, command in SHOWN if re.search(r"\S\s{2,}\S", command)] == []


def test_links_lead_somewhere() -> None:
    links = [(page, target) for page in PAGES for target in LINK.findall(page.read_text())]
    assert len(links) > 100
    assert [(page.name, target) for page, target in links if not (page.parent / target).exists()] == []


MADE = {"commands.md", "json.md", "sycl-words.md"}
"""Pages of the site that a test writes anew; all others are written by hand."""
RECORDS = re.findall(r"^  /([\w-]+\.md)$", (CHECKOUT / "mkdocs.yml").read_text(), re.MULTILINE)
WRITTEN = [page for page in PAGES if page.parent == CHECKOUT / "docs" and page.name not in {*MADE, *RECORDS}]
MOST = 12_000
MOST_OF_README = 500


def words(text: str) -> int:
    """Count the words of a page and its code, without marks that no page shows and without the bars of tables."""
    return sum(bool(re.search(r"\w", word)) for word in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).split())


def test_the_pages_are_few_words() -> None:
    assert sum(words(page.read_text()) for page in WRITTEN) <= MOST
    assert words((CHECKOUT / "README.md").read_text()) <= MOST_OF_README


def test_a_page_begins_with_whom_it_is_for() -> None:
    begin = re.compile(r"# .+\n\n(For|xpusetup is for) (everyone|people|owners|administrators|PyTorch)")
    assert [page.name for page in (CHECKOUT / "README.md", *WRITTEN) if not begin.match(page.read_text())] == []


FORMS = sorted((CHECKOUT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


def test_anchors_are_those_that_a_forge_gives() -> None:
    """The site's own are fewer dashes: `doctor --paste` was doctor-paste there, and led to the page's top elsewhere."""
    for page in PAGES:
        for target, anchor in ANCHOR.findall(page.read_text()):
            there = anchors_of(page.parent / target if target else page)
            assert anchor in there, f"{page.name}: {target}#{anchor}"


@cache
def anchors_of(page: Path) -> set[str]:
    text = page.read_text()
    return {*map(slug, HEADING.findall(text)), *ID.findall(text)}


def slug(heading: str) -> str:
    """Give the anchor of a heading as GitHub and GitLab make it."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_form_of_issues_is_one_and_names_commands(form: Path) -> None:
    place = find_spec("check_jsonschema")
    assert place
    assert place.origin
    kept = Path(place.origin).parent / "builtin_schemas/vendor/github-issue-forms.json"
    document = YAML(typ="safe").load(form.read_text())
    assert list(Draft7Validator(json.loads(kept.read_text())).iter_errors(document)) == []
    for text in re.findall(r"`(xpusetup [a-z][^`]+)`", form.read_text()):
        parse(text.replace("LOG", "a.log"))
