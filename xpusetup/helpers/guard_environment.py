"""Guards an environment: writes down what must stay, and makes pip keep to it there.

The constraint file keeps `pip install` of something else from replacing torch; the record tells `status` later what was
replaced all the same.
"""

import argparse
from collections.abc import Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path

from helperlib.env.distributions import Found, canonical, installed, names_of, packages
from helperlib.env.installers import write_constraint
from helperlib.env.pins import hash_file
from helperlib.output import fail, write_json, write_text

HEAD = """\
# What xpusetup installed here. pip keeps to it because pip.conf of this environment names it; uv where UV_CONSTRAINT
# does.
# To be rid of it, take this file's name out of pip.conf.
"""


def main() -> None:
    """Write constraints, pip's setting and the record: what was installed, and what must not come beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pin", action="append", required=True, help="a distribution that must be there and stay")
    parser.add_argument("--keep", action="append", default=[], help="one that must stay if it is there")
    parser.add_argument("--conflict", nargs="+", action="append", default=[], metavar=("OF", "WHY"))
    parser.add_argument("--constraints", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    there = installed()
    if absent := [name for name in options.pin if canonical(name) not in there]:
        fail(f"not in this environment: {', '.join(absent)}", "install it again: the same command goes on there")
    asked = {*map(canonical, (*options.pin, *options.keep))}
    names = sorted(name for name in {*asked, *pinned_by(there, map(canonical, options.pin))} if name in there)
    pins = "".join(f"{there[name].name}=={there[name].version}\n" for name in names)
    write_text(options.constraints, HEAD + pins)
    try:
        settings = write_constraint(str(options.constraints))
    except ValueError as error:
        fail(str(error), "correct that file, or remove it")
    conflicts = [
        {"name": canonical(name), "of": canonical(of), "why": why}
        for of, why, *unwanted in options.conflict
        for name in unwanted
    ]
    record = {"schema": 1, "packages": str(packages()), "settings": str(settings)}
    write_json(options.out, {**record, "distributions": list(map(look, names)), "conflicts": conflicts})
    print(f"pip keeps {len(names)} distributions in this environment: {settings} names {options.constraints}")


def pinned_by(there: Mapping[str, Found], names: Iterable[str]) -> set[str]:
    """Give what distributions pin to one version, and what that pins in turn: the run time, all of one day."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        one = there.get(waiting.pop())
        new = names_of(one.requires, pinned=True) - found if one else set()
        found |= new
        waiting += new
    return found


def look(name: str) -> dict[str, object]:
    found = distribution(name)
    path = Path(str(getattr(found, "_path", ""))) / "RECORD"
    seen = path.stat() if path.exists() else None
    return {
        "name": name,
        "version": found.version,
        "record": str(path) if seen else "",
        "sha256": hash_file(path) if seen else "",
        "size": seen.st_size if seen else 0,
        "changed": seen.st_mtime_ns if seen else 0,
        "editable": installed()[canonical(name)].source,
        "scripts": scripts(path) if seen else {},
    }


def scripts(record: Path) -> dict[str, str]:
    """Hash the console scripts that a list of files names: they compute their place by now, its hashes are older."""
    listed = (line.partition(",")[0] for line in record.read_text(encoding="utf-8").splitlines())
    found = {name: record.parent.parent / name for name in listed if name.startswith("../") and "/bin/" in name}
    return {name: hash_file(path) for name, path in found.items() if path.is_file()}


if __name__ == "__main__":
    main()
