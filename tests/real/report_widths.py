"""The report of a build in a browser, by name: `make e2e-report` shows it at 420, 800 and 1200 pixels.

Nothing of it may reach beyond the width, and no word of a name may be cut. A picture of each is left to be looked at.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

WIDTHS = (420, 800, 1200)
ASK = """<!doctype html><body style="margin:0"><iframe srcdoc="{page}"
style="border:0;width:{width}px;height:4000px"></iframe><p id=said></p>
<script>document.querySelector("iframe").onload = event => {{ const page = event.target.contentDocument;
  const over = [...page.body.querySelectorAll("*")].filter(one => one.getBoundingClientRect().right > {width} + 1);
  const names = over.map(one => one.tagName).join(" ");
  said.textContent = "over: " + page.documentElement.scrollWidth + " " + names + "."; }}
</script>"""


def main() -> None:
    """Show a report at each width. Ends with 1 where something reaches beyond it."""
    report, folder = Path(sys.argv[1]).read_text(), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    wrong = [width for width in WIDTHS if not fits(report, width, folder)]
    sys.exit(f"cut at {wrong}" if wrong else 0)


def fits(report: str, width: int, folder: Path) -> bool:
    """Say whether a report fits into a width; leave a picture of it."""
    page = folder / f"{width}.html"
    page.write_text(ASK.format(page=html.escape(report), width=width))
    said = browse(folder, "--dump-dom", "--virtual-time-budget=5000", page.as_uri())
    found = re.search(r'<p id="?said"?>over: (\d+) ([\w ]*)\.', said)
    picture = folder / f"{width}.png"
    browse(folder, f"--window-size={max(width, 500)},2600", f"--screenshot={picture}", page.as_uri())
    sys.stdout.write(f"{width}: {found[1] if found else 'no answer of the browser'} wide, {picture}\n")
    return found is not None and int(found[1]) <= width and not found[2]


def browse(folder: Path, *words: str) -> str:
    """Run the browser to its end, with settings of its own."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        sys.exit("there is no chromium here: apt-get install chromium")
    fixed = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/settings")
    return subprocess.run((program, *fixed, *words), check=True, capture_output=True, text=True, timeout=120).stdout


if __name__ == "__main__":
    main()
