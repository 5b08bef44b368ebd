"""Puts patches on a fetched tree, each once, whatever was on it before; then loosens the pins that a stack names.

A pin is loosened as a patch too: the line that is to change is looked for, what differs is shown as a diff, and that is
put on. A file in which the line does not stand just once is an error, so that no change is lost in silence.
"""

import argparse
import difflib
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from helperlib.git.process import FetchError, make_git
from helperlib.git.tree import put_on
from helperlib.output import count, fail, say_summary, write_text


class LineChange(NamedTuple):
    """A line of a file, without the space around it, and what stands there instead; empty: the line goes."""

    file: str
    line: str
    to: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--loosen", action="append", default=[], metavar="JSON", help="file, line, what it becomes")
    parser.add_argument("files", type=Path, nargs="*")
    options = parser.parse_args()
    changes = [LineChange(*json.loads(text)) for text in options.loosen]
    try:
        git = make_git()
        names = put_on(git, options.tree, options.files)
        if changes:
            text = render_diff(options.tree, changes)
            sys.stdout.write(text)
            with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
                loosened = Path(folder) / "loosened-pins.patch"
                write_text(loosened, text)
                names = put_on(git, options.tree, [*options.files, loosened])
    except FetchError as error:
        fail(str(error), error.fix)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}", "make room there, or look at its mode")
    for name in names:
        sys.stdout.write(f"{options.tree.name}: {name} is on\n")
    say_summary(count(len(names), "patch"))


def render_diff(tree: Path, changes: Sequence[LineChange]) -> str:
    """Give what differs in a tree where pins are loosened. Raises FetchError for a line that is not there."""
    found: list[str] = []
    for file in dict.fromkeys(change.file for change in changes):
        old = read_lines(tree, file)
        new = old
        for change in changes:
            new = loosen(new, change) if change.file == file else new
        found += difflib.unified_diff(old, new, f"a/{file}", f"b/{file}", n=1)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found)


def read_lines(tree: Path, file: str) -> list[str]:
    """Read a file of a tree with its line ends. Raises FetchError for one that is not there."""
    path = tree / file
    try:
        if not path.resolve().is_relative_to(tree.resolve()):
            raise FetchError(f"{file} leads out of {tree}", MEND)
        return path.read_bytes().decode().splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise FetchError(f"{path} cannot be read: {error}", MEND) from error


MEND = "the stack was made for another release of it: look at its files, and mend `loosen` of the member"


def loosen(lines: list[str], change: LineChange) -> list[str]:
    """Give the lines of a file with one of them changed; the space around it stays. Raises FetchError."""
    places = [number for number, line in enumerate(lines) if line.strip() == change.line]
    if len(places) != 1:
        near = difflib.get_close_matches(change.line, [line.strip() for line in lines], n=1, cutoff=0.5)
        there = f"stands {len(places)} times" if places else f"is not there{f'; {near[0]!r} is' if near else ''}"
        raise FetchError(f"{change.file}: the line {change.line!r} {there}", MEND)
    line = lines[places[0]]
    begin, end = line[: len(line) - len(line.lstrip())], line[len(line.rstrip()) :]
    put = [f"{begin}{change.to}{end}"] if change.to else []
    return [*lines[: places[0]], *put, *lines[places[0] + 1 :]]


if __name__ == "__main__":
    main()
