"""Gathers published wheels with all that they require in a folder, for machines without a network; installs nothing.

Each file is held to its published hash, else to that of its first use, as when it is installed.
"""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from helperlib.env.distributions import canonical, find_wheel
from helperlib.env.installers import pip, places_of, run
from helperlib.env.pins import Pin, hash_file, read_pins, recorded, write_record
from helperlib.output import count, fail, say_summary
from install_published import hold_wheel, refuse_incomplete


def main() -> None:
    """Find out what the wheels require, fetch it beside them, and hold every file to a hash."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheels", type=Path, required=True, help="the folder that they lie in")
    parser.add_argument("--wheel", action="append", required=True, metavar="NAME==VERSION")
    parser.add_argument("--index", default="", help="where else to look for what they require")
    parser.add_argument("--requirements", type=Path, action="append", required=True, help="the hashes that are known")
    parser.add_argument("--record", type=Path, required=True, help="what is held to where no hash was published")
    parser.add_argument("--require-hashes", action="store_true", help="take nothing else than what has such a hash")
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    known = {pin.key: pin for pin in read_pins(options.requirements)}
    pairs = [pin.split("==", 1) for pin in options.wheel]
    wheels = {name: find_wheel(options.wheels, name, version) for name, version in pairs}
    for name, path in wheels.items():
        hold_wheel(name, path, known, options)
    complaints: list[str] = []
    for places in places_of(options.index):  # from where pip looks, else from their index too
        words = ("download", "--only-binary", ":all:", *places, "--dest", str(options.into))
        code, lines = run((*pip(), *words, *map(str, wheels.values())), dict(os.environ))
        if code == 0:
            break
        complaints += lines
    else:
        refuse_incomplete(complaints)
    files = sorted(options.into.glob("*.whl"))
    own = {path.name for path in wheels.values()}
    for path in files:
        if path.name not in own:
            hold_file(path, known, options)
    say_summary(count(len(files), "wheel"), f"{len(files) - len(own)} of them required by the others")


def hold_file(path: Path, known: Mapping[str, Pin], options: argparse.Namespace) -> None:
    """Hold a file to what is known of it. Ends where it is another, or where nothing is known and that is asked."""
    name, version = path.name.split("-")[:2]
    pin = Pin(f"{canonical(name)}=={version}")
    pin = known.get(pin.key, pin)
    if not pin.hashes and options.require_hashes:
        fail(f"no published hash is known of {pin.key}, and --require-hashes asks for one", "leave it out")
    pin, found = recorded(options.record, pin), hash_file(path)
    if not pin.hashes:
        pin = write_record(options.record, pin, [(found, path.name)])
    if found not in pin.hashes:
        path.unlink()
        fail(
            f"{path.name} has another hash than was published or first used: {found}. It was removed",
            f"if you trust it: remove the record of {pin.key} in {options.record}",
        )


if __name__ == "__main__":
    main()
