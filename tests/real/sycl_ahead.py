"""Device links of single sources of torch-xpu-ops: machine code by a true ocloc, and what that takes.

    cd tests && python -m real.sycl_ahead WORK --release 2.6 --gpu bmg --gpu pvc [--source NAME]

For what `make e2e-sycl-sources` compiled in the same folder: the ten heaviest sources unless others are named. The
command is the one that the unchanged FindSYCL.cmake makes of all objects, with one of them and one GPU. For which GPU
there is machine code is read by the reader of `wheel check`. ocloc is that of PATH.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from real.outside import UnavailableError, run
from real.sycl_sources import Work, heaviest, link, make_figures, read_release, source_of
from real.torch_attempts import say

elf: Any = importlib.import_module("helperlib.elf.file")
wheel_images: Any = importlib.import_module("helperlib.wheel.images")
DEVICE_OBJECT = "CMakeFiles/kernels.dir/kernels_sycl_device_obj.o"
LEFT_OUT = re.compile(r"note: no machine code for ([\w.-]+): (.*) \(ocloc ended")


def link_sources(work: Work, gpu: str, objects: dict[str, Path]) -> dict[str, dict[str, Any]]:
    """Link each for the GPU, past every failure, and say what its device object holds."""
    whole = run(("ninja", "-C", str(work.own / "build"), "-t", "commands", DEVICE_OBJECT), env=work.environment())
    folder = work.own / f"linked-{gpu}"
    folder.mkdir(exist_ok=True)
    with (folder / "log").open("wb") as log:
        for name, compiled in objects.items():
            line = command_for(whole.splitlines()[-1], compiled, gpu, folder / f"{name}.o")
            subprocess.run(line, shell=True, env=work.environment(), stdout=log, stderr=log, check=False)  # noqa: S602 - ninja's words
    return {name: look_into(folder / f"{name}.o") for name in objects if (folder / f"{name}.o").is_file()}


def command_for(line: str, compiled: Path, gpu: str, out: Path) -> str:
    """Give the command of a device link for one object and one GPU. Blanks of an option may be escaped."""
    line = re.sub(r"(?<= -fsycl-link )(\S+\.cpp\.o )+", f"{compiled} ", line)
    line = re.sub(r"(-device\\? )[\w.,-]+", rf"\g<1>{gpu}", line)
    return re.sub(r" -o \S+$", f" -o {out}", line)


def look_into(path: Path) -> dict[str, Any]:
    """Give what machine code a device object has: its GPUs, the kernels by their sections of code, how large it is.

    Raises ValueError where a kernel of the list has no code.
    """
    targets = wheel_images.read_targets(elf.Elf(path.read_bytes()))
    images = [image for record in link.read_images(path) for image in record.images]
    kernels = sum(count_compiled(path, image) for image in images)
    size = sum(len(image.data) for image in images)
    return {
        "gpus": wheel_images.names_of(targets.versions),
        "images": targets.images,
        "kernels": kernels,
        "bytes": size,
    }


def count_compiled(path: Path, image: Any) -> int:
    """Count the kernels that have a section `.text.NAME` in an image for one GPU, an ELF file of ocloc's."""
    sections = {each.name for each in elf.Elf(image.data).sections()}
    lacking = [name for name in image.kernels if f".text.{name}" not in sections]
    if lacking:
        raise ValueError(f"{path}: no code for {lacking}")
    return len(image.kernels)


def left_out(log: str) -> dict[str, int]:
    """Count the kernels that the links left out, for each GPU."""
    found: dict[str, int] = defaultdict(int)
    for gpu, kernels in LEFT_OUT.findall(log):
        found[gpu] += len(kernels.split(", "))
    return dict(found)


def read_ocloc(file: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Sum up what ocloc took for each source and list of GPUs: processor seconds, and the most memory of one call."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for line in file.read_text().splitlines():
        told = json.loads(line)
        kind, _, gpus = told["pass"].partition(" ")
        if kind == "ocloc" and told["source"]:
            empty = {"processor": 0.0, "memory": 0, "calls": 0}
            sums = found[source_of(Path(told["source"][0]))].setdefault(gpus, empty)
            sums["processor"] += told["processor"]
            sums["memory"] = max(sums["memory"], told["memory"])
            sums["calls"] += 1
    return found


def write_table(figures: dict[str, Any], linked: dict[str, Any], took: dict[str, Any]) -> str:
    """Give a table: ocloc's time as a multiple of that of the device pass, both of one processor."""
    gpus = list(linked)
    lines = [f"| source | kernels | device pass | {' | '.join(f'ocloc {gpu}' for gpu in gpus)} |"]
    lines.append("|---|---|---|" + "---|" * len(gpus))
    for name in next(iter(linked.values())):
        device = figures["made"][name].get("device", {}).get("processor", 0)
        cells = [_cell(linked[gpu].get(name), took.get(name, {}).get(gpu), device) for gpu in gpus]
        lines.append(f"| {name} | {figures['made'][name]['kernels']} | {device:.0f} s | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(made: dict[str, Any] | None, took: dict[str, float] | None, device: float) -> str:
    if not made or not took or not device:
        return "not made"
    times = took["processor"] / device
    return f"{took['processor']:.0f} s ({times:.1f}), {took['memory'] / 1e9:.1f} GB; {made['bytes'] / 1e6:.1f} MB"


def main() -> None:
    """Link what is asked for, then write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--release", default="2.6")
    parser.add_argument("--gpu", action="append", required=True)
    parser.add_argument("--source", action="append")
    asked = parser.parse_args()
    if not shutil.which("ocloc"):
        sys.exit("there is no ocloc: apt-get install intel-ocloc libigc2 (Debian sid)")
    work = Work(asked.work.expanduser().resolve(), read_release(asked.release))
    compiled = {source_of(path): path for path in (work.own / "build").rglob("*_gen*_*.cpp.o")}
    figures = make_figures(work, "", compiled.values(), len(compiled))
    names = asked.source or heaviest(figures)
    try:
        linked = {gpu: link_sources(work, gpu, {name: compiled[name] for name in names}) for gpu in asked.gpu}
    except UnavailableError as error:
        sys.exit(f"sycl_ahead: {error}")
    for gpu, made in linked.items():
        said = (work.own / f"linked-{gpu}/log").read_text(errors="replace")
        say(f"{gpu}: {len(made)} of {len(names)} linked, kernels left out: {left_out(said).get(gpu, 0)}")
    took = read_ocloc(work.measures)
    (work.own / "ahead.json").write_text(json.dumps({"linked": linked, "ocloc": took}, indent=2) + "\n")
    (work.own / "ahead.md").write_text(write_table(figures, linked, took))


if __name__ == "__main__":
    main()
