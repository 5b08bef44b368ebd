"""Where the tests of a suite come from, what they are held against, and where their results go."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.commands.workspace import load_settings, roots_folder
from xpusetup.effects import suites as effects
from xpusetup.effects.environment import cache_folder
from xpusetup.effects.files import package_file
from xpusetup.effects.manifest import read_document
from xpusetup.errors import NotReadyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xpusetup.commands.verifying import Subject
    from xpusetup.suites.known import Suite, Suites


@dataclass(frozen=True, kw_only=True)
class Asked:
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
class Bench:
    """What is run where: the suite, the environment, the device, and what is installed there by name."""

    known: Suites
    suite: Suite
    subject: Subject
    device: str
    versions: Mapping[str, str]

    @property
    def torch(self) -> str:
        """The version of torch."""
        return self.versions.get("torch", "")

    @property
    def version(self) -> str:
        """The version of what the suite tests."""
        return self.versions.get(self.suite.distribution, "")


@dataclass(frozen=True)
class Source:
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


def find_source(bench: Bench, asked: Asked) -> Source:
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
    version = effects.read_own_version(folder, suite.distribution)
    notes = [f"not in this tree: {', '.join(absent)}"] if absent else []
    if version and installed and version != installed and not suite.component:
        notes.append(f"the tests are of {version}, installed is {suite.distribution} {installed}")
    if suite.chooses:
        notes.append(f"{suite.title} takes the accelerator that it finds, whatever --device says")
    entries = suite.entries if asked.full or asked.source else ()
    whole = [place for place in there if place in given and place not in suite.places]
    return Source(folder, there, keyword, version, entries, whole, notes)


def _find_folder(suite: Suite, asked: Asked, subject: Subject, installed: str) -> Path:
    if asked.source:
        given = Path(asked.source).expanduser()
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
    return effects.fetch_tree(repo, ref, cache_folder("suites") / name, subject.env)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def results_folder(bench: Bench, out: str) -> Path:
    """Give where results go: into the root of the build, or beside the roots where the environment is not ours."""
    if out:
        return Path(out).expanduser().absolute()
    root, place = bench.subject.root, bench.subject.python.parent.parent
    if root is not None:
        return root / "results/suites" / bench.suite.name / bench.device
    beside = roots_folder(load_settings()) / "suites" / f"{place.name}-{_digest(str(place))}"
    return beside / bench.suite.name / bench.device


def find_baseline(bench: Bench, name: str) -> Mapping[str, Any]:
    """Give what to compare with: an earlier run's results, a published table by its id, or that of these versions.

    Raises UsageError where there is no such thing; empty where nothing was asked for and nothing fits.
    """
    known, suite = bench.known, bench.suite
    published = next((one for one in known.published if one.id == name), None)
    if not name:
        published = known.fitting(suite.name, bench.version, bench.torch, bench.device)
    if published:
        return {"name": published.id, "rows": published.rows}
    if not name:
        return {}
    document = read_document(Path(name).expanduser())
    if not document.get("tests"):
        ids = ", ".join(one.id for one in known.published if one.suite == suite.name) or "none"
        raise UsageError(
            f"{name} holds no results of `xpusetup test`",
            fix=f"name the results.json of an earlier run; published: {ids}",
        )
    if document["suite"] != suite.name:
        raise UsageError(f"{name} holds results of {document['suite']}", fix=f"name one of {suite.name}")
    return {"name": name, "tests": document["tests"]}
