"""Pages in a browser, by name: `make e2e-report` shows the report of a build, `make e2e-site` pages of the site.

Each is shown at 390, 800 and 1600 pixels. Nothing of its text may reach beyond the width, or have to be moved to be
read. A picture of each is left to be looked at. A page of the site is also asked to search, from the disk.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

WIDTHS = (390, 800, 1600)
ASK = """<!doctype html><body style="margin:0"><iframe src="{page}"
style="border:0;width:{width}px;height:4000px"></iframe><p id=said></p>
<script>document.querySelector("iframe").onload = event => {{ const page = event.target.contentDocument;
  const shown = (page.querySelector("article") || page.body).querySelectorAll("*");
  const over = [...shown].filter(one => one.getBoundingClientRect().right > {width} + 1
    || (getComputedStyle(one).overflowX != "visible" && one.scrollWidth > one.clientWidth + 1));
  const names = over.map(one => one.tagName).join(" ");
  said.textContent = "over: " + page.documentElement.scrollWidth + " " + names + "."; }}
</script>"""
SETTINGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
ELSEWHERE = "--allow-file-access-from-files"
"""The page that asks lies in another folder; who reads a page has not set it."""


def main() -> None:
    """Show pages, the last argument is where pictures go. Ends with 1 where something reaches beyond a width."""
    *pages, last = map(Path, sys.argv[1:])
    last.mkdir(parents=True, exist_ok=True)
    wrong = [f"{name(page)} at {width}" for page in pages for width in WIDTHS if not fits(page, width, last)]
    mute = [name(page) for page in pages if not answers(page, last)]
    said = (f"cut: {', '.join(wrong)}" if wrong else "", f"finds nothing: {', '.join(mute)}" if mute else "")
    sys.exit("; ".join(filter(None, said)) or 0)


def name(page: Path) -> str:
    """Name a page, the list of a folder by that folder."""
    return f"{page.parent.name.strip('.')}-{page.stem}" if page.stem == "index" else page.stem


def fits(shown: Path, width: int, folder: Path) -> bool:
    """Say whether a page fits into a width; leave a picture of it."""
    page = folder / f"{name(shown)}-{width}.html"
    page.write_text(ASK.format(page=shown.as_uri(), width=width))
    said = browse(folder, ELSEWHERE, "--dump-dom", "--virtual-time-budget=5000", page.as_uri())
    found = re.search(r'<p id="?said"?>over: (\d+) ([\w ]*)\.', said)
    picture = page.with_suffix(".png")
    browse(folder, f"--window-size={max(width, 500)},2600", f"--screenshot={picture}", page.as_uri())
    answer = f"{found[1]} wide, beyond it: {found[2] or 'nothing'}" if found else "no answer of the browser"
    sys.stdout.write(f"{name(shown)} at {width}: {answer}, {picture}\n")
    return found is not None and int(found[1]) <= width and not found[2]


def answers(page: Path, folder: Path) -> bool:
    """Say whether a page that offers a search finds something; one that offers none does."""
    if 'data-md-component="search-query"' not in page.read_text():
        return True
    asked = f"{page.as_uri()}?q=torch"
    said = browse(folder, "--dump-dom", "--virtual-time-budget=9000", asked)
    return re.search(r">\s*\d+ matching documents?\s*<", said) is not None


def browse(folder: Path, *words: str) -> str:
    """Run the browser to its end, with settings of its own."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        sys.exit("there is no chromium here: apt-get install chromium")
    line = (program, *SETTINGS, f"--user-data-dir={folder}/settings", *words)
    return subprocess.run(line, check=True, capture_output=True, text=True, timeout=120).stdout


if __name__ == "__main__":
    main()
