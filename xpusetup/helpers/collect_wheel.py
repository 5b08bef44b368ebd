"""Moves the one wheel that a build made into the folder of wheels, in place of older ones of its distribution.

On the way it gets a bill of materials, and a statement of what it was built from beside it.
"""

import argparse
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helperlib.env.distributions import distribution_of, find_wheel, wheels_of
from helperlib.git.process import make_git
from helperlib.output import count, fail, render_size, say_summary, whole
from helperlib.wheel.sbom import put_in, render_sbom
from helperlib.wheel.sources import WheelSource, find_archives, find_sources
from helperlib.wheel.statement import ENDING, SIGNED, BuiltWheel, render_statement

ABOUT = "helpers/about.json"
"""What is known of the profile; no key sees it."""


def main() -> None:
    """Check name and version, copy whole through a temporary name, say what it was made of, remove what it replaces."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="source", type=Path, required=True)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--component", required=True, help="whose step NAME.build this is")
    parser.add_argument("--tree", type=Path, required=True, help="its source")
    parser.add_argument("--own", action="store_true", help="the tree is the builder's own")
    parser.add_argument(
        "--archive", type=Path, action="append", default=[], help="an unpacked one that it was built of"
    )
    parser.add_argument("--tool", action="append", default=[], help="a compiler")
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    about = json.loads((root / ABOUT).read_text(encoding="utf-8"))
    refuse_other(options)
    wheel = find_wheel(options.source, options.distribution, options.version)
    sources = list_sources(root, options, about)
    name, version = distribution_of(wheel)
    bill = render_sbom(name, version, sources)
    place(wheel, options.into, options.distribution, lambda draft: put_in(draft, bill))
    collected, step = options.into / wheel.name, f"{options.component}.build"
    built = BuiltWheel(collected, root, step, about, options.tool, sources, hashlib.sha256(bill).hexdigest())
    with whole(Path(f"{collected}{ENDING}")) as draft:
        draft.write_bytes(render_statement(built))
    print(f"{wheel.name} is in {options.into}, with a statement of what it was built from")
    say_summary(version, render_size(collected.stat().st_size), f"from {count(len(sources), 'source')}")


def refuse_other(options: argparse.Namespace) -> None:
    """End where the tree is of something else: it made wheels, and none of the distribution that was to come."""
    made = sorted(path.name for path in options.source.glob("*.whl"))
    if made and not wheels_of(options.source, options.distribution):
        own = f"name the tree of {options.distribution}: --source {options.component}=DIR"
        fix = own if options.own else "correct the distribution of this component in the profile: the name of its wheel"
        fail(f"{options.tree} makes {', '.join(made)}, and no wheel of {options.distribution}", fix)


def list_sources(root: Path, options: argparse.Namespace, about: dict[str, Any]) -> list[WheelSource]:
    """Give what the wheel was made of."""
    told = about.get("sources", {}).get(options.component, {})
    archived = root / f"results/{options.component}.source.json"
    of_tree = {**told, "repo": "", "tag": ""} if options.own else told
    trees = find_sources(make_git(), options.tree, options.component, of_tree, archived)
    return [*trees, *find_archives(options.archive, told)]


def place(
    wheel: Path, into: Path, distribution: str, change: Callable[[Path], None] | None = None, *, link: bool = False
) -> None:
    """Put a wheel into a folder, changed before anyone sees it, and take the older ones of its distribution out.

    `link`: as another name of the same file, where the file system can.
    """
    with whole(into / wheel.name) as draft:
        try:
            os.link(wheel, draft) if link else shutil.copyfile(wheel, draft)
        except OSError:
            shutil.copyfile(wheel, draft)
        if change:
            change(draft)
        for ending in (ENDING, SIGNED):  # what was said of the wheel that it replaces
            Path(f"{into / wheel.name}{ending}").unlink(missing_ok=True)
    for old in wheels_of(into, distribution):
        if old.name != wheel.name:
            for ending in ("", ENDING, SIGNED):
                Path(f"{old}{ending}").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
