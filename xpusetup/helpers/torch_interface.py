"""What a member of a stack sees of torch: names that its libraries ask for, and headers that its compiler read.

`record` writes down after a build what the member used. `look` says, each time torch was installed, whether that is
still the same: then its result stays what it was, and the member is not built again, whatever torch's version says.
Else the result is the hash of all that torch offers: another one, by which the member is built again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from helperlib.elf.file import NotElfError, read_symbols
from helperlib.elf.loader import open_elf
from helperlib.env.distributions import find_wheel
from helperlib.env.pins import hash_file
from helperlib.output import count, fail, say_summary, write_json
from helperlib.wheel.fit import WheelArchive

LIBRARIES = re.compile(r"lib(?:torch|c10|shm)[\w-]*\.so")
INCLUDED = "/torch/include/"
SHOWN = 3


class Offer(NamedTuple):
    """What a torch offers: the names that its libraries export, and the hash of each header."""

    names: frozenset[str]
    headers: dict[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("record", "look"))
    parser.add_argument("--torch", type=Path, help="the folder of torch; default: that of this environment")
    parser.add_argument(
        "--leave-out", action="append", default=[], metavar="HEADER", help="which says the version alone"
    )
    parser.add_argument(
        "--leave-lines", action="append", default=[], metavar="HEADER:WORD", help="its lines with WORD say the version"
    )
    parser.add_argument("--used", type=Path, required=True, help="what the last build used")
    parser.add_argument("--tree", type=Path, help="record: the folder that it was built in")
    parser.add_argument("--wheels", type=Path)
    parser.add_argument("--distribution", default="")
    parser.add_argument("--version", default="")
    parser.add_argument("--out", type=Path, help="look: where the hash goes that builds follow from")
    options = parser.parse_args()
    torch = options.torch or Path(sysconfig.get_path("purelib")) / "torch"
    if not torch.is_dir():
        fail(f"there is no torch in {torch.parent}", "install it: the same command goes on there")
    offer = read_offer(torch, options.leave_out, options.leave_lines)
    if options.action == "look":
        look(offer, options)
        return
    wheel = find_wheel(options.wheels, options.distribution, options.version)
    names, headers = asked_names(wheel) & offer.names, read_headers(options.tree)
    write_json(options.used, {"interface": digest(offer), **describe(offer, names, headers)})
    unknown = "which headers were read is not known: all count"
    told = unknown if headers is None else count(len(headers), "header")
    print(f"{wheel.name} asks torch for {count(len(names), 'name')}; {told}")


def read_offer(torch: Path, leave_out: Iterable[str] = (), leave_lines: Iterable[str] = ()) -> Offer:
    """Read what a torch offers, without what says its version alone."""
    names: set[str] = set()
    for path in sorted((torch / "lib").iterdir()):
        if LIBRARIES.fullmatch(path.name):
            try:
                names |= read_symbols(open_elf(str(path))).names
            except NotElfError as error:
                fail(f"{path} cannot be read: {error}", "install torch again: the same command goes on there")
    include = torch / "include"
    found = (path for path in sorted(include.rglob("*")) if path.is_file())
    headers = {path.relative_to(include).as_posix(): path for path in found}
    words: dict[str, list[str]] = {}
    for header, _colon, word in (text.partition(":") for text in leave_lines):
        words.setdefault(header, []).append(word)
    kept = {name: path for name, path in headers.items() if name not in {*leave_out}}
    return Offer(frozenset(names), {name: hash_header(path, words.get(name, [])) for name, path in kept.items()})


def hash_header(path: Path, words: list[str]) -> str:
    """Hash a header without its lines that have one of these words."""
    if not words:
        return hash_file(path)
    said = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words))
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)
    kept = "".join(line for line in lines if not said.search(line))
    return hashlib.sha256(kept.encode(errors="surrogateescape")).hexdigest()


def asked_names(wheel: Path) -> set[str]:
    """Give the names that the libraries of a wheel ask for."""
    return {symbol.name for part in WheelArchive(wheel, "").parts() for symbol in part.asked}


def read_headers(tree: Path) -> set[str] | None:
    """Give torch's headers that compilers read, as ninja wrote them down; None where it wrote nothing."""
    found: set[str] = set()
    for log in sorted((tree / "build").rglob(".ninja_deps")):
        command = ("ninja", "-C", str(log.parent), "-t", "deps")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found |= {line.rpartition(INCLUDED)[2].strip() for line in done.stdout.splitlines() if INCLUDED in line}
    return found or None


def describe(offer: Offer, names: set[str], headers: set[str] | None) -> dict[str, Any]:
    """Give what is used of an offer, with the hash of it."""
    read = {name: found for name, found in offer.headers.items() if headers is None or name in headers}
    used = {"names": sorted(names & offer.names), "headers": read, "all_headers": headers is None}
    text = json.dumps([used["names"], sorted(read.items())])
    return {**used, "digest": hashlib.sha256(text.encode()).hexdigest()}


def digest(offer: Offer) -> str:
    text = json.dumps([sorted(offer.names), sorted(offer.headers.items())])
    return hashlib.sha256(text.encode()).hexdigest()


def look(offer: Offer, options: argparse.Namespace) -> None:
    """Write the hash that builds follow from: that of before, where all that was used is as it was."""
    used = json.loads(options.used.read_text(encoding="utf-8")) if options.used.exists() else None
    differs = find_differences(used, offer) if used else []
    same = used is not None and not differs
    write_json(options.out, {"interface": used["interface"] if used is not None and same else digest(offer)})
    for line in differs:
        print(line)
    if used is None:
        say_summary(f"{len(offer.names)} names", f"{len(offer.headers)} headers")
    elif same:
        say_summary(f"all {len(used['names'])} names and {len(used['headers'])} headers it used are as they were")
    else:
        say_summary(differs[0], f"and {len(differs) - 1} more" if len(differs) > 1 else "")


def find_differences(used: dict[str, Any], offer: Offer) -> list[str]:
    """Name what a member used and is not as it was."""
    gone = [name for name in used["names"] if name not in offer.names]
    was = used["headers"]
    lost = [name for name in was if name not in offer.headers]
    other = [name for name, found in was.items() if name in offer.headers and offer.headers[name] != found]
    more = [name for name in offer.headers if name not in was] if used["all_headers"] else []
    rows = {"name is gone": gone, "header is gone": lost, "header is another": other, "header is new": more}
    return [f"{name}: the {what}" for what, names in rows.items() for name in sorted(names)]


if __name__ == "__main__":
    main()
