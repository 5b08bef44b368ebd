"""Lets ninja build one target in a folder that was configured, and says what came of it. No wheel is made."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from helperlib.output import fail, render_size, say_summary, write_json

PHONY = "  input: phony"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if not (options.build / "build.ninja").is_file():
        fail(f"{options.build} holds no build.ninja", "configure it: the same command without --target")
    jobs = os.environ.get("MAX_JOBS", "")
    sys.stdout.flush()
    code = subprocess.run(ninja(options.build, *(("-j", jobs) if jobs else ()), options.target), check=False).returncode
    if code:
        fail(f"ninja did not build {options.target}", f"all of its targets: ninja -C {options.build} -t targets all")
    queried = subprocess.run(
        ninja(options.build, "-t", "query", options.target), check=True, capture_output=True, text=True
    )
    files = [options.build / name for name in outputs(queried.stdout, options.target)]
    made = [path for path in files if path.is_file()]
    write_json(options.out, {"target": options.target, "files": [str(path) for path in made]}, indent=None)
    say_summary("no wheel", *(f"{path.name} {render_size(path.stat().st_size)}" for path in made))


def ninja(build: Path, *words: str) -> tuple[str, ...]:
    """Give a command of the environment's own ninja."""
    return ("ninja", "-C", str(build), *words)


def outputs(text: str, target: str) -> Iterator[str]:
    """Read from what ninja says of a target which files stand for it: its own, or those that its name stands for."""
    lines = text.splitlines()
    if PHONY not in lines:
        yield target
        return
    for line in lines[lines.index(PHONY) + 1 :]:
        if not line.startswith("    "):
            return
        if not line.strip().startswith("|"):  # what it only waits for
            yield line.strip()


if __name__ == "__main__":
    main()
