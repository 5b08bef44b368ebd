"""What a program said, as another one quotes it: pip, uv, cargo and conda indent it, which is taken away."""

import re
from collections.abc import Iterable, Iterator

BEFORE = rb"(?:\d{4}-\d\d-\d\dT[\d:.]+Z |#\d+ \d+\.\d+ )?"
"""What a CI system or docker puts before each line."""
HEAD = rb"(?:\[\d+ lines? of output\]|\[std(?:out|err)\]|--- std(?:out|err)|pip subprocess (?:error|output):)"
MARK = re.compile(
    rb"^" + BEFORE + rb"[ \t]*(?:\xe2\x95\xb0\xe2\x94\x80> |`-> |\\_> |\|_> )?" + HEAD + rb"\r?$",
    re.MULTILINE | re.IGNORECASE,
)
"""The line after which a program is quoted; pip draws a corner before it."""
LINE = re.compile(rb"(?P<before>" + BEFORE + rb")(?P<indent> *)(?P<said>.*)", re.DOTALL)
HELD = 8192
"""Maximum bytes buffered while waiting for a newline; longer lines pass through unchanged."""


class _Boxes:
    """The quotations that are open, the innermost last, each by its indent in the log."""

    def __init__(self) -> None:
        self.open: list[int] = []
        self.waiting = False

    @property
    def inside(self) -> bool:
        return self.waiting or bool(self.open)

    def take(self, line: bytes) -> bytes:
        """Give a line without the indent of the quotation that it stands in."""
        found = LINE.match(line)
        if found is None or not found["said"].strip():
            return line
        indent = len(found["indent"])
        if self.waiting and indent and indent > (self.open[-1] if self.open else 0):
            self.open.append(indent)
        elif not self.waiting or indent == 0:
            while self.open and indent < self.open[-1]:
                self.open.pop()
        self.waiting = False
        cut = min(indent, self.open[-1] if self.open else 0)
        self.waiting = bool(MARK.match(line.rstrip(b"\n")))
        return found["before"] + b" " * (indent - cut) + found["said"]


def without_boxes(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Give the same lines, those that are quoted without their indent."""
    boxes, held = _Boxes(), b""
    for chunk in chunks:
        data = held + chunk
        cut = data.rfind(b"\n") + 1
        cut = cut if len(data) - cut < HELD else len(data)
        held = data[cut:]
        yield _dedent(boxes, data[:cut])
    yield _dedent(boxes, held)


def _dedent(boxes: _Boxes, data: bytes) -> bytes:
    """Go line by line where something is quoted, and at once over all else."""
    parts: list[bytes] = []
    place = 0
    while place < len(data):
        if not boxes.inside:
            mark = MARK.search(data, place) if _may_hold(data, place) else None
            after = data.find(b"\n", mark.start()) + 1 if mark else 0
            boxes.waiting = bool(mark)
            end = after or len(data)
            parts.append(data[place:end])
        else:
            end = data.find(b"\n", place) + 1 or len(data)
            parts.append(boxes.take(data[place:end]))
        place = end
    return b"".join(parts)


def _may_hold(data: bytes, place: int) -> bool:
    low = (b"of output]", b"[stdout]", b"[stderr]", b"--- std", b"ip subprocess")
    return any(data.find(word, place) >= 0 for word in low)
