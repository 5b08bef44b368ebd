"""Installs or fetches what is pinned by version and by hash: no file with other contents gets in.

Wheels alone are taken: what builds a source distribution would be fetched without any hash.
"""

import argparse
import os
import tempfile
from pathlib import Path

from helperlib.env.installers import pip, run
from helperlib.env.pins import Pin, hash_file, read_pins, recorded, refuse_other, write_pins, write_record
from helperlib.output import fail

ONLY = ("--no-deps", "--only-binary", ":all:")
PLACES = "look at the network and proxy, or point PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS at a place that has it"


def main() -> None:
    """Hold every pin to a hash, then install all of them, pip itself first, or fetch them; `--into` says where to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("install", "download"))
    parser.add_argument("--requirements", type=Path, action="append", required=True)
    parser.add_argument("--record", type=Path, required=True, help="what is held to where no hash was published")
    parser.add_argument("--report", type=Path, help="what was installed, as pip tells it")
    parser.add_argument("--into", type=Path, help="the folder for the wheels, or for what is in them")
    options = parser.parse_args()
    known = [recorded(options.record, pin) for pin in read_pins(options.requirements)]
    held = (pin if pin.hashes else use_first(pin, options.record) for pin in known)
    pins = [pin for pin in held if pin.hashes]  # those that hold here
    if options.action == "download":
        call(("download", *ONLY, "--dest", str(options.into)), pins, options.record)
        return
    first = [pin for pin in pins if pin.name == "pip"]
    if first:
        call(("install", *ONLY), first, options.record)
    report = ("--report", str(options.report)) if options.report else ()
    target = ("--target", str(options.into), "--upgrade") if options.into else ()
    call(("install", *ONLY, *target, *report), [pin for pin in pins if pin not in first], options.record)


def use_first(pin: Pin, record: Path, *places: str) -> Pin:
    """Fetch what nobody published a hash of, and write down which file that was; not where it is for another Python."""
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        code, _lines = run((*pip(), "download", *ONLY, *places, "--dest", folder, pin.text), unbound())
        files = sorted(Path(folder).iterdir())
        if code:
            fail(f"no wheel of {pin.key} on the index that pip uses", PLACES)
        return write_record(record, pin, [(hash_file(path), path.name) for path in files]) if files else pin


def call(words: tuple[str, ...], pins: list[Pin], record: Path) -> None:
    """Let pip do something with these pins and nothing else; end with the reason where it does not."""
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        listed = write_pins(Path(folder) / "requirements.txt", pins)
        code, lines = run((*pip(), *words, "--require-hashes", "-r", str(listed)), unbound())
    if code:
        refuse_other(lines, pins, record)
        fail(f"pip could not {words[0]} the {len(pins)} pinned wheels; the lines above say why", PLACES)


def unbound() -> dict[str, str]:
    """Give the environment without constraints: all is pinned, and what stood here before must not stand against it."""
    return {**os.environ, "PIP_CONSTRAINT": os.devnull}


if __name__ == "__main__":
    main()
