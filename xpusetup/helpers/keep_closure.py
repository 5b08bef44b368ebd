"""Leaves in an environment what was named and all that it requires, and takes out the rest: what only builds needed.

What an image is made of in the end. The environment stays the one that was built, file by file.
"""

import argparse
from collections.abc import Iterable, Mapping

from helperlib.env.distributions import Found, canonical, installed
from helperlib.env.installers import uninstall
from helperlib.output import fail


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", metavar="DISTRIBUTION")
    parser.add_argument("--if-there", action="append", default=[], metavar="DISTRIBUTION")
    options = parser.parse_args()
    there = installed()
    if missing := [name for name in options.names if canonical(name) not in there]:
        fail(f"{', '.join(missing)} is not in this environment", "build it first")
    kept = closure([*options.names, *options.if_there], there)
    gone = [found.name for name, found in sorted(there.items()) if name not in kept]
    if gone:
        uninstall(gone)
    print(f"{len(kept)} distributions stay, {len(gone)} went: {' '.join(gone)}")


def closure(names: Iterable[str], there: Mapping[str, Found]) -> set[str]:
    """Give what is named and what that requires, as far as it is there: markers and extras decided what is."""
    found: set[str] = set()
    wanted = [canonical(name) for name in names]
    while wanted:
        name = wanted.pop()
        if name in there and name not in found:
            found.add(name)
            wanted += [canonical(each) for each in required(there[name])]
    return found


def required(found: Found) -> list[str]:
    """Give the names that a distribution requires, but for those of its extras."""
    from pip._vendor.packaging.requirements import Requirement  # noqa: PLC0415 - there wherever this runs

    needs = [Requirement(text) for text in found.requires]
    return [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]


if __name__ == "__main__":
    main()
