"""Every command of this program that README or a page shows is one that the program takes, with files that exist.

What a test runs as it stands is told in RUN: the pages whose blocks an end-to-end test copies from them. A command of
another block is parsed here as the program would parse it; profiles that it names have to ship.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from test_advice import parse
from xpusetup.commands.knowledge import profile_names

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).parents[1]
PAGES = sorted((CHECKOUT / "docs").rglob("*.md"))
RUN = {
    "README.md": "e2e/test_packaging.py",
    "docs/bring-your-own-accelerator.md": "e2e/test_own_device.py",
    "docs/from-cuda-to-xpu.md": "e2e/test_pages.py",
}
SAYS = re.compile(r"\s{2,}\S.*$|\s#\s.*$| \u00b7 .*$")
"""What stands behind a command: words about it."""
ELLIPSIS = re.compile(r"\.\.\.|\u2026")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[\w-]*)?\)")


def blocks(page: Path) -> Iterator[tuple[int, str]]:
    """Give the lines of code of a page: those of fences, and those that are indented after an empty line."""
    fenced = indented = False
    before = ""
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            yield number, line
        else:
            indented = line.startswith("    ") and (indented or not before.strip())
            if indented:
                yield number, line[4:]
        before = line


def commands(page: Path) -> Iterator[tuple[str, str]]:
    name = page.relative_to(CHECKOUT)
    for number, line in blocks(page):
        text = SAYS.sub("", line.removeprefix("$ ").strip())
        for part in re.split(r" (?:&&|\|\|?|;) | > \S+| 2?>&?1? ", text):
            if part.split(" ")[0] == "xpusetup" and not ELLIPSIS.search(part):
                yield f"{name}:{number}", re.sub(r"[\[\]]", "", part).rstrip("\\ ")


SHOWN = [each for page in (CHECKOUT / "README.md", *PAGES) for each in commands(page)]


def test_there_are_commands() -> None:
    assert len(SHOWN) > 90


@pytest.mark.parametrize(("where", "command"), SHOWN, ids=[f"{where} {command}"[:90] for where, command in SHOWN])
def test_a_command_of_a_page_is_one(where: str, command: str) -> None:
    if command == "xpusetup":
        return
    parse(command)
    for name in re.findall(r"(?:--profile|-p) ((?!.*/)[\w.-]+)", command):
        assert name.endswith(".toml") or name in profile_names(), where


def test_pages_that_are_run_say_what_the_tests_read() -> None:
    for page, test in RUN.items():
        assert Path(page).name in (CHECKOUT / "tests" / test).read_text(), page


@pytest.mark.parametrize("page", [CHECKOUT / "README.md", *PAGES], ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target
