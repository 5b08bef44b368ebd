"""Prints as JSON what the indexes say: hashes of pins, whether a file was fetched, what would come.

pip itself is asked, so that its settings, mirrors, credentials and certificates hold. For hashes nothing is downloaded,
of a wheel that would come only the few ranges that hold its list of files and its metadata. It has no command for
either: its own modules are used, and one that has changed them says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import Parser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from helperlib.env.distributions import canonical, installed
from helperlib.output import fail
from make_environment import bundled_pip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", action="append", default=[], help="where else to look than pip is told")
    parser.add_argument("--to", type=Path, help="what the file becomes")
    parser.add_argument("--fetched", type=Path, help="parts: a folder of wheels that are here")
    parser.add_argument("--into-this", action="store_true", help="parts: what this environment holds stays")
    parser.add_argument("what", choices=["hashes", "file", "parts"])
    parser.add_argument("pins", nargs="+", metavar="NAME==VERSION|NAME/FILE")
    options = parser.parse_args()
    names = {re.split("[=<>]=|/", pin)[0] for pin in options.pins}
    if not importlib.util.find_spec("pip") and (wheel := bundled_pip()):
        sys.path.append(str(wheel))
    try:
        found: object
        if options.what == "parts":
            elsewhere = next(iter(options.index), "")
            found = find_parts(options.pins, elsewhere, options.fetched, into_this=options.into_this)
            print(json.dumps(found))
            return
        with open_index(options.index) as index:
            links = {name: list(index.ask(name)) for name in names}
            if options.what == "file":
                name, _, file = options.pins[0].partition("/")
                found = index.get(file, links[name], options.to)
            else:
                hashes = {pin: sorted({*hashes_of(pin, links[pin.split("==")[0]])}) for pin in options.pins}
                found = {pin: told for pin, told in hashes.items() if told}
    except OSError as error:
        fail(f"pip cannot fetch it: {error}", "look at pip's settings: python3 -m pip config list")
    except (ImportError, AttributeError, TypeError) as error:
        fail(f"this pip cannot be asked: {error}", "install another one: python3 -m pip install -U pip")
    print(json.dumps(found))


@contextmanager
def open_index(more: list[str]) -> Iterator[PipIndex]:
    """Open the indexes that pip is told of, and some more."""
    from pip._internal.commands import create_command  # noqa: PLC0415 - other pips may lack it

    command: Any = create_command("download")
    words = [word for index in more for word in ("--extra-index-url", index)]
    with command.main_context():
        options, _words = command.parse_args(["--retries", "1", "--only-binary", ":all:", *words, "pip"])
        session = command.get_default_session(options)
        yield PipIndex(session, command._build_package_finder(options, session))  # noqa: SLF001


@dataclass(frozen=True)
class PipIndex:
    """pip's own way to its indexes: its session, and what finds packages."""

    session: Any
    finder: Any

    def ask(self, name: str) -> Iterator[Any]:
        """Give the links of all files that the indexes have of a name."""
        from pip._internal.index.collector import parse_links  # noqa: PLC0415 - other pips may lack it

        pages: list[Any] = []

        def keep(location: Any) -> list[Any]:
            pages.append(location)
            return []

        collector = self.finder._link_collector  # noqa: SLF001
        sources = collector.collect_sources(name, keep)
        for source in filter(None, (*sources.find_links, *sources.index_urls)):
            list(source.page_candidates())
            yield from source.file_links()
        for page in pages:
            response = collector.fetch_response(page)
            yield from parse_links(response) if response else ()

    def best(self, wanted: Any) -> Any:
        """Give the link of the file that pip would take for a requirement; None where it finds none that fits here."""
        found = self.finder.find_best_candidate(wanted.name, wanted.specifier).best_candidate
        return found.link if found else None

    def size_up(self, wheel: Any) -> dict[str, object]:
        """Give the bytes of a wheel, here or behind a link, what it takes unpacked, and what it requires.

        None for each that the server does not tell; it gives no parts of a file then.
        """
        try:
            with wheel.open("rb") if isinstance(wheel, Path) else self.stream(wheel.url_without_fragment) as stream:
                size = stream.seek(0, 2)
                with zipfile.ZipFile(stream) as packed:
                    unpacked = sum(each.file_size for each in packed.infolist())
                    return {"bytes": size, "unpacked": unpacked, "requires": requires_of(packed)}
        except RuntimeError:
            told = self.session.head(wheel.url_without_fragment, headers={"Accept-Encoding": "identity"})
            size = int(told.headers.get("Content-Length") or 0)
            return {"bytes": size or None, "unpacked": None, "requires": None}
        except (OSError, zipfile.BadZipFile):
            return {"bytes": None, "unpacked": None, "requires": None}

    def get(self, file: str, links: list[Any], to: Path) -> bool:
        """Fetch a file; False where no index has it."""
        link = next((link for link in links if link.filename == file), None)
        if link is None:
            return False
        response = self.session.get(link.url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True)
        response.raise_for_status()
        with to.open("wb") as stream:
            stream.writelines(response.iter_content(1 << 20))
        return True

    def stream(self, address: str) -> Any:
        """Open a file where it is, of which only what is read travels."""
        from pip._internal.network.lazy_wheel import HTTPRangeRequestUnsupported, LazyZipOverHTTP  # noqa: PLC0415

        if address.startswith("file:"):
            return Path(unquote(urlsplit(address).path)).open("rb")
        try:
            return LazyZipOverHTTP(address, self.session)
        except HTTPRangeRequestUnsupported as error:
            raise RuntimeError(address) from error


def requires_of(packed: zipfile.ZipFile) -> list[str]:
    metadata = next((name for name in packed.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)), "")
    text = packed.read(metadata).decode(errors="replace") if metadata else ""
    return list(Parser().parsestr(text, headersonly=True).get_all("Requires-Dist", []))


def hashes_of(pin: str, links: Iterable[Any]) -> Iterator[str]:
    """Give the published hashes of the files of one version."""
    from pip._vendor.packaging import utils  # noqa: PLC0415 - other pips may lack it
    from pip._vendor.packaging.version import InvalidVersion, Version  # noqa: PLC0415

    name, _, version = pin.partition("==")
    odd = (utils.InvalidSdistFilename, utils.InvalidWheelFilename, InvalidVersion)
    for link in links:
        read = utils.parse_wheel_filename if link.filename.endswith(".whl") else utils.parse_sdist_filename
        try:
            named, found, *_rest = read(link.filename)
        except odd:
            continue
        if (canonical(named), found) == (canonical(name), Version(version)) and link.hash_name == "sha256":
            yield link.hash


# Where wheels, and all that they require, would come from. No version is chosen for good, pip or uv does that: where
# two requirements differ the first one that was met holds.


NO_PAGE = re.compile(r"Could not fetch URL (?P<address>\S+): (?P<why>.*?)(?: for url: .*)? - skipping", re.DOTALL)
ASKED = "Getting page "
NOT_FOUND = "404 Client Error"
MOST_PARTS = 400
"""Distributions that are looked at: more are a circle of names that somebody serves, and no installation."""


def find_parts(pins: list[str], index: str, fetched: Path | None, *, into_this: bool) -> dict[str, object]:
    """Say where these and what they require come from, how large they are, what is nowhere, and which index is silent.

    `reached`: an index answered, or a part was found. `fetched` is a folder of wheels that are here; `into_this`: what
    this environment holds need not be fetched.
    """
    here = {path.name: path for path in fetched.glob("*.whl")} if fetched else {}
    there = {name: found.version for name, found in installed().items()} if into_this else {}
    silent = SilentIndexes()
    found = PartSearch(index, here, there)
    found.follow(pins)
    told = {"parts": list(found.parts.values()), "missing": found.missing, "unread": found.unread}
    hosts = [f"{host} ({why})" for host, why in silent.said.items()]
    return {**told, "silent": hosts, "reached": bool(found.parts or silent.asked - silent.said.keys())}


class SilentIndexes(logging.Handler):
    """Keeps which hosts pip asked, which gave no page, and why: it goes on as if they had nothing.

    A name they lack is no reason.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()
        self.said: dict[str, str] = {}
        logger = logging.getLogger("pip._internal.index.collector")
        logger.setLevel(logging.DEBUG)
        logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take in what pip says."""
        said = record.getMessage()
        if said.startswith(ASKED):
            self.asked.add(host_of(said.removeprefix(ASKED)))
        found = NO_PAGE.match(said)
        if found and NOT_FOUND not in found["why"]:
            self.said.setdefault(host_of(found["address"]), found["why"].split(":")[0])


def host_of(address: str) -> str:
    return urlsplit(address).hostname or address


@dataclass
class PartSearch:
    """What was found so far. `here`: wheels that lie here, by file name; `there`: versions that are installed."""

    index: str
    here: dict[str, Path]
    there: dict[str, str]
    parts: dict[str, dict[str, object]] = field(default_factory=dict)
    missing: list[dict[str, str]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def follow(self, pins: list[str]) -> None:
        """Look for these, and then for what they require."""
        waiting = [(pin, "") for pin in pins]
        with open_index([]) as own, open_index([self.index] if self.index else []) as every:
            while waiting and len(self.parts) < MOST_PARTS:
                waiting += self.look(*waiting.pop(0), [own, every] if self.index else [own])

    def look(self, text: str, by: str, indexes: list[PipIndex]) -> list[tuple[str, str]]:
        """Take in one requirement; give what it requires in turn."""
        from pip._vendor.packaging.requirements import Requirement  # noqa: PLC0415 - other pips may lack it

        wanted = Requirement(text)
        name = canonical(wanted.name)
        if name in self.parts or (wanted.marker is not None and not wanted.marker.evaluate({"extra": ""})):
            return []
        if by and name in self.there and wanted.specifier.contains(self.there[name], prereleases=True):
            return []
        asked = (found for index in indexes if (found := index.best(wanted)))
        link: Any = self.fetched(name, wanted) or next(asked, None)
        if link is None:
            self.missing.append({"pin": f"{wanted.name}{wanted.specifier}", "by": by})
            return []
        here = link if isinstance(link, Path) else self.here.get(link.filename)
        told = indexes[-1].size_up(here or link)
        version = unquote(here.name if here else link.filename).split("-")[1]
        place = str(link.parent) if isinstance(link, Path) else place_of(link)
        about = {"name": wanted.name, "version": version, "place": place, "by": by, "here": here is not None}
        requires = told.pop("requires")
        self.parts[name] = {**about, **told}
        if requires is None:
            self.unread.append(wanted.name)
        return [(each, wanted.name) for each in requires or ()]  # type: ignore[attr-defined]

    def fetched(self, name: str, wanted: Any) -> Path | None:
        """Give the wheel that was fetched before for a requirement."""
        for file, path in self.here.items():
            own, version = unquote(file).split("-")[:2]
            if canonical(own) == name and wanted.specifier.contains(version, prereleases=True):
                return path
        return None


def place_of(link: Any) -> str:
    """Say where a file comes from: the host, or a folder of this machine."""
    parts = urlsplit(link.url_without_fragment)
    return str(parts.hostname or Path(unquote(parts.path)).parent)


if __name__ == "__main__":
    main()
