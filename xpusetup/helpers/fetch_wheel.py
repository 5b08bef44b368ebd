"""Fetches one ready wheel of an exact version: from where pip is told to look, else from the profile's index too.

pip's own settings come first (PIP_INDEX_URL, PIP_FIND_LINKS, ...: mirrors, air gaps), so that a place which cannot
be reached from here is asked only when nothing nearer has the wheel. A wheel with another hash than the known one is
refused wherever it lies; where none is known, the one of first use is held to. What a root beside this one fetched is
taken from there, as one more name of the same file.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from collect_wheel import place
from helperlib.env.distributions import distribution_of, find_wheel, wheels_of
from helperlib.env.installers import pip, places_of, run
from helperlib.env.pins import Pin, hash_file, read_pins, recorded, refuse_other, write_pins, write_record
from helperlib.output import fail, render_size, say_summary
from pinned_wheels import ONLY, PLACES, unbound


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--requirements", type=Path, required=True, help="where its hashes stand")
    parser.add_argument("--record", type=Path, required=True, help="what is held to where no hash was published")
    parser.add_argument("--index", default="")
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    key = Pin(f"{options.distribution}=={options.version}").key
    pinned = next(pin for pin in read_pins([options.requirements]) if pin.key == key)
    wanted = Pin(key, pinned.hashes)  # asked for by name: a marker, which says when builds need it, is no matter
    pin = recorded(options.record, wanted)
    options.into.mkdir(parents=True, exist_ok=True)
    if there := find_beside(pin, options.into.absolute(), options.record.absolute()):
        if not pin.hashes:
            write_record(options.record, pin, [(hash_file(there), there.name)])
        place(there, options.into, options.distribution, link=True)
        print(f"{there.name} is in {options.into}; it is the file of {there.parent}")
        say_summary(options.version, f"copied from {there.parent.parent.name}")
        return
    with tempfile.TemporaryDirectory(dir=options.into, prefix=".fetch-") as folder:
        download(pin, options.index, Path(folder), options.record)
        wheel = find_wheel(Path(folder), options.distribution, options.version)
        if not pin.hashes:
            write_record(options.record, pin, [(hash_file(wheel), wheel.name)])
        size = wheel.stat().st_size
        place(wheel, options.into, options.distribution)
    print(f"{wheel.name} is in {options.into}")
    say_summary(options.version, render_size(size))


def find_beside(pin: Pin, into: Path, record: Path) -> Path | None:
    """Give the wheel of a pin that one's own root beside this one fetched, and that is what is held to here.

    A build may have made a wheel of that name: its hash is neither known nor written down as that of a fetched one.
    """
    root = into.parent
    if not record.is_relative_to(root):
        return None
    name, _, version = pin.key.partition("==")
    for folder in sorted(root.parent.glob(f"*/{into.name}")):
        other = folder.parent
        if other == root or folder.stat().st_uid != os.getuid():
            continue
        held = pin.hashes or recorded(other / record.relative_to(root), Pin(pin.key)).hashes
        for wheel in wheels_of(folder, name) if held else ():
            if distribution_of(wheel)[1] == version and fits_here(wheel) and hash_file(wheel) in held:
                return wheel
    return None


def fits_here(wheel: Path) -> bool:
    """Say whether a wheel is for the interpreter that runs this."""
    from pip._vendor.packaging.tags import sys_tags  # noqa: PLC0415 - other pips may lack it
    from pip._vendor.packaging.utils import parse_wheel_filename  # noqa: PLC0415

    return not parse_wheel_filename(wheel.name)[3].isdisjoint(sys_tags())


def download(pin: Pin, index: str, folder: Path, record: Path) -> None:
    """Try pip's own places, then with the index added; end with pip's last words when neither has it."""
    asked: tuple[str, ...] = (pin.text,)
    if pin.hashes:
        asked = ("--require-hashes", "-r", str(write_pins(folder / "requirements.txt", [pin])))
    for places in places_of(index):
        code, lines = run((*pip(), "download", *ONLY, *places, "--dest", str(folder), *asked), unbound())
        if code == 0:
            return
        refuse_other(lines, [pin], record)
    where = f" or at {index}" if index else ""
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    fail(f"no wheel of {pin.key} for Python {python} on the index that pip uses{where}", PLACES)


if __name__ == "__main__":
    main()
