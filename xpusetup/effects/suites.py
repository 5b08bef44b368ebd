"""Suites of tests: their sources fetched, what is installed of them, and the runner of this package that runs them."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.effects.faults import cannot_write
from xpusetup.effects.lock import hold_file
from xpusetup.effects.process import follow_process, run_process
from xpusetup.errors import NotReadyError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xpusetup.effects.process import Output

FOLDER = "helpers/suites"
VERSION = """
import sys
from importlib.metadata import PackageNotFoundError, version
for name in sys.argv[1:]:
    try:
        print(version(name))
    except PackageNotFoundError:
        print()
"""
OWN_VERSION = re.compile(r"""^__version__ = ["'](?P<version>[^"']+)["']""", re.MULTILINE)
FETCH = 1800
"""Seconds that one call of git may take."""
FIXED = re.compile(r"refs/tags/.+|[0-9a-f]{40}")
"""What names the same tree for ever."""


def find_versions(python: Path, names: Sequence[str]) -> dict[str, str]:
    """Give the versions of distributions in an environment; empty for those that are not there."""
    said = run_process((str(python), "-c", VERSION, *names), seconds=60)
    return dict(zip(names, said.out.splitlines(), strict=False)) if said.code == 0 else {}


def read_own_version(source: Path, package: str) -> str:
    """Give the version that a tree says of itself; empty where it says none."""
    for path in (source / "src" / package / "__init__.py", source / package / "__init__.py"):
        if found := OWN_VERSION.search(files.read_text(path) or ""):
            return found["version"]
    return ""


def fetch_tree(repo: str, ref: str, folder: Path, env: Mapping[str, str]) -> Path:
    """Give a tree of a repository, fetched unless it is there. Raises NotReadyError.

    A tag or a commit stays as it is, in `folder`. What moves (HEAD, a branch) is asked for anew, and where it moved
    gets a folder beside it: whoever runs what was there before is not disturbed.
    """
    if not FIXED.fullmatch(ref):
        said = _git(("ls-remote", "--", repo, ref), repo, ref, env)
        folder = folder.with_name(f"{folder.name}-{hashlib.sha256(said.encode()).hexdigest()[:8]}")
    files.make_folder(folder.parent)
    with hold_file(folder.with_name(f".{folder.name}.lock")) as alone:
        if not folder.is_dir():
            for part in folder.parent.glob(f".{folder.name}.*.part") if alone else ():
                shutil.rmtree(part, ignore_errors=True)  # of a run that was killed
            _fetch_new(repo, ref, folder, env)
    return folder


def _fetch_new(repo: str, ref: str, folder: Path, env: Mapping[str, str]) -> None:
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    try:
        fetch = ("fetch", "-q", "--depth=1", "--", repo, ref)
        for words in (("init", "-q"), fetch, ("checkout", "-q", "FETCH_HEAD")):
            _git(("-C", str(part), *words), repo, ref, env)
        part.chmod(0o755)
        part.rename(folder)
    except OSError as error:
        if not folder.is_dir():  # where no lock works, another may have been faster
            raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _git(words: Sequence[str], repo: str, ref: str, env: Mapping[str, str]) -> str:
    said = run_process(("git", *words), seconds=FETCH, env={**env, "GIT_TERMINAL_PROMPT": "0"})
    if said.code != 0:
        why = (said.err.strip() or said.why).splitlines()[-1:]
        raise NotReadyError(
            f"{ref} of {repo} cannot be fetched: {' '.join(why)}",
            fix="a checkout that is here already: --source DIR; another revision: --source URL@REF",
        )
    return said.out


def run_suite(python: Path, order: Path, env: Mapping[str, str], say: Callable[[str], None]) -> Output:
    """Run what an order says, with the interpreter of an environment. It bounds itself, test by test."""
    script = files.package_file(FOLDER) / "run_suite.py"
    return follow_process((str(python), "-B", str(script), str(order)), env=env, say=say)


def install_needs(
    python: Path, names: Sequence[str], env: Mapping[str, str], say: Callable[[str], None]
) -> tuple[Output, str]:
    """Install requirements that must replace no torch; give how that ended and the last line of what was said."""
    script = files.package_file(FOLDER) / "install_needs.py"
    last = [""]

    def hear(line: str) -> None:
        last[0] = line or last[0]
        say(line)

    return follow_process((str(python), "-B", str(script), *names), env=env, say=hear), last[0]


def write_order(path: Path, order: Mapping[str, object]) -> None:
    """Write down what is to be run."""
    files.write_text(path, json.dumps(order, indent=2) + "\n")
