"""The pages as a site: built strictly, so that every link leads somewhere; what people search is found."""

from __future__ import annotations

import html
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from lunr import get_default_builder
from mkdocs.commands.build import build
from mkdocs.config import load_config

from commands_page import list_commands
from xpusetup.config.shipped import profile_names
from xpusetup.doctor.registry import all_checks

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


def test_each_check_that_the_program_prints_has_a_page(site: Path) -> None:
    pages = made(site, "checks")
    assert set(pages) == set(all_checks())
    assert [name for name, text in pages.items() if f'id="{name}"' not in text] == []


def test_failures_are_those_of_pytorch_on_linux(site: Path) -> None:
    pages = made(site, "failures")
    assert {"import.libsycl", "hpu.acquire", "ascend.device", "dkms.build", "rt.node_denied"} <= set(pages)
    assert [name for name in pages if re.match(r"win\.|docker\.|ollama\.|ov\.|vllm\.|\w+\.msvc", name)] == []


def test_each_profile_has_a_page(site: Path) -> None:
    assert set(made(site, "releases")) == set(profile_names())


def test_each_command_has_a_page_with_its_examples(site: Path) -> None:
    listed = (site / "commands.html").read_text()
    for name, command, _ in list_commands():
        place = f"commands/{name.replace(' ', '-')}.html"
        text = (site / place).read_text()
        assert f'href="{place}"' in listed
        assert 'href="../commands.html"' in text
        shown = html.unescape(re.sub(r"</?span>", "", text))
        assert all(example in shown for example in command.examples)


def test_code_of_tables_is_read_as_github_reads_it(site: Path) -> None:
    """A bar is escaped there; names break behind what parts their words."""
    text = (site / "commands/build.html").read_text()
    assert "NAME|<wbr>FILE" in text
    assert "XPUSETUP_<wbr>BUILD_<wbr>JOBS" in text


def test_the_first_page_has_three_roads_and_a_picture(site: Path) -> None:
    text = (site / "index.html").read_text()
    roads = re.findall(r'href="(start-\w+\.html)"', text.partition('class="roads"')[2].partition("</div>")[0])
    assert roads == ["start-card.html", "start-developer.html", "start-cluster.html"]
    assert 'src="pictures/doctor.svg"' in text
    assert 'src="logo.svg"' in text, "and none of the theme's icons in its place"


def test_a_page_leads_to_the_next(site: Path) -> None:
    text = (site / "start-developer.html").read_text()
    assert re.search(r'href="start-card\.html" class="md-footer__link md-footer__link--prev"', text)
    assert re.search(r'href="start-cluster\.html" class="md-footer__link md-footer__link--next"', text)


def test_a_page_says_for_whom_it_is(site: Path) -> None:
    texts = {path: path.read_text() for path in site.rglob("*.html") if path.name != "404.html"}
    begins = {path: re.search(r"</h1>\s*<p>([^<]*)", text) for path, text in texts.items()}
    assert [path.name for path, found in begins.items() if found is None or not found[1].startswith("For ")] == []


def test_options_are_not_broken(site: Path) -> None:
    text = (site / "start-developer.html").read_text()
    assert "<span>--name</span> dev" in text


def test_records_are_neither_shown_nor_searched(site: Path) -> None:
    records = [site / name for name in ("measured.html", "ledger.html", "decisions", "changelog.html")]
    assert [place for place in records if place.exists()] == []
    assert "#following-next" not in (site / "json.html").read_text()


FOUND = {
    "B580": "start-card.html",
    "remove": "install.html",
    "uninstall": "install.html",
    "offline": "start-cluster.html",
    "kernel": "start-developer.html",
    "wheel": "wheels.html",
    "conda": "install.html",
    "slurm": "containers.html",
}


def test_what_people_search_is_found_first(site: Path) -> None:
    """Words and weights are those of the page that searches: titles, boosts, pages before their sections."""
    text = (site / "search/search_index.js").read_text().removeprefix("var __index = ")
    index = json.loads(text.strip().rstrip(";"))
    builder = get_default_builder("en")
    builder.ref("location")
    for name in ("title", "text"):
        builder.field(name, boost=index["config"]["fields"][name]["boost"])
    for each in index["docs"]:
        builder.add({key: each[key] for key in ("location", "title", "text")}, {"boost": each.get("boost", 1)})
    search = builder.build()
    first = {word: max(search.search(word), key=weigh)["ref"].partition("#")[0] for word in FOUND}
    assert first == FOUND


def weigh(found: dict[str, Any]) -> float:
    """Weigh a hit as mkdocs-material does: a page is worth more than its sections."""
    return float(found["score"] * (5 if "#" not in found["ref"] else 2))


def test_nothing_is_fetched_by_who_reads_it(site: Path) -> None:
    pages = "".join(path.read_text() for path in sorted(site.rglob("*.html")))
    assert re.findall(r"""<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(?:https?:)?//[^"]*""", pages) == []


def test_it_is_searched_where_it_is_read_from_a_disk(site: Path) -> None:
    """There a page may neither fetch the list of words nor start a worker; `make e2e-site` searches in a browser."""
    assert (site / "search/search_index.js").read_text().startswith("var __index = {")
    assert '<script src="../iframe-worker.js">' in (site / "checks/index.html").read_text()
    assert (site / "iframe-worker.js").is_file()


def test_rows_of_wide_tables_can_be_read_as_blocks(site: Path) -> None:
    """On a telephone each value stands behind its title."""
    assert 'data-title="kernel">' in (site / "setup.html").read_text()
    assert "data-title" not in (site / "commands.html").read_text()
