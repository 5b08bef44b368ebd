"""The pages as a site: built strictly, so that every link leads somewhere; a part for everything that has an id."""

from __future__ import annotations

import html
import logging
import re
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from commands_page import list_commands
from xpusetup.config.shipped import profile_names
from xpusetup.doctor.registry import all_checks
from xpusetup.explain.finder import parse_signatures
from xpusetup.system.files import package_texts

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it as `make site` does: a warning fails."""
    place = tmp_path_factory.mktemp("site")
    logging.getLogger("mkdocs").setLevel(logging.ERROR)
    build(load_config(str(CHECKOUT / "mkdocs.yml"), site_dir=str(place), strict=True))
    return place


def made(site: Path, folder: str) -> dict[str, str]:
    """Give the pages of a kind by the id that each is of; that id is an anchor of its page and in the kind's list."""
    pages = {path.stem: path.read_text() for path in (site / folder).iterdir()}
    listed = pages.pop("index")
    assert [name for name in pages if f'href="{name}.html"' not in listed] == []
    assert [name for name, text in pages.items() if 'href="index.html">all ' not in text.lower()] == []
    return pages


def test_each_check_and_failure_that_the_program_prints_has_a_page(site: Path) -> None:
    known = {one.id for one in parse_signatures(package_texts("data/signatures"))}
    for folder, ids in (("checks", set(all_checks())), ("failures", known)):
        pages = made(site, folder)
        assert set(pages) == ids
        assert [name for name, text in pages.items() if f'id="{name}"' not in text] == []


def test_each_profile_has_a_page(site: Path) -> None:
    assert set(made(site, "releases")) == set(profile_names())


def test_each_command_has_a_page_with_its_examples(site: Path) -> None:
    listed = (site / "commands.html").read_text()
    for name, command, _ in list_commands():
        place = f"commands/{name.replace(' ', '-')}.html"
        text = (site / place).read_text()
        assert f'href="{place}"' in listed
        assert 'href="../commands.html"' in text
        assert all(example in html.unescape(text) for example in command.examples)


def test_code_of_tables_is_read_as_github_reads_it(site: Path) -> None:
    """A bar is escaped there; names break behind what parts their words."""
    text = (site / "commands/build.html").read_text()
    assert "NAME|<wbr>FILE" in text
    assert "XPUSETUP_<wbr>BUILD_<wbr>JOBS" in text


def test_it_begins_as_the_repository_does(site: Path) -> None:
    text = (site / "index.html").read_text()
    assert "Install the command" in text
    assert 'href="install.html"' in text


def test_nothing_is_fetched_by_who_reads_it(site: Path) -> None:
    pages = "".join(path.read_text() for path in sorted(site.rglob("*.html")))
    assert re.findall(r"""<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(?:https?:)?//[^"]*""", pages) == []


def test_it_is_searched_where_it_is_read_from_a_disk(site: Path) -> None:
    """There a page may neither fetch the list of words nor start a worker; `make e2e-site` searches in a browser."""
    assert (site / "search/search_index.js").read_text().startswith("var __index = {")
    assert '<script src="../iframe-worker.js">' in (site / "checks/index.html").read_text()
    assert (site / "iframe-worker.js").is_file()


def test_rows_of_wide_tables_can_be_read_as_blocks(site: Path) -> None:
    """On a telephone each value stands behind its title; what is wide by paths breaks where their words part."""
    ledger = (site / "ledger.html").read_text()
    assert 'data-title="where">' in ledger
    assert "torch-xpu-ops:<wbr>cmake/<wbr>Codegen.<wbr>cmake" in ledger
    assert "data-title" not in (site / "commands.html").read_text()
