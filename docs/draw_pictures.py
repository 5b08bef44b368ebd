"""The pictures of README and the pages: what commands print in a terminal of 80 columns, as SVG.

`make pictures` draws them anew. Those of saved machines and logs are the same everywhere (tests/e2e/test_pictures.py);
that of the demo's build has the times of the machine where it was drawn.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

CHECKOUT = Path(__file__).parents[1]
FOLDER = CHECKOUT / "docs/pictures"
WIDTH = 80
THEME = TerminalTheme(
    (22, 27, 34),
    (230, 237, 243),
    [
        *((72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34)),
        *((88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)),
    ],
)
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{
font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
<rect fill="#161b22" width="{width}" height="{height}" rx="8" />
<g transform="translate({terminal_x}, 16)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own names a font on someone else's server: nothing is fetched by who reads these."""

SHOWN = "\x1b[?25h"
"""Shows the cursor again: what is drawn while a command is at work ends with it."""


@dataclass(frozen=True)
class Picture:
    """A command as a reader types it and, where that is another one, what is run for it in the checkout.

    `everywhere` says that it prints the same on each machine. What is shown begins with the first line that holds
    `begin`.
    """

    name: str
    line: str
    run: str = ""
    everywhere: bool = True
    begin: str = ""


PICTURES = (
    Picture("doctor", "xpusetup doctor", "xpusetup doctor --facts tests/machines/cuda-torch.json"),
    Picture("explain", "xpusetup explain build.log", "xpusetup explain docs/pictures/build.log"),
    Picture("verify", "xpusetup verify sim", everywhere=False, begin="simxpu:0"),
)


def draw(picture: Picture) -> str:
    """Run a command in a terminal, and give what it printed as SVG, below the line that called it."""
    seen = run_in_terminal(shlex.split(picture.run or picture.line))
    lines = seen.rpartition(SHOWN)[2].replace("\r", "").splitlines()
    first = next(number for number, line in enumerate(lines) if picture.begin in line)
    console = Console(width=WIDTH, record=True, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "dim"), (picture.line, "bold")))
    if first:
        console.print(" ⋮", style="dim")
    for line in lines[first:]:
        text = Text.from_ansi(line.rstrip())
        console.print(*text.divide(range(WIDTH, len(text), WIDTH)), sep="\n", soft_wrap=True)
    drawn = console.export_svg(theme=THEME, code_format=FRAME, unique_id=picture.name)
    return re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)


def run_in_terminal(words: list[str]) -> str:
    """Give what a command of ours prints where it believes that a person looks."""
    told = {"COLUMNS": str(WIDTH), "LINES": "200", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "XPUSETUP_QUIET"}}
    ours, theirs = pty.openpty()
    argv = (sys.executable, "-m", "xpusetup", *words[1:])
    with subprocess.Popen(argv, cwd=CHECKOUT, env={**kept, **told}, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        seen = b"".join(iter(lambda: _read(ours), b""))
        running.wait()
    os.close(ours)
    return seen.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux's answer where the other side is closed
        return b""


def main() -> None:
    """Draw those that were named, or all."""
    for picture in PICTURES:
        if picture.name in sys.argv[1:] or not sys.argv[1:]:
            (FOLDER / f"{picture.name}.svg").write_text(draw(picture))


if __name__ == "__main__":
    main()
