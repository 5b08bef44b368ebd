"""The row of one edited source of a tree that is installed editable, beside `ninja` alone."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, FailedError, seconds_of, take_turns

if TYPE_CHECKING:
    from benchmarks.place import Place

ROUNDS = 5
GOAL = 1.5
SOURCE = "src/simxpu/csrc/kernels.cpp"


def measure_editable(place: Place) -> Row:
    """Time `build` after a line was added to one source, and ninja where that tree's recipe calls it, in turns."""
    tree, root = place.root.parent / "edited", place.root.parent / "editable"
    shutil.copytree(place.tree, tree, ignore=shutil.ignore_patterns("build", "*.egg-info"))

    def edit() -> None:
        with (tree / SOURCE).open("a") as source:
            source.write("// edited\n")

    env = {**place.env, "XPUSETUP_BUILD_LAUNCHER": "none", "XPUSETUP_BUILD_PATH": "real"}  # as ninja alone sees it
    build = replace(place, root=root, env=env).build(before=edit)
    words = ("--only", place.component, "--verify", "off", "--source", f"{place.component}={tree}:editable")
    ours = replace(build, argv=(*build.argv, *words))
    seconds_of(ours)
    rules = sorted((root / "src").rglob("build.ninja"))
    if len(rules) != 1:
        raise FailedError(f"one build.ninja is looked for in {root}/src; there are {len(rules)}")
    ninja = Command((str(root / "venv/bin/ninja"), "-C", str(rules[0].parent)), env, before=edit)
    mine, other = take_turns(ROUNDS, (ours, ROUNDS), (ninja, ROUNDS))
    return make_row("editable", mine, other, goal=GOAL, unit="s")
