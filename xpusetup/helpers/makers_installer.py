"""Lets the program of a device's maker fill the environment of the interpreter that runs this, and looks what came.

The program is taken from PATH, so that a site can hand it out, else fetched. It has to be of the wanted release:
driver, packages and torch belong together. No maker publishes the hash of such a program: it is written down when it is
run first, and no other one is run after that.
"""

import argparse
import importlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from helperlib.env.distributions import find_version
from helperlib.env.pins import Download, hash_file, write_sums
from helperlib.output import fail, whole, write_json

RELEASE = re.compile(r"(?<![\d.])\d+\.\d+(?:\.\d+)*")
TIMEOUT_S = 60
"""Seconds for the program to say its release."""


def main() -> None:
    """Find the program, hold its release against the wanted one, run it, and look what is there now."""
    options = parse_options()
    there = shutil.which(options.program)
    path = Path(there) if there else options.into / options.release / options.program
    if not path.exists():
        fetch(options.url, path)
    record = options.record / "programs" / f"{path.name} {options.release}"
    digest = hash_file(path)
    if record.exists() and record.read_text(encoding="utf-8").split()[:1] != [digest]:
        fail(
            f"{path} is not the program that was run at first: its hash differs. It was not run",
            f"if you trust the new one: rm '{record}'",
        )
    told = ask_release(path, options.ask) if options.ask else ""
    if told and told != options.release:
        fail(
            f"{path} is of release {told}, and {options.release} is wanted",
            f"take it off PATH, or put that of {options.release} there: {options.url}",
        )
    print(f"{path}: release {told or 'not told'}", flush=True)
    if not record.exists():
        print(f"{record.name}: unverified origin: nobody published its hash; that of {path} is kept", flush=True)
        write_sums(record, [(digest, path.name)])
    run_program((str(path), *options.arguments), {options.prefix_variable: options.prefix})
    brought = look(dict(pair.split("=", 1) for pair in options.brings))
    write_json(options.out, {"program": str(path), "sha256": digest, "release": told, "brought": brought})
    print("brought " + ", ".join(f"{name} {found}" for name, found in brought.items()))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--into", type=Path, required=True, help="where a fetched program lies, by release")
    parser.add_argument("--record", type=Path, required=True, help="where the hashes of first use lie")
    parser.add_argument("--release", required=True)
    parser.add_argument("--ask", action="append", default=[], help="what makes it say its release")
    parser.add_argument("--prefix-variable", required=True, help="the variable that tells it the environment")
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--brings", action="append", required=True, metavar="NAME=VERSION", help="beginning of it")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("arguments", nargs="+")
    return parser.parse_args()


def fetch(url: str, path: Path) -> None:
    try:
        with whole(path) as draft:
            Download(url, draft).bring()
            draft.chmod(0o755)
    except OSError as error:
        fail(f"{url} cannot be fetched: {error}", f"fetch it elsewhere, and put {path.name} on PATH")


def ask_release(path: Path, words: list[str]) -> str:
    """Ask the program for its release; empty where it does not tell."""
    try:
        command, nothing = (str(path), *words), subprocess.DEVNULL
        said = subprocess.run(command, stdin=nothing, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except OSError as error:
        fail(f"{path} cannot be run: {error}", "fetch it again, and make it executable")
    except subprocess.TimeoutExpired:
        return ""
    found = RELEASE.search(said.stdout)
    return found[0] if found and said.returncode == 0 else ""


def run_program(command: tuple[str, ...], variables: dict[str, str]) -> None:
    """Run it to its end. It may not ask: a password that nobody types would be waited for."""
    try:
        done = subprocess.run(command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        fail(f"{command[0]} cannot be run: {error}", "fetch it again, and make it executable")
    if done.returncode:
        fail(
            f"{' '.join(command)} ended with {done.returncode}",
            "read the lines above; what needs root is for the administrator: xpusetup setup --profile PROFILE",
        )


def look(wanted: dict[str, str]) -> dict[str, str]:
    """Give the versions that are there now; end where one is missing or of another release."""
    importlib.invalidate_caches()
    there = {name: find_version(name) or "" for name in wanted}
    if missing := [name for name, found in there.items() if not found]:
        fail(
            f"the installer ended well and did not bring {', '.join(missing)} into this environment",
            "read the lines above: it may have filled another environment",
        )
    wrong = [f"{name} {there[name]} (not {start})" for name, start in wanted.items() if not begins(there[name], start)]
    if wrong:
        fail(f"the installer brought {', '.join(wrong)}", "take the profile of the release that it is of")
    return there


def begins(found: str, start: str) -> bool:
    """Say whether a version begins so: 1.22.0.740 begins with 1.22.0, and 1.2 does not begin 1.22."""
    return re.match(rf"{re.escape(start)}(?![0-9])", found) is not None


if __name__ == "__main__":
    main()
