"""What was tried, the commits of a server without their trees, and one environment for one nightly after the other."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xpusetup.base.document import to_json
from xpusetup.base.errors import NotReadyError
from xpusetup.bisect import search
from xpusetup.plan.context import file_name
from xpusetup.run.manifest import read_document
from xpusetup.system import files
from xpusetup.system.environment import cache_folder
from xpusetup.system.git import ask_git, must_git
from xpusetup.system.process import ProcessOutput, run_process

# What a search has tried, in a file: an interrupted one goes on from it.


class Notebook:
    """The trials of one command in one way of building, by the name of what was searched, in their order.

    The file holds those of other commands too: whoever mistypes one loses none.
    """

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """Take the file, and what a verdict follows from beside the commit: trials of anything else count for nothing.

        Between which commits is searched is no part of that.
        """
        self.path, self._asked = path, dict(asked)
        searches = read_document(path).get("searches", [])
        self._others = [each for each in searches if each.get("asked") != self._asked]
        lines: dict[str, Any] = next(
            (each.get("trials", {}) for each in searches if each.get("asked") == self._asked), {}
        )
        self._trials = {
            name: [trial for document in documents if (trial := search.parse_trial(document))]
            for name, documents in lines.items()
        }

    def trials(self, line: str) -> list[search.Trial]:
        return list(self._trials.get(line, []))

    def verdicts(self, line: str) -> dict[str, search.Verdict]:
        return {trial.rev: trial.verdict for trial in self.trials(line)}

    def find(self, line: str, rev: str) -> search.Trial | None:
        return next((trial for trial in self.trials(line) if trial.rev == rev), None)

    def add(self, line: str, trial: search.Trial) -> None:
        """Keep a trial, once."""
        if self.find(line, trial.rev) is None:
            self._trials.setdefault(line, []).append(trial)
            document = to_json({"searches": [*self._others, {"asked": self._asked, "trials": self._trials}]})
            files.write_text(self.path, json.dumps(document, indent=2) + "\n")


# One environment in which one nightly after the other is installed by pip.


WHEELS_TIMEOUT_S = 3600.0
"""Seconds that the wheels of a nightly may take to come."""
UNWANTED = ("PYTHONHOME", "PYTHONPATH", "PIP_CONSTRAINT", "PIP_REQUIRE_VIRTUALENV")


@dataclass(frozen=True, kw_only=True)
class NightlyEnvironment:
    """A virtual environment, the distribution that changes in it, and the index that has its nightlies."""

    folder: Path
    distribution: str
    index: str
    env: Mapping[str, str]

    def make(self, python: str) -> None:
        """Make it, unless it is there. Raises NotReadyError."""
        if (self.folder / "bin/python").exists():
            return
        files.make_folder(self.folder.parent)
        helper = str(files.package_file("helpers/make_environment.py"))
        done = run_process((python, helper, "--into", str(self.folder)), seconds=WHEELS_TIMEOUT_S, env=self.variables())
        if done.code:
            fix = "name a Python: --python VERSION"
            raise NotReadyError(f"no environment in {self.folder}: {_last(done)}", fix=fix)

    def variables(self) -> dict[str, str]:
        kept = {name: value for name, value in self.env.items() if name not in UNWANTED}
        return {**kept, "VIRTUAL_ENV": str(self.folder), "PATH": f"{self.folder}/bin:{kept.get('PATH', '')}"}

    def list_versions(self) -> str:
        """Give what pip says of the versions there are, also those before a release. Raises NotReadyError."""
        done = self._pip("index", "versions", self.distribution, "--pre")
        if done.code:
            fix = "look at the network, or name another index: --nightlies INDEX"
            raise NotReadyError(f"no {self.distribution} at {self.index}: {_last(done)}", fix=fix)
        return done.out

    def install(self, version: str) -> str:
        """Install a version with what it requires; give why it cannot be, empty where it is."""
        done = self._pip("install", f"{self.distribution}=={version}")
        return _last(done) if done.code else ""

    def read_version(self) -> str:
        """Give the text of version.py of what is installed; empty where there is none."""
        records = self.folder.glob(f"lib/python*/site-packages/{file_name(self.distribution)}-*.dist-info/RECORD")
        for record in records:
            names = [line.split(",")[0] for line in (files.read_text(record) or "").splitlines()]
            for name in (name for name in names if name.count("/") == 1 and name.endswith("/version.py")):
                return files.read_text(record.parent.parent / name) or ""
        return ""

    def _pip(self, *words: str) -> ProcessOutput:
        settled = ("bash", str(files.package_file("helpers/pip.sh")), str(self.folder))
        pip = (*settled, str(self.folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", *words)
        return run_process((*pip, "--extra-index-url", self.index), seconds=WHEELS_TIMEOUT_S, env=self.variables())


def _last(done: ProcessOutput) -> str:
    lines = [line for line in done.err.strip().splitlines() if not line.startswith("WARNING")]
    return lines[-1].removeprefix("ERROR: ") if lines else done.why or "it gave no message"


# The commits of a server and how they follow each other, without their trees; and a tree of one of them.


HISTORY_TIMEOUT_S = 3600.0
"""Seconds that the history of a large repository may take to come."""


@dataclass(frozen=True)
class Commit:
    """A commit in words. `parent` is its first one, empty for none."""

    rev: str
    parent: str
    date: str
    author: str
    subject: str


@dataclass(frozen=True)
class Ancestry:
    """A mirror of a server that holds commits alone."""

    address: str
    folder: Path
    env: Mapping[str, str]

    def bring(self, *revs: str) -> None:
        """Fetch these commits and all before them, unless they are here. Raises NotReadyError."""
        if not (self.folder / "HEAD").exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._must("init", "--quiet", "--bare")
        if any(self._ask("rev-list", "--quiet", rev) is None for rev in revs):
            self._must("fetch", "--quiet", "--no-tags", "--filter=tree:0", self.address, *revs)

    def precedes(self, one: str, other: str) -> bool:
        return self._ask("merge-base", "--is-ancestor", one, other) is not None

    def common(self, one: str, other: str) -> str:
        return (self._ask("merge-base", one, other) or "").strip()

    def between(self, bad: str, goods: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Give the commits after the good ones up to the bad one, each with its parents and after them."""
        lines = self._must("rev-list", "--topo-order", "--reverse", "--parents", bad, "--not", *goods).splitlines()
        return {rev: tuple(parents) for rev, *parents in map(str.split, lines)}

    def describe(self, rev: str) -> Commit:
        words = self._must("log", "-1", "--format=%H%x00%P%x00%as%x00%an%x00%s", rev).rstrip("\n").split("\0")
        return Commit(words[0], words[1].split(" ")[0], *words[2:])

    def _ask(self, *words: str) -> str | None:
        done = ask_git(self.env, "-C", str(self.folder), *words, seconds=HISTORY_TIMEOUT_S)
        return done.out if done.code == 0 else None

    def _must(self, *words: str) -> str:
        return must_git(self.address, self.env, "-C", str(self.folder), *words, seconds=HISTORY_TIMEOUT_S)


def open_ancestry(address: str, env: Mapping[str, str]) -> Ancestry:
    """Give the mirror of a server, among what is kept for all builds."""
    name = hashlib.sha256(address.encode()).hexdigest()[:16]
    return Ancestry(address, cache_folder("history") / f"{name}.git", env)


def check_out(address: str, rev: str, folder: Path, env: Mapping[str, str]) -> None:
    """Make a folder of our own be a tree at a commit; what is built from it stays. Raises NotReadyError."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".git/index.lock").unlink(missing_ok=True)  # of a checkout that was killed: the search alone is here
    for words in (
        ("init", "--quiet"),
        ("fetch", "--quiet", "--no-tags", "--depth=1", address, rev),
        ("checkout", "--quiet", "--force", "--detach", rev),
    ):
        must_git(address, env, "-C", str(folder), *words, seconds=HISTORY_TIMEOUT_S)
