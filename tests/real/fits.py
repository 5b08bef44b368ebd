"""Whether `wheel fits` tells the truth: real wheels against real torches, each pair also imported in a child process.

`python -m real.fits FOLDER` (in tests/) makes an environment for each torch of tests/data/fits.toml, gets each wheel
by name and hash, unpacks it beside that torch, imports it there with RTLD_NOW, and holds what `xpusetup fits` says of
the wheel against that. It goes on where it stopped; `--write` takes the pairs into tests/data/fits.jsonl and
docs/fits.md. A torch with its CUDA libraries takes 7 GB, which go away with `--tidy`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from helper_modules import closure_files
from real.published_wheels import CHECKOUT, UnavailableError, fetch
from xpusetup.base.values import parse_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

TABLE = CHECKOUT / "tests/data/fits.toml"
PAIRS = CHECKOUT / "tests/data/fits.jsonl"
PAGE = CHECKOUT / "docs/fits.md"
CHILD = CHECKOUT / "tests/real/fit_import.py"
TIMEOUT_S = 300
MARK = "<!-- pairs -->"
"""What stands before and after the numbers in the page."""

Truth = Literal["fits", "python_alone", "does_not_fit", "undecided"]
"""`python_alone`: an import works, and no library of the package can be loaded."""
Said = Literal["fits", "python_alone", "does_not_fit", "unknown"]


class Taken(BaseModel):
    """A wheel of the table, and what is imported of it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    version: str
    file: str
    sha256: str
    module: str


class Pair(BaseModel):
    """A wheel and a torch: what an import said, and what `wheel fits` says."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    torch: str
    wheel: str
    truth: Truth
    how: str
    answer: Said
    reason: str

    @property
    def agrees(self) -> bool:
        """Say whether the answer is the truth. Where no library can be loaded, "does not fit" is true as well."""
        return self.answer == self.truth or (self.truth, self.answer) == ("python_alone", "does_not_fit")


def read_table() -> tuple[list[str], list[str], list[Taken]]:
    """Read the torches, what is installed beside each, and the wheels."""
    table = parse_toml(TABLE.read_text())
    return table["torches"], table["beside"], [Taken(**row) for row in table["wheel"]]


def read_pairs() -> list[Pair]:
    """Read the pairs that were taken."""
    return [Pair(**json.loads(line)) for line in PAIRS.read_text().splitlines()]


# The truth: an import in a child process.


def make_environment(folder: Path, torch: str) -> Path:
    """Give the environment of a torch, made where it is not there."""
    place = folder / "env" / torch
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run((sys.executable, "-m", "venv", str(place)), check=True)
        options = ("--quiet", "--no-cache-dir", "--no-compile")
        subprocess.run((str(place / "bin/pip"), "install", *options, f"torch=={torch}", "numpy"), check=True)
        (place / "done").touch()
    return place


def make_beside(folder: Path, names: Sequence[str]) -> Path:
    """Give a folder with what the wheels import besides torch, installed without what that requires."""
    place = folder / "deps"
    if not place.is_dir():
        words = ("install", "--quiet", "--no-cache-dir", "--no-deps", "--target", str(place), *names)
        subprocess.run((sys.executable, "-m", "pip", *words), check=True)
    return place


def import_it(place: Path, wheel: Path, module: str, beside: Path) -> dict[str, Any]:
    """Import a module of a wheel in a child of that environment."""
    with tempfile.TemporaryDirectory(dir=place.parent.parent) as tree:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tree)
        for kind in ("platlib", "purelib"):
            for data in Path(tree).glob(f"*.data/{kind}"):
                shutil.copytree(data, tree, dirs_exist_ok=True)
        line = (str(place / "bin/python"), "-B", str(CHILD), tree, module)
        try:
            done = subprocess.run(
                line,
                check=False,
                capture_output=True,
                text=True,
                cwd=tree,
                timeout=TIMEOUT_S,
                env={**os.environ, "PYTHONPATH": str(beside)},
            )
        except subprocess.TimeoutExpired:
            return {"died": f"it took more than {TIMEOUT_S} s"}
    last = next(reversed(done.stdout.replace(f"{tree}/", "").splitlines()), "")
    return json.loads(last) if last.startswith("{") else {"died": f"ended with {done.returncode}"}


def judge_import(told: dict[str, Any]) -> tuple[Truth, str]:
    """Say what an import proves. It fits where the import goes well and libraries that the package opened are loaded.

    Where it goes well and none is loaded, the package works in Python alone.

    Where the import fails for want of another package, or opens no library, each library was opened by itself: it
    fits where all can be, does not where none can, and else that decides nothing.
    """
    if "torch" in told:
        return "undecided", f"torch itself: {told['torch']}"
    if "died" in told:
        return "does_not_fit", f"the process {told['died']}"
    lacks = told["kind"] == "ModuleNotFoundError"
    if told["error"] and not lacks:
        return "does_not_fit", f"{told['kind']}: {_line(told['error'])}"
    if told["tried"]:
        there = set(told["tried"]) & set(told["loaded"])
        return ("fits", "import") if there else (_without(lacks=lacks), "none is loaded")
    if told["opened"]:
        return _judge_opened(list(told["opened"].values()), lacks=lacks)
    return ("undecided", _line(told["error"])) if lacks else ("fits", "import")


def _without(*, lacks: bool) -> Truth:
    """Say what it proves that no library can be loaded; nothing of its Python where the import `lacks` a package."""
    return "does_not_fit" if lacks else "python_alone"


def _judge_opened(errors: list[str], *, lacks: bool) -> tuple[Truth, str]:
    if all(errors):
        return _without(lacks=lacks), "no library opened"
    return ("undecided", "some libraries opened") if any(errors) else ("fits", "each library opened")


def _line(text: str) -> str:
    return " ".join(text.split())[:160]


# What `wheel fits` says, and the two beside each other.


def ask(place: Path, wheels: Sequence[Path]) -> list[dict[str, Any]]:
    """Give what `wheel fits` says of wheels in an environment."""
    words = ("wheel", "fits", *map(str, wheels), "--into", str(place), "--json")
    line = (sys.executable, "-m", "xpusetup", *words)
    done = subprocess.run(line, check=False, capture_output=True, text=True, cwd=CHECKOUT)
    found = json.loads(done.stdout)["result"]["wheels"]
    answers = {one["answer"] for one in found}
    assert done.returncode == (1 if "does_not_fit" in answers else 3 if "unknown" in answers else 0)
    return [{"answer": _said(one), "reason": _line(one["reason"])} for one in found]


def _said(one: dict[str, Any]) -> Said:
    """Give the answer, which tells a package that goes on without its compiled part apart."""
    alone = one["answer"] == "fits" and one["compiled"] == "does_not_load"
    said: Said = "python_alone" if alone else one["answer"]
    return said


def own_hash() -> str:
    """Hash the program's own files that `wheel fits` runs."""
    texts = [path.read_bytes() for path in closure_files("inspect_fit")]
    texts += [
        (CHECKOUT / "xpusetup" / name).read_bytes()
        for name in ("commands/wheel_fits.py", "machine/fit.py", "machine/fit_read.py")
    ]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:12]


def kept(path: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Give what was found before, else find it and keep it."""
    if not path.is_file() or not path.stat().st_size:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(make()))
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def fetch_all(folder: Path, wheels: Iterable[Taken]) -> list[tuple[Taken, Path]]:
    """Get the wheels, and say which cannot be had."""
    there = [(wheel, _try_fetch(folder, wheel)) for wheel in wheels]
    return [(wheel, path) for wheel, path in there if path is not None]


def _try_fetch(folder: Path, wheel: Taken) -> Path | None:
    try:
        return fetch(wheel, folder / "wheels", os.environ)
    except UnavailableError as error:
        sys.stderr.write(f"{error}\n")
        return None


def take_pairs(folder: Path, torch: str, beside: Path, there: Sequence[tuple[Taken, Path]]) -> Iterator[Pair]:
    """Give the pairs of a torch."""
    place = make_environment(folder, torch)
    said = folder / f"said-{own_hash()}/{torch}.json"
    answers = kept(said, lambda: {"wheels": ask(place, [path for _, path in there])})["wheels"]
    for (wheel, path), answer in zip(there, answers, strict=True):
        where = folder / f"truth/{torch}/{wheel.file}.json"
        told = kept(where, lambda path=path, wheel=wheel: import_it(place, path, wheel.module, beside))  # type: ignore[misc]
        truth, how = judge_import(told)
        yield Pair(torch=torch, wheel=wheel.file, truth=truth, how=how, **answer)


# The numbers in the page.


def render_numbers(pairs: Sequence[Pair]) -> str:
    """Give the part of the page that says how many pairs were taken, and where the two differ."""
    decided = [one for one in pairs if one.truth != "undecided"]
    answers = Counter(one.answer for one in decided)
    wrong = [one for one in decided if not one.agrees]
    false = sum(one.answer in ("fits", "python_alone") for one in wrong)
    share = 100 * (len(decided) - len(wrong)) / len(decided)
    torches = sorted({one.torch for one in pairs})
    told = (
        f"{len(pairs)} pairs of {len({one.wheel for one in pairs})} wheels and {len(torches)} torches"
        f" ({', '.join(torches)}) were taken on Linux, x86_64, Python 3.11. In {len(pairs) - len(decided)} of them"
        f" an import decides nothing. Of the other {len(decided)} the answer was the truth in"
        f" {len(decided) - len(wrong)} ({share:.1f} %): {answers['fits'] + answers['python_alone']} *fits*, of which"
        f" {false} false and {answers['python_alone']} in Python alone,"
        f" {answers['does_not_fit']} *does not fit*, {answers['unknown']} *unknown*."
    )
    lines = [*textwrap.wrap(told, 120), ""]
    if wrong:
        lines += ["| torch | wheel | an import says | `wheel fits` says |", "|---|---|---|---|"]
        lines += [f"| {one.torch} | {_short(one.wheel)} | {one.how} | {one.answer}: {one.reason} |" for one in wrong]
    return "\n".join(lines).strip() + "\n"


def _short(wheel: str) -> str:
    return "-".join(wheel.split("-")[:2])


def place_numbers(page: str, numbers: str) -> str:
    """Give the page with these numbers between its marks."""
    before, _, rest = page.partition(MARK)
    return f"{before}{MARK}\n\n{numbers}\n{MARK}{rest.partition(MARK)[2]}"


def main() -> None:
    """Take all pairs, say where the two differ, and end with 1 where they do, or a pair is not as it was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--torch", action="append", help="this one alone")
    parser.add_argument("--write", action="store_true", help="take the pairs into the data and the page")
    parser.add_argument("--tidy", action="store_true", help="remove each environment when it is done")
    options = parser.parse_args()
    if platform.python_version_tuple()[:2] != ("3", "11"):
        sys.exit("the table holds wheels for Python 3.11: run this with it")
    folder = options.folder.absolute()
    torches, beside, wheels = read_table()
    (folder / "wheels").mkdir(parents=True, exist_ok=True)
    place, there, pairs = make_beside(folder, beside), fetch_all(folder, wheels), []
    for torch in options.torch or torches:
        for pair in take_pairs(folder, torch, place, there):
            pairs.append(pair)
            mark = "·" if pair.truth == "undecided" else "✓" if pair.agrees else "✗"
            sys.stdout.write(f"{mark} {torch} {pair.wheel}: {pair.answer}, {pair.truth} ({pair.how})\n")
            sys.stdout.flush()
        if options.tidy:
            shutil.rmtree(folder / "env" / torch)
    if options.write:
        PAIRS.write_text("".join(json.dumps(pair.model_dump()) + "\n" for pair in pairs))
        PAGE.write_text(place_numbers(PAGE.read_text(), render_numbers(pairs)))
    sys.stdout.write(render_numbers(pairs))
    told = {(pair.torch, pair.wheel): pair for pair in read_pairs()}
    changed = [pair for pair in pairs if told.get((pair.torch, pair.wheel)) != pair]
    sys.stdout.write(f"{len(changed)} of {len(pairs)} pairs are not as the table says\n")
    sys.exit(1 if changed else 0)


if __name__ == "__main__":
    main()
