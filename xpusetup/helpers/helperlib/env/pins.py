"""Files of requirements with hashes, what is held to where nobody published a hash, and large files over bad lines.

Such a distribution is of unverified origin: the hash of its file is written down at first use, below the root in
`origins/`, one file a pin, as sha256sum writes it. From then on only that file is taken.
"""

import errno
import hashlib
import platform
import re
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helperlib.env.distributions import canonical
from helperlib.output import fail, render_size, write_text

OPTION = re.compile(r"\s+--hash=sha256:([0-9a-f]{64})")
DIFFERS = re.compile(r"DO NOT MATCH THE HASHES|Hash mismatch|hash mismatch|Expected sha256")
"""How pip and uv say that a file is not what it has to be."""


@dataclass(frozen=True)
class Pin:
    """One pinned distribution: as it was written, and the sha256 of the files that are taken; none known: empty."""

    text: str
    hashes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The distribution, as all spell it alike."""
        return canonical(re.split("[;=@ ]", self.text)[0])

    @property
    def key(self) -> str:
        """Name and version, without a marker."""
        return f"{self.name}=={self.text.partition(';')[0].partition('==')[2].strip()}"

    @property
    def line(self) -> str:
        """What stands in a file of requirements."""
        return " ".join((self.text, *(f"--hash=sha256:{each}" for each in self.hashes)))


def read_pins(paths: Iterable[Path]) -> list[Pin]:
    """Read files of requirements; what stands in several is read once."""
    text = "".join(path.read_text(encoding="utf-8") for path in paths).replace("\\\n", "")
    pins = (Pin(OPTION.sub("", line).strip(), tuple(OPTION.findall(line))) for line in text.splitlines() if line)
    return list(dict.fromkeys(pins))


def write_pins(path: Path, pins: Iterable[Pin]) -> Path:
    """Write a file of requirements that pip and uv take with --require-hashes."""
    write_text(path, "".join(f"{pin.line}\n" for pin in pins))
    return path


def hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def place_of(record: Path, pin: Pin) -> Path:
    """Give the file that holds the hashes of a pin: wheels are made for each Python and kind of processor."""
    return record / f"cp{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}" / pin.key


def recorded(record: Path, pin: Pin) -> Pin:
    """Give a pin with the hashes that it had at first use, where it has no published ones."""
    place = place_of(record, pin)
    if pin.hashes or not place.exists():
        return pin
    lines = place.read_text(encoding="utf-8").splitlines()
    return replace(pin, hashes=tuple(line.split()[0] for line in lines if line))


def write_record(record: Path, pin: Pin, hashes: Sequence[tuple[str, str]]) -> Pin:
    """Write down hash and file name of what was fetched without a published hash, and say so."""
    write_sums(place_of(record, pin), hashes)
    print(f"{pin.key}: unverified origin: nobody published its hash; that of {hashes[0][1]} is kept", flush=True)
    return replace(pin, hashes=tuple(each for each, _name in hashes))


def write_sums(place: Path, hashes: Sequence[tuple[str, str]]) -> None:
    write_text(place, "".join(f"{each}  {name}\n" for each, name in hashes))


def refuse_other(lines: Iterable[str], pins: Sequence[Pin], record: Path) -> None:
    """End where pip or uv says that a file is not the one whose hash is held."""
    text = "\n".join(lines)
    begin = DIFFERS.search(text)
    if not begin:
        return
    told = text[begin.start() :].lower().replace("_", "-")
    names = [pin.key for pin in pins if pin.key in told or f"/{pin.key.replace('==', '-')}-" in told] or ["a download"]
    first = next((pin for pin in pins if pin.key == names[0] and place_of(record, pin).exists()), None)
    whose = "as it was at first use" if first else "that was published"
    fix = f"if you trust the new file: rm {place_of(record, first)}" if first else OWN
    fail(f"{', '.join(names)}: the file that came is not the one {whose}: its hash differs. Nothing was installed", fix)


OWN = "see which index answers (pip config list; uv reads UV_*); a file of your own: its hash in [hashes] of a profile"


# One large file from an address: gone on with where it was cut off, as long as the server names it the same.


BLOCK = 1 << 20
TIMEOUT_S = 60
"""Seconds without a byte."""
SLOW_S, SLOW = 60, 100
"""Seconds in which less than so many bytes a second count as nothing, as for git."""
TRIES = 5
PAUSE = 1.0
"""Seconds; after each try that brought nothing, one more of them."""
PARTIAL, NOTHING_MORE, SERVER_FAILS = 206, 416, 500
PASSING = {408, 421, 425, 429}
"""Answers below 500 that another try may change."""
LOCAL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG, errno.EIO}
"""What this machine answers when it is written to."""


@dataclass
class Download:
    """A file that comes: its address, where it goes, and what the server calls the version of which that is."""

    url: str
    draft: Path
    mark: str = ""

    @property
    def size(self) -> int:
        """The bytes that came."""
        return self.draft.stat().st_size if self.draft.exists() else 0

    def bring(self) -> None:
        """Fetch it. Raises OSError for what the server refuses, and after several tries in which nothing more came."""
        from http.client import HTTPException  # noqa: PLC0415 - slow to import, and seldom needed

        tries = most = 0
        while True:
            most = max(most, self.size)
            try:
                self._receive()
            except (OSError, HTTPException) as error:
                code = getattr(error, "code", 0)
                if code == NOTHING_MORE:
                    self.draft.unlink(missing_ok=True)
                tries = 0 if self.size > most else tries + 1
                refused = 0 < code < SERVER_FAILS and code not in {*PASSING, NOTHING_MORE}
                if refused or tries == TRIES or getattr(error, "errno", None) in LOCAL:
                    raise OSError(str(error) or type(error).__name__) from error
                print(f"{render_size(self.size)} came, and then: {error}; tried again", flush=True)
                time.sleep(PAUSE * tries)
            else:
                return

    def _receive(self) -> None:
        """Take one answer to its end. Raises OSError where that comes too early, or hardly anything comes."""
        from urllib.request import Request, urlopen  # noqa: PLC0415 - slow to import, and seldom needed

        there = self.size if self.mark else 0
        ranged = {"Range": f"bytes={there}-", "If-Range": self.mark} if there else {}
        with urlopen(Request(self.url, headers=ranged), timeout=TIMEOUT_S) as answer:  # noqa: S310
            going_on = answer.status == PARTIAL
            if going_on and not (answer.headers.get("Content-Range") or "").startswith(f"bytes {there}-"):
                self.mark = ""
                raise OSError(f"the server went on at another place than byte {there}")
            tag = answer.headers.get("ETag") or ""
            self.mark = tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified") or ""
            self._copy(answer, "ab" if going_on else "wb")
            length = answer.headers.get("Content-Length")
        wanted = int(length) + (there if going_on else 0) if length is not None else self.size
        if self.size != wanted:
            raise OSError(f"it ended after {self.size} of {wanted} bytes")

    def _copy(self, answer: Any, mode: str) -> None:
        began, before = time.monotonic(), 0
        with self.draft.open(mode) as target:
            for block in iter(lambda: answer.read1(BLOCK), b""):
                before += target.write(block)
                if time.monotonic() - began > SLOW_S:
                    if before < SLOW_S * SLOW:
                        raise TimeoutError(f"less than {SLOW} bytes a second for {SLOW_S} seconds")
                    began, before = time.monotonic(), 0
