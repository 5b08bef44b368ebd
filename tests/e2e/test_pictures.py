"""The pictures of the pages are what the program prints now, but for the demo's, which holds times."""

from __future__ import annotations

import re

import pytest

from docs.pictures import FOLDER, PICTURES, Picture, draw
from pages import PAGES

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("picture", [each for each in PICTURES if each.everywhere], ids=lambda each: each.name)
def test_it_is_what_is_printed_now(picture: Picture) -> None:
    drawn = (FOLDER / f"{picture.name}.svg").read_text()
    assert drawn == draw(picture), "make pictures draws it anew"


def test_each_is_shown_and_fetches_nothing() -> None:
    pages = "".join(page.read_text() for page in PAGES)
    assert {path.stem for path in FOLDER.glob("*.svg")} == {picture.name for picture in PICTURES}
    for picture in PICTURES:
        assert f"pictures/{picture.name}.svg" in pages
        drawn = (FOLDER / f"{picture.name}.svg").read_text()
        assert re.findall(r"url\((?!#)|href|@import|<image", drawn) == []
