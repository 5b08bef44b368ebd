"""Brings what a build cloned by itself up to what was fetched since, before the build looks for it there.

CMake's own update of a clone (`git fetch --tags`) takes nothing from a repository without history that needs another
end of history, and no commit that has no name. Where git is led to comes with the step's environment (fetch_source).
"""

import argparse
from pathlib import Path

from helperlib.git.process import make_git, say
from helperlib.git.tree import plain

PLACES = (
    "*/src/*/.git",
    "_deps/*-src/.git",
    "cmake.*/lib/Target/SPIRV/*/.git",
    "cmake.*/third_party/intel/lib/Target/SPIRV/*/.git",
)
"""Where ExternalProject and FetchContent clone, below a build folder; the last two are Triton's own choice."""


def main() -> None:
    """Go through the clones of these addresses; one that cannot be brought up to date is left to the build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--clones", action="append", default=[])
    options = parser.parse_args()
    git, wanted = make_git(), {plain(address) for address in options.clones}
    for folder in sorted(path for place in PLACES for path in options.build.glob(place)):
        tree = ("-C", str(folder.parent))
        address = (git.ask(*tree, "config", "--get", "remote.origin.url") or "").strip()
        if plain(address) not in wanted:
            continue
        said = git.call(*tree, "fetch", "--update-shallow", "--force", "--tags", "origin", "HEAD")
        if said.code:
            say(f"note: {folder.parent} cannot be brought up to date: {said.last}")


if __name__ == "__main__":
    main()
