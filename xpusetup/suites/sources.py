"""Where the tests of a suite come from, how they are run, and where their results go."""

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.run.lock import hold_file
from xpusetup.run.manifest import read_document
from xpusetup.run.workspace import load_settings, roots_folder
from xpusetup.suites.known import Baseline, Suite, Suites
from xpusetup.system import files
from xpusetup.system.environment import cache_folder, from_home
from xpusetup.system.files import cannot_write, package_file
from xpusetup.system.git import ask_git
from xpusetup.system.process import ProcessOutput, follow_process, run_process
from xpusetup.verify.runner import Subject

# Suites of tests: their sources fetched, what is installed of them, and the runner of this package that runs them.


FOLDER = "helpers"
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
    said = ask_git(env, *words, seconds=FETCH)
    if said.code != 0:
        why = (said.err.strip() or said.why).splitlines()[-1:]
        raise NotReadyError(
            f"{ref} of {repo} cannot be fetched: {' '.join(why)}",
            fix="a checkout that is here already: --source DIR; another revision: --source URL@REF",
        )
    return said.out


def run_suite(python: Path, order: Path, env: Mapping[str, str], say: Callable[[str], None]) -> ProcessOutput:
    """Run what an order says, with the interpreter of an environment. It bounds itself, test by test."""
    script = files.package_file(FOLDER) / "run_suite.py"
    return follow_process((str(python), "-B", str(script), str(order)), env=env, say=say)


def install_needs(
    python: Path, names: Sequence[str], env: Mapping[str, str], say: Callable[[str], None]
) -> tuple[ProcessOutput, str]:
    """Install requirements that must replace no torch; give how that ended and the last line of what was said."""
    script = files.package_file(FOLDER) / "install_suite_needs.py"
    last = [""]

    def hear(line: str) -> None:
        last[0] = line or last[0]
        say(line)

    settled = ("bash", str(files.package_file(FOLDER) / "pip.sh"), str(python.parent.parent))
    return follow_process((*settled, str(python), "-B", str(script), *names), env=env, say=hear), last[0]


def write_order(path: Path, order: Mapping[str, object]) -> None:
    files.write_text(path, json.dumps(order, indent=2) + "\n")


# Where the tests of a suite come from, what they are held against, and where their results go.


@dataclass(frozen=True, kw_only=True)
class SuiteOptions:
    """What to run. `workers` -1: as many as processors on the CPU, one on an accelerator; `bound`: seconds a test."""

    suite: str
    source: str = ""
    select: tuple[str, ...] = ()
    keyword: str = ""
    device: str = ""
    shards: int = 1
    workers: int = -1
    bound: float = 600
    baseline: str = ""
    install: bool = False
    again: bool = False
    full: bool = False
    out: str = ""


@dataclass(frozen=True)
class SuiteRun:
    """What is run where: the suite, the environment, the device, and what is installed there by name."""

    known: Suites
    suite: Suite
    subject: Subject
    device: str
    versions: Mapping[str, str]

    @property
    def torch(self) -> str:
        return self.versions.get("torch", "")

    @property
    def version(self) -> str:
        return self.versions.get(self.suite.distribution, "")


@dataclass(frozen=True)
class TestTree:
    """A tree with tests: its folder, what of it is run, the version that it says of itself, what to know of it.

    `whole`: the places that are a row of the table each.
    """

    folder: Path
    places: Sequence[str]
    keyword: str = ""
    version: str = ""
    entries: Sequence[str] = ()
    whole: Sequence[str] = ()
    notes: Sequence[str] = ()


def find_source(bench: SuiteRun, asked: SuiteOptions) -> TestTree:
    """Give the tests: those of --source, of the checkout that was built, of this package, or of the suite's tag."""
    suite, installed = bench.suite, bench.version
    folder = _find_folder(suite, asked, bench.subject, installed)
    selected = {one.name: one for one in suite.selection}
    given: list[str] = []
    places, keyword = list(suite.full if asked.full else suite.places), ""
    if asked.select:
        named = [selected[name] for name in asked.select if name in selected]
        keyword = next((one.keyword for one in named if one.keyword), "")
        given = [name.rstrip("/") for name in asked.select if name not in selected]
        places = list(dict.fromkeys([*given, *(place for one in named for place in one.places)]))
    there = [place for place in places if (folder / place).exists()]
    absent = [place for place in places if place not in there]
    if not there or (absent and asked.select):
        known = f"; named parts: {', '.join(selected)}" if selected else ""
        raise UsageError(f"{folder} has no {', '.join(absent)}", fix=f"--select names folders or files in it{known}")
    version = read_own_version(folder, suite.distribution)
    notes = [f"not in this tree: {', '.join(absent)}"] if absent else []
    if version and installed and version != installed and not suite.component:
        notes.append(f"the tests are of {version}, installed is {suite.distribution} {installed}")
    if suite.chooses:
        notes.append(f"{suite.title} takes the accelerator that it finds, whatever --device says")
    entries = suite.entries if asked.full or asked.source or not suite.packaged else ()
    whole = [place for place in there if place in given and place not in suite.places]
    return TestTree(folder, there, keyword, version, entries, whole, notes)


def _find_folder(suite: Suite, asked: SuiteOptions, subject: Subject, installed: str) -> Path:
    if asked.source:
        given = from_home(asked.source)
        return given.resolve() if given.is_dir() else _fetch(*_parse_git(asked.source), subject)
    if suite.packaged and not asked.full:
        return package_file(suite.packaged)
    if suite.component:
        tree = subject.root / "src" / suite.component if subject.root else None
        if tree is None or not tree.is_dir():
            raise NotReadyError(
                f"there is no checkout of {suite.title} beside {subject.whose}", fix="name one: --source DIR"
            )
        return tree
    return _fetch(suite.repo, f"refs/tags/{suite.tag.format(version=installed)}", subject)


def _parse_git(text: str) -> tuple[str, str]:
    """Take URL@REF apart; without a ref it is what the server calls HEAD."""
    if "://" not in text and not text.startswith("git@"):
        raise UsageError(f"--source {text}: there is no such folder", fix="name a folder, or a repository as URL@REF")
    head, at, ref = text.rpartition("@")
    return (head, ref) if at and "/" not in ref.partition(":")[0] and "://" in head else (text, "HEAD")


def _fetch(repo: str, ref: str, subject: Subject) -> Path:
    """Give a tree that is kept with what can be fetched again; what moves (HEAD, branches) is fetched anew."""
    name = f"{repo.rstrip('/').rpartition('/')[2].removesuffix('.git')}-{_digest(f'{repo} {ref}')}"
    return fetch_tree(repo, ref, cache_folder("suites") / name, subject.env)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def results_folder(bench: SuiteRun, out: str) -> Path:
    """Give where results go: into the root of the build, or beside the roots where the environment is not ours."""
    if out:
        return from_home(out).absolute()
    root, place = bench.subject.root, bench.subject.python.parent.parent
    if root is not None:
        return root / "results/suites" / bench.suite.name / bench.device
    beside = roots_folder(load_settings()) / "suites" / f"{place.name}-{_digest(str(place))}"
    return beside / bench.suite.name / bench.device


def find_baseline(bench: SuiteRun, name: str) -> Baseline | None:
    """Give what to compare with: an earlier run's results, a published table by its id, or that of these versions.

    Raises UsageError where there is no such thing; None where nothing was asked for and nothing fits.
    """
    known, suite = bench.known, bench.suite
    published = next((one for one in known.published if one.id == name), None)
    if not name:
        published = known.fitting(suite.name, bench.version, bench.torch, bench.device)
    if published:
        return Baseline(published.id, rows=published.rows)
    if not name:
        return None
    document = read_document(from_home(name))
    if not document.get("tests"):
        ids = ", ".join(one.id for one in known.published if one.suite == suite.name) or "none"
        raise UsageError(
            f"{name} holds no results of `xpusetup verify --suite NAME`",
            fix=f"name the results.json of an earlier run; published: {ids}",
        )
    if document["suite"] != suite.name:
        raise UsageError(f"{name} holds results of {document['suite']}", fix=f"name one of {suite.name}")
    return Baseline(name, tests=document["tests"])
