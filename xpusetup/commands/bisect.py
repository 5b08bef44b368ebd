"""bisect: builds commits between a good and a bad one, and names the one that broke a command."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from xpusetup.base.document import fields_of, to_json
from xpusetup.base.errors import UsageError, WorkFailedError
from xpusetup.base.model import Event, FoundRef, Request
from xpusetup.bisect import search
from xpusetup.bisect.io import Commit, NightlyEnvironment, check_out, open_ancestry
from xpusetup.commands.build import BuildOptions, run_purpose
from xpusetup.commands.environment import run_environment
from xpusetup.commands.result import Result
from xpusetup.commands.status import find_built
from xpusetup.config.profile import SourceComponent, Vendored, find_needed
from xpusetup.config.request import COMMIT, choose, names_to_ask
from xpusetup.config.settings import make_network
from xpusetup.plan.install import BUILD
from xpusetup.run.manifest import read_document
from xpusetup.run.prepare import preview
from xpusetup.run.workspace import Where, Workspace, open_workspace
from xpusetup.system import files
from xpusetup.system.environment import now, variables
from xpusetup.system.git import list_refs, read_files
from xpusetup.system.process import run_logged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


# The first half of a search: between two nightly wheels, which need no build, down to two that follow each other.


NAME = "nightlies"
"""Under which the notebook keeps the wheels that were tried."""


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The last good nightly and the first bad one that could be told, and the commits that they were made from."""

    good: search.Trial
    bad: search.Trial
    index: str


@dataclass(frozen=True, kw_only=True)
class NightlySearch:
    """How far wheels alone came: the last good version, the first bad one, the index of both, and what was tried."""

    good: str
    bad: str
    index: str
    trials: list[search.Trial]


def names_nightlies(good: str, bad: str) -> bool:
    """Say whether a search is between nightlies. Raises UsageError where only one of two is."""
    days = [search.day_of(ref) for ref in (good, bad)]
    if any(days) and not all(days):
        named, other = (good, bad) if days[0] else (bad, good)
        fix = "name two days, as 2026-05-01, or two commits"
        raise UsageError(f"{named} is a nightly and {other} is none", fix=fix)
    return all(days)


def search_nightlies(base: Workspace, bench: BisectRun) -> Neighbours:
    """Try nightlies until two are neighbours. Raises UsageError for days between which there is nothing to find."""
    place = _prepare(base, bench)
    local = Version(bench.part.version).local or ""
    found = search.parse_versions(place.list_versions(), local)
    days = (search.day_of(bench.hunt.good), search.day_of(bench.hunt.bad))
    asked = [each.version for each in search.between(found, *days)]
    bench.say(f"{len(asked)} nightly wheels of {place.distribution} from {bench.hunt.good} to {bench.hunt.bad}")
    good = _end(bench, place, asked, "good")
    bad = _end(bench, place, asked[::-1], "bad")
    while True:
        tried = {trial.rev: trial for trial in bench.notebook.trials(NAME)}
        verdicts = bench.notebook.verdicts(NAME)
        low = max((rev for rev in asked if verdicts.get(rev) == "good"), key=asked.index, default=good.rev)
        high = min((rev for rev in asked if verdicts.get(rev) == "bad"), key=asked.index, default=bad.rev)
        answer = search.decide(search.history(asked, low, high), high, verdicts)
        if not answer.next:
            break
        _try_nightly(bench, place, answer.next)
    graph = open_ancestry(bench.part.repo, bench.env)
    graph.bring(tried[low].commit, tried[high].commit)
    good, bad = (
        replace(trial, commit=search.main_commit(trial.commit, graph.describe(trial.commit).subject))
        for trial in (tried[low], tried[high])
    )
    if good.commit == bad.commit:
        message = f"{good.rev} and {bad.rev} are of the same commit: what broke it is something that they require"
        raise WorkFailedError(message, fix=f"compare: pip freeze in {place.folder} after each of them")
    return Neighbours(good=good, bad=bad, index=place.index)


def _prepare(base: Workspace, bench: BisectRun) -> NightlyEnvironment:
    index = bench.hunt.nightlies or next(
        (part.nightly for part in base.profile.components if part.kind == "wheel" and part.nightly), ""
    )
    if not index:
        raise UsageError(f"{base.profile.name} names no index of nightly wheels", fix="name one: --nightlies INDEX")
    root = bench.notebook.path.parent.parent
    place = NightlyEnvironment(
        folder=root / "nightlies/venv", distribution=bench.part.distribution, index=index, env=bench.env
    )
    place.make(preview(base, bench.request).plan.target.python)
    return place


def _end(bench: BisectRun, place: NightlyEnvironment, versions: Sequence[str], wanted: str) -> search.Trial:
    """Find the outermost nightly that can be told, and hold it against what was said of it."""
    for version in versions:
        trial = _try_nightly(bench, place, version)
        if trial.verdict == wanted:
            return trial
        if trial.verdict != "skip":
            fix = "name an earlier day: --good DAY" if wanted == "good" else "name a later day: --bad DAY"
            raise UsageError(f"the nightly {version} is {trial.verdict} ({trial.why}), not {wanted}", fix=fix)
    between_them = f"from {bench.hunt.good} to {bench.hunt.bad}"
    raise UsageError(f"no nightly {between_them} can be tried", fix="name other days, or two commits")


def _try_nightly(bench: BisectRun, place: NightlyEnvironment, version: str) -> search.Trial:
    known = bench.notebook.find(NAME, version)
    if known is not None:
        return known
    bench.say(f"{place.distribution} {version} is tried")
    trial = _install_and_try(bench, place, version)
    bench.notebook.add(NAME, trial)
    bench.say(f"{place.distribution} {version} is {trial.verdict} ({trial.why})")
    return trial


def _install_and_try(bench: BisectRun, place: NightlyEnvironment, version: str) -> search.Trial:
    began = now()
    failed = place.install(version)
    commit = "" if failed else search.commit_of(place.read_version())
    skipped = search.Trial(rev=version, verdict="skip", why=failed or "its version.py names no commit")
    if failed or not commit:
        return skipped
    log = bench.notebook.path.parent.parent / f"logs/bisect.{version}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    code = run_logged(bench.hunt.command, env=place.variables(), log=log)
    verdict = search.judge(code)
    if verdict is None:
        message = f"{bench.hunt.command[0]} ended with {code}: that is no verdict"
        raise WorkFailedError(message, fix=f"look at {log}; the same command goes on where it was")
    seconds = round(now() - began, 1)
    return search.Trial(rev=version, verdict=verdict, why=f"exit code {code}", seconds=seconds, commit=commit)


# Where a search for a commit builds and tries, and what it has tried: an interrupted one goes on from its notebook.


SHOWN = 9
PAUSES = "the same command goes on where it was: what was tried is kept"


class Notebook:
    """The trials of one search, by the name of what was searched, in their order."""

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        """Take the file, and what is asked: trials of another search count for nothing."""
        self.path, self._asked = path, dict(asked)
        known = read_document(path)
        lines = known.get("trials", {}) if known.get("asked") == self._asked else {}
        self._trials = {
            name: [trial for document in documents if (trial := search.parse_trial(document))]
            for name, documents in lines.items()
        }

    def trials(self, line: str) -> list[search.Trial]:
        """Give what was tried."""
        return list(self._trials.get(line, []))

    def verdicts(self, line: str) -> dict[str, search.Verdict]:
        """Give what came of each commit."""
        return {trial.rev: trial.verdict for trial in self.trials(line)}

    def find(self, line: str, rev: str) -> search.Trial | None:
        """Give the trial of a commit; None where it was not tried."""
        return next((trial for trial in self.trials(line) if trial.rev == rev), None)

    def add(self, line: str, trial: search.Trial) -> None:
        """Keep a trial, once."""
        if self.find(line, trial.rev) is None:
            self._trials.setdefault(line, []).append(trial)
            document = to_json({"asked": self._asked, "trials": self._trials})
            files.write_text(self.path, json.dumps(document, indent=2) + "\n")


@dataclass(frozen=True, kw_only=True)
class Hunt:
    """What is looked for: in which component, between which refs or nightlies of which index, by which command."""

    component: str
    good: str
    bad: str
    command: tuple[str, ...]
    nightlies: str = ""


@dataclass(frozen=True, kw_only=True)
class BisectRun:
    """Where commits are built and tried: the same root for all of them."""

    where: Where
    request: Request
    options: BuildOptions
    hunt: Hunt
    part: SourceComponent
    notebook: Notebook
    env: Mapping[str, str]

    def say(self, text: str) -> None:
        """Say something to whoever watches."""
        self.options.observe(Event(kind="note", time=now(), text=text))

    def build_and_try(self, rev: str, sources: tuple[tuple[str, str], ...] = ()) -> search.Trial:
        """Build the component at a commit and run the command with it. Raises WorkFailedError for no verdict."""
        workspace = open_workspace(replace(self.where, rev=(f"{self.part.name}={rev}", *self.where.rev)))
        began = now()
        built = run_purpose(workspace, replace(self.request, sources=sources), self.options, BUILD)
        counts = built.data.cached.values()
        trial = search.Trial(
            rev=rev,
            verdict="skip",
            why=f"{built.data.failed} failed",
            seconds=round(now() - began, 1),
            cached=(sum(hits for hits, _ in counts), sum(misses for _, misses in counts)),
        )
        if built.code:
            return trial
        environment = find_built(workspace)
        log = environment.root / f"logs/bisect.{rev[:SHOWN]}.log"
        code = run_logged(self.hunt.command, env=run_environment(environment), log=log)
        verdict = search.judge(code)
        if verdict is None:
            raise WorkFailedError(f"{self.hunt.command[0]} ended with {code}: that is no verdict", fix=PAUSES)
        return replace(trial, verdict=verdict, why=f"exit code {code}")


# bisect: builds commits between a good and a bad one, and names the one that broke a command.
#
# Each commit is built in one root with the parts that its own tree names; the tree moves from commit to commit
# and its build folder stays. Where the guilty commit moved the pin of a vendored source, the search goes on
# inside that.


@dataclass(frozen=True, kw_only=True)
class Line:
    """The commits of one repository that are searched."""

    name: str
    address: str
    good: str
    bad: str


@dataclass(frozen=True, kw_only=True)
class CommitSearch:
    """What came of a search in a component: the commit that broke it, or the suspects that no build can tell apart."""

    component: str
    good: str
    bad: str
    culprit: Commit | None
    suspects: list[Commit]
    trials: list[search.Trial]


@dataclass(frozen=True, kw_only=True)
class Bisection(CommitSearch):
    """What came of a search, and of the one `inside` a source whose pin the culprit moved; None where it moved none.

    `builds` counts the trials, `skipped` those without a verdict; `cached` are compiles from the cache, and others.
    `nightlies` is None where none were searched.
    """

    profile: str
    root: str
    inside: CommitSearch | None
    builds: int
    skipped: int
    cached: tuple[int, int]
    nightlies: NightlySearch | None


def bisect(where: Where, request: Request, options: BuildOptions, hunt: Hunt) -> Result[Bisection]:
    """Find the first bad commit. Raises UsageError for refs between which there is nothing to find."""
    if not hunt.command:
        raise UsageError("bisect needs a command", fix="xpusetup bisect --good REF --bad REF -- python test.py")
    base = open_workspace(where)
    sources = {part.name: part for part in base.profile.components if part.kind == "source"}
    part = sources.get(hunt.component)
    if part is None:
        message = f"{base.profile.name} builds no {hunt.component!r} from source"
        raise UsageError(message, fix=f"name another: --component {' or '.join(sources)}")
    own = where if where.root else replace(where, name=where.name or f"{base.root.name}-bisect")
    root = open_workspace(own).root
    env = {**variables(), **make_network(base.settings.network, variables())}
    by_wheels = names_nightlies(hunt.good, hunt.bad)
    good, bad = (ref if by_wheels else _resolve(part, ref, env) for ref in (hunt.good, hunt.bad))
    asked = {"component": part.name, "good": good, "bad": bad, "command": list(hunt.command)}
    only = request.only or (part.name,)
    request = replace(request, verify="off", only=(*find_needed(base.profile.components, only), *only))
    notebook = Notebook(root / "results/bisect.json", asked)
    bench = BisectRun(where=own, request=request, options=options, hunt=hunt, part=part, notebook=notebook, env=env)
    wheels = search_nightlies(base, bench) if by_wheels else None
    good, bad = (wheels.good.commit, wheels.bad.commit) if wheels else (good, bad)
    line = Line(name=part.name, address=part.repo, good=good, bad=bad)
    answer = _search(bench, line, ())
    inside = _look_inside(bench, line, answer.culprit) if answer.culprit else None
    found = _sum_up(base, bench, _describe(bench, line, answer), inside)
    if wheels:
        tried = notebook.trials(NAME)
        nightlies = NightlySearch(good=wheels.good.rev, bad=wheels.bad.rev, index=wheels.index, trials=tried)
        found = replace(found, nightlies=nightlies)
    return Result("bisect", found, code=0 if found.culprit and not (inside and not inside.culprit) else 1)


def _resolve(part: SourceComponent, ref: str, env: Mapping[str, str]) -> str:
    if COMMIT.fullmatch(ref):
        return ref
    return choose(ref, part.repo, list_refs(part.repo, names_to_ask(ref), env)).rev


def _search(bench: BisectRun, line: Line, pinned: tuple[str, ...]) -> search.Answer:
    """Try commits until one is found. `pinned`: the component's own commit, while a source inside it is searched."""
    graph = open_ancestry(line.address, bench.env)
    bench.say(f"{line.name}: reading the history from {line.good[:SHOWN]} to {line.bad[:SHOWN]}")
    graph.bring(line.good, line.bad)
    if not graph.precedes(line.good, line.bad):
        common = graph.common(line.good, line.bad)
        fix = f"take the last commit that both have, if it is good: --good {common}" if common else "swap them?"
        raise UsageError(f"{line.good[:SHOWN]} is not before {line.bad[:SHOWN]} in {line.name}", fix=fix)
    while True:
        tried = bench.notebook.verdicts(line.name)
        goods = [line.good, *(rev for rev, verdict in tried.items() if verdict == "good")]
        bads = [rev for rev, verdict in tried.items() if verdict == "bad"]
        bad = next((rev for rev in bads if all(graph.precedes(rev, other) for other in bads)), line.bad)
        left = graph.between(bad, goods)
        answer = search.decide(left, bad, tried)
        if not answer.next:
            return answer
        bench.say(f"{line.name}: {len(left)} commits left, {answer.next[:SHOWN]} is tried")
        trial = _try_commit(bench, line, answer.next, pinned)
        bench.notebook.add(line.name, trial)
        bench.say(f"{line.name}: {trial.rev[:SHOWN]} is {trial.verdict} ({trial.why})")


def _try_commit(bench: BisectRun, line: Line, rev: str, pinned: tuple[str, ...]) -> search.Trial:
    if not pinned:
        return bench.build_and_try(rev)
    tree = bench.notebook.path.parent / f"bisect/{line.name}"
    check_out(line.address, rev, tree, bench.env)
    return replace(bench.build_and_try(pinned[0], ((line.name, str(tree)),)), rev=rev)


def _look_inside(bench: BisectRun, line: Line, culprit: str) -> CommitSearch | None:
    """Go on inside a vendored source whose pin the guilty commit moved, where the old pin still works with it."""
    parent = open_ancestry(line.address, bench.env).describe(culprit).parent
    for item in bench.part.vendored:
        old, new = (_pin(bench, item, rev) for rev in (parent, culprit))
        if not (old and new) or old == new:
            continue
        inner = Line(name=item.name, address=item.repo, good=old, bad=new)
        bench.say(f"{culprit[:SHOWN]} moves {item.name} from {old[:SHOWN]} to {new[:SHOWN]}: does the old one work?")
        trial = bench.notebook.find(item.name, old) or _try_commit(bench, inner, old, (culprit,))
        bench.notebook.add(item.name, trial)
        if trial.verdict == "good":
            return _describe(bench, inner, _search(bench, inner, (culprit,)))
        bench.say(f"with the {item.name} of before it is {trial.verdict} too: the commit itself is guilty")
    return None


def _pin(bench: BisectRun, item: Vendored, rev: str) -> str:
    if not item.pin_file or not rev or item.clones:  # what the build clones by itself has no tree to be tried
        return ""
    text = read_files(bench.part.repo, FoundRef(rev), [item.pin_file], bench.env)[item.pin_file] or ""
    return next((word for word in text.split() if COMMIT.fullmatch(word)), "")


def _describe(bench: BisectRun, line: Line, answer: search.Answer) -> CommitSearch:
    graph = open_ancestry(line.address, bench.env)
    return CommitSearch(
        component=line.name,
        good=line.good,
        bad=line.bad,
        culprit=graph.describe(answer.culprit) if answer.culprit else None,
        suspects=[graph.describe(rev) for rev in answer.suspects],
        trials=bench.notebook.trials(line.name),
    )


def _sum_up(base: Workspace, bench: BisectRun, found: CommitSearch, inside: CommitSearch | None) -> Bisection:
    trials = [*found.trials, *(inside.trials if inside else ())]
    return Bisection(
        **fields_of(found),
        profile=base.profile.name,
        root=str(bench.notebook.path.parent.parent),
        inside=inside,
        builds=len(trials),
        skipped=sum(trial.verdict == "skip" for trial in trials),
        cached=(sum(trial.cached[0] for trial in trials), sum(trial.cached[1] for trial in trials)),
        nightlies=None,
    )
