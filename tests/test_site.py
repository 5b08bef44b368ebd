"""The pages as a site: built strictly, so that every link leads somewhere; a part for everything that has an id."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from xpusetup.doctor.registry import all_checks
from xpusetup.explain.finder import parse_signatures
from xpusetup.run.tables import shipped
from xpusetup.system.files import package_texts

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it as `make site` does: a warning fails."""
    place = tmp_path_factory.mktemp("site")
    logging.getLogger("mkdocs").setLevel(logging.ERROR)
    build(load_config(str(CHECKOUT / "mkdocs.yml"), site_dir=str(place), strict=True))
    return place


def texts(folder: Path) -> str:
    return "".join(path.read_text() for path in sorted(folder.glob("*.html")))


def test_each_id_that_the_program_prints_is_an_anchor(site: Path) -> None:
    checks, failures = texts(site / "checks"), texts(site / "failures")
    assert [name for name in all_checks() if f'id="{name}"' not in checks] == []
    known = parse_signatures(package_texts("data/signatures"))
    assert [one.id for one in known if f'id="{one.id}"' not in failures] == []


def test_each_profile_has_a_page(site: Path) -> None:
    assert {f"{profile.name}.html" for profile in shipped()} == {path.name for path in (site / "releases").iterdir()}


def test_it_begins_as_the_repository_does(site: Path) -> None:
    text = (site / "index.html").read_text()
    assert "Install the command" in text
    assert 'href="install.html"' in text


def test_nothing_is_fetched_by_who_reads_it(site: Path) -> None:
    assert "fonts.googleapis" not in texts(site)
