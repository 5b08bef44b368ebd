"""Builds XPU for an installed torch, as a wheel of its own: from the sources of its release, by a SYCL tool chain.

The torch stays as it is. Its headers and libraries are compiled and linked against; what XPU needs beside them comes
from the source trees. What was compiled is kept: a changed source compiles alone, and what was cut off goes on.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from pathlib import Path
from typing import Any

from helperlib.addon.change import Copy, compare, refuse, run_ninja
from helperlib.addon.generate import generate
from helperlib.addon.graph import Libraries, Work, link, write_graph
from helperlib.addon.installed import AddonError, ask_torch, check_torch
from helperlib.addon.operators import NOT_ON, SETS, Choice, choose, read_sources
from helperlib.addon.pack import NAME, pack, replace_installed
from helperlib.addon.source import read_trees
from helperlib.output import NOT_READY, count, fail, render_size, say_summary, write_json
from helperlib.sycl.home import HomeError, read_home

OWN = Path(__file__).parent / "helperlib/addon/files"


def main() -> None:
    """Check, generate, compile, link and pack; say what each took."""
    options = read_options()
    if options.tools:
        os.environ["PATH"] = f"{options.tools / 'bin'}{os.pathsep}{os.environ['PATH']}"
        os.environ["PYTHONPATH"] = str(options.tools)
    try:
        build(options)
    except (AddonError, HomeError) as error:
        fix = error.fix if isinstance(error, AddonError) else "make the tool chain anew:\n    xpusetup toolkit DIR"
        fail(str(error), fix, NOT_READY)


def read_options() -> argparse.Namespace:
    """Read the words of the call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch-source", type=Path, required=True, help="PyTorch's tree at the release's tag")
    parser.add_argument("--ops", type=Path, required=True, help="the tree of torch-xpu-ops at its pin")
    parser.add_argument("--python", type=Path, required=True, help="the interpreter whose torch gets XPU")
    parser.add_argument("--toolkit", type=Path, required=True, help="the folder of the tool chain")
    parser.add_argument("--tools", type=Path, help="a folder with ninja and PyYAML, else those that are there")
    parser.add_argument("--work", type=Path, required=True, help="where what is compiled stays")
    parser.add_argument("--outdir", type=Path, required=True, help="where the wheel goes")
    parser.add_argument("--device", choices=("gpu", "processor"), default="gpu")
    parser.add_argument("--sources", metavar="LIST", help="sources with kernels, or sets of them, with commas; or all")
    parser.add_argument(
        "--try", dest="tried", action="store_true", help="no wheel: replace what is installed, and no more"
    )
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("MAX_JOBS") or os.cpu_count() or 1))
    parser.add_argument("--out", type=Path, help="where to write what was done")
    return parser.parse_args()


def build(options: argparse.Namespace) -> None:
    """Do all of it. Raises AddonError or HomeError where something is not as it has to be."""
    trees = read_trees(options.torch_source.resolve(), options.ops.resolve())
    torch = ask_torch(options.python.absolute())
    check_torch(torch, trees.release)
    folder = options.work.absolute()
    home = read_home(options.toolkit.absolute())
    names = read_sources(options.sources or (options.device if options.device in SETS else "all"), trees.ops)
    choice = choose(trees.torch, trees.ops, names, () if names else NOT_ON.get(options.device, ()))
    copy = compare(trees.ops, folder / "ops")
    if options.tried:
        refuse(copy, trees, torch, choice)
    copy.sync()
    work = Work(folder, trees._replace(ops=copy.folder), torch, home, options.device, OWN)
    choice = choice._replace(kernels=copy.places(choice.kernels), hosts=copy.places(choice.hosts))
    clock = Clock()
    made = generate(folder, work.trees, torch, options.python.absolute(), choice, options.device)
    clock.lap("generate")
    objects = write_graph(work, made, choice)
    compiled = compile_all(copy, options.jobs)
    clock.lap("compile")
    libraries = link(work, objects)
    clock.lap("link")
    about = describe(work, choice, libraries.missing)
    about["tried"] = str(trees.ops) if options.tried else ""
    done, told = put(work, libraries, about, options)
    clock.lap("replace" if options.tried else "pack")
    if options.out:
        seen = {"changed": copy.changed, "compiled": compiled, "seconds": clock.seconds}
        write_json(options.out, {**about, **done, **seen})
    without = f", {len(choice.left_out)} without" if choice.left_out else ""
    kept = f"{len(choice.operators)} operators with kernels{without}"
    say_summary(*told, kept, count(len(libraries.missing), "missing kernel"))


def put(
    work: Work, libraries: Libraries, about: dict[str, Any], options: argparse.Namespace
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Pack a wheel, or replace what is installed; give what was done, as it is written and as it is said."""
    if options.tried:
        changed = replace_installed(work, libraries, about)
        return {"replaced": changed}, (f"replaced in {work.torch.folder.parent}: {', '.join(changed) or 'nothing'}",)
    wheel = pack(work, libraries, about, options.outdir.absolute())
    return {"wheel": str(wheel)}, (wheel.name, render_size(wheel.stat().st_size))


class Clock:
    """Seconds of each part, in their order."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = time.monotonic()

    def lap(self, name: str) -> None:
        """End a part."""
        now = time.monotonic()
        self.seconds[name] = round(now - self._began, 1)
        self._began = now
        print(f"{name}: {self.seconds[name]} s", flush=True)


def compile_all(copy: Copy, jobs: int) -> list[str]:
    """Let ninja compile what has changed, and give that; end as it ends where a compile fails."""
    ninja = shutil.which("ninja") or fail(
        "ninja is not on PATH", "pip install ninja, or your distribution's", NOT_READY
    )
    code, compiled = run_ninja((ninja, "-C", str(copy.folder.parent), f"-j{jobs}"), copy)
    if code:
        raise SystemExit(code)
    return compiled


def describe(work: Work, choice: Choice, missing: list[str]) -> dict[str, Any]:
    """Give what the wheel says of itself: what the loader checks, and what is in it and what is not."""
    return {
        "name": NAME,
        "device": work.device,
        "torch": work.torch.version,
        "torch_git": work.torch.git,
        "torch_xpu_ops": work.trees.pin,
        "sycl": work.home.version,
        "xpu": work.home.interface.number,
        "sources": sorted(path.stem for path in choice.kernels) if choice.left_out else [],
        "operators": choice.operators,
        "operators_left_out": choice.left_out,
        "missing": missing,
    }


if __name__ == "__main__":
    main()
