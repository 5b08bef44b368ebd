"""Prints the sha256 that the indexes publish of every file of some pins, for all Pythons and platforms, as JSON.

pip itself is asked, so that its settings, mirrors, credentials and certificates hold; nothing is downloaded. It has no
command for this: its own modules are used, and one that has changed them says so.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from helperlib.env.distributions import canonical
from helperlib.output import fail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def main() -> None:
    """Ask each index for each name once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", action="append", default=[], help="where else to look than pip is told")
    parser.add_argument("pins", nargs="+", metavar="NAME==VERSION")
    options = parser.parse_args()
    try:
        links = {name: list(ask(name, options.index)) for name in {pin.split("==")[0] for pin in options.pins}}
    except (ImportError, AttributeError, TypeError) as error:
        fail(f"this pip cannot be asked for hashes: {error}", "install another one: python3 -m pip install -U pip")
    found = {pin: sorted({*hashes_of(pin, links[pin.split("==")[0]])}) for pin in options.pins}
    print(json.dumps({pin: hashes for pin, hashes in found.items() if hashes}))


def ask(name: str, indexes: list[str]) -> Iterator[Any]:
    """Give the links of all files that the indexes have of a name."""
    from pip._internal.commands import create_command  # noqa: PLC0415 - other pips may lack them
    from pip._internal.index.collector import parse_links  # noqa: PLC0415

    more = [word for index in indexes for word in ("--extra-index-url", index)]
    command: Any = create_command("download")
    options, _words = command.parse_args(["--retries", "1", *more, name])
    with command.main_context():
        collector = command._build_package_finder(options, command.get_default_session(options))._link_collector  # noqa: SLF001
        pages: list[Any] = []

        def keep(location: Any) -> list[Any]:
            pages.append(location)
            return []

        sources = collector.collect_sources(name, keep)
        for source in sources.index_urls:
            list(source.page_candidates() if source else ())
        for page in pages:
            response = collector.fetch_response(page)
            yield from parse_links(response) if response else ()


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


if __name__ == "__main__":
    main()
