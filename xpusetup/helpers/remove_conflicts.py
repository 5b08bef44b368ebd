"""Takes out of an environment what cannot stand beside the wheels that are to be installed, and says what and why.

Two distributions that own one package folder have to be parted before the next is installed: whichever is removed
later takes the other's files along.
"""

import argparse
import sys

from helperlib.env.distributions import Found, canonical, installed, of_conda
from helperlib.env.installers import uninstall
from helperlib.output import NOT_READY, fail


def main() -> None:
    """Look first, then remove."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    options = parser.parse_args()
    gone = removals(installed(), options.remove)
    refuse_foreign([found for found, _why in gone])
    remove(gone)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Take reasons, each with the names of what must not be there because of it."""
    parser.add_argument("--remove", nargs="+", action="append", default=[], metavar=("WHY", "NAME"))


def removals(there: dict[str, Found], unwanted: list[list[str]]) -> list[tuple[Found, str]]:
    """Give what of the unwanted is there, each with the reason."""
    reasons = {canonical(name): why for why, *names in unwanted for name in names}
    return [(found, reasons[name]) for name, found in sorted(there.items()) if name in reasons]


def remove(gone: list[tuple[Found, str]]) -> None:
    """Uninstall, saying why."""
    for found, why in gone:
        print(f"{found.name} {found.version} goes: {why}", flush=True)
    if gone:
        uninstall([found.name for found, _why in gone])


def refuse_foreign(touched: list[Found]) -> None:
    """End where something that has to go was put there by conda, or by what left no list of its files."""
    for found in touched:
        if found.installer == "conda" or (not found.owned and of_conda(found.name)):
            names = " ".join(of_conda(found.name) or [found.name])
            fail(
                f"{found.name} {found.version} was installed by conda, which would go on counting it as there",
                f"conda remove --prefix {sys.prefix} {names}; then the same command again",
                NOT_READY,
            )
        if not found.owned:
            fail(
                f"{found.name} {found.version} has no list of its files (RECORD): pip and uv cannot uninstall it",
                f"remove it by what installed it ({found.installer or 'unknown'}), or choose a new environment",
                NOT_READY,
            )


if __name__ == "__main__":
    main()
