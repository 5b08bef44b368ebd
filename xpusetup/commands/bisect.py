"""bisect: builds commits between a good and a bad one, and names the one that broke a command."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from xpusetup.base.document import fields_of
from xpusetup.base.errors import UsageError, WorkFailedError
from xpusetup.base.model import FoundRef, Request, Step
from xpusetup.bisect import search
from xpusetup.bisect.io import Ancestry, Commit, NightlyEnvironment, Notebook, check_out, open_ancestry
from xpusetup.commands.build import BuildOptions, note, progress, run_purpose
from xpusetup.commands.env import run_environment
from xpusetup.commands.result import Result
from xpusetup.commands.status import find_built
from xpusetup.config.profile import SourceComponent, Vendored, find_needed
from xpusetup.config.request import COMMIT, choose, names_to_ask, render_request
from xpusetup.config.settings import make_network
from xpusetup.plan.install import BUILD
from xpusetup.plan.lanes import lane_of
from xpusetup.run.lock import find_orphans, hold_lock
from xpusetup.run.prepare import asking_words, preview
from xpusetup.run.root import open_root
from xpusetup.run.step_process import end_trees
from xpusetup.run.workspace import Where, Workspace, open_workspace
from xpusetup.system.environment import now, variables
from xpusetup.system.git import list_refs, read_files
from xpusetup.system.process import TRIAL, run_logged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from xpusetup.commands.explain import StepFailure


# The first half of a search: between two nightly wheels, which need no build, down to two that follow each other.


NAME = "nightlies"
"""Under which the notebook keeps the wheels that were tried."""


@dataclass(frozen=True, kw_only=True)
class NightlySearch:
    """How far wheels alone came: the last good version, the first bad one, the index of both, and what was tried."""

    good: str
    bad: str
    index: str
    trials: list[search.Trial]


def names_nightlies(good: str, bad: str) -> bool:
    """Say whether a search is between nightlies. Raises UsageError where only one of two is, and for a wrong order."""
    days = [search.day_of(ref) for ref in (good, bad)]
    if any(days) and not all(days):
        named, other = (good, bad) if days[0] else (bad, good)
        fix = "name two days, as 2026-05-01, or two commits"
        raise UsageError(f"{named} is a nightly and {other} is none", fix=fix)
    if days[0] > days[1]:
        raise UsageError(f"{bad} is before {good}", fix=_swap(good, bad))
    return all(days)


def search_nightlies(base: Workspace, bench: BisectRun) -> tuple[NightlySearch, Line]:
    """Try nightlies until two are neighbours, and give the commits between them.

    Raises UsageError for days between which there is nothing to find.
    """
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
        high = next((rev for rev in asked if verdicts.get(rev) == "bad"), bad.rev)
        before = asked[: asked.index(high)]
        low = next((rev for rev in reversed(before) if verdicts.get(rev) == "good"), good.rev)
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
    told = NightlySearch(good=good.rev, bad=bad.rev, index=place.index, trials=bench.notebook.trials(NAME))
    line = Line(name=bench.part.name, address=bench.part.repo, good=good.commit, bad=bad.commit, seen=True)
    return told, line


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
    judged = bench.judge(version, place.variables(), skipped)
    return replace(judged, seconds=round(now() - began, 1), commit=commit)


# Where a search for a commit builds and tries; an interrupted one goes on from its notebook.


SHOWN = 9
PAUSES = "the same command goes on where it was: what was tried is kept"
MACHINE = {"compile.disk_full", "compile.oom_kill", "compile.signal9"}
"""Causes of a failed build that tell of the machine and nothing of the commit."""


@dataclass(frozen=True, kw_only=True)
class Hunt:
    """What is looked for: in which component, between which refs or nightlies of which index, by which command.

    `skip` are commits that are not tried.
    """

    component: str
    good: str
    bad: str
    command: tuple[str, ...]
    nightlies: str = ""
    skip: tuple[str, ...] = ()


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
        self.options.observe(progress(text))

    def build_and_try(self, rev: str, sources: tuple[tuple[str, str], ...] = ()) -> search.Trial:
        """Build the component at a commit and run the command with it. Raises WorkFailedError for no verdict."""
        workspace = open_workspace(replace(self.where, rev=(f"{self.part.name}={rev}", *self.where.rev)))
        began = now()
        request = replace(self.request, sources=sources)
        built = run_purpose(workspace, request, self.options, BUILD)
        counts = built.data.cached.values()
        trial = search.Trial(
            rev=rev,
            verdict="skip",
            why=f"{built.data.failed} failed",
            seconds=round(now() - began, 1),
            cached=(sum(hits for hits, _ in counts), sum(misses for _, misses in counts)),
        )
        if built.data.failure:
            steps = preview(workspace, request).plan.steps
            _hold_commit(rev, built.data.failure, next(step for step in steps if step.id == built.data.failed))
            return trial
        return self.judge(rev, run_environment(find_built(workspace)), trial)

    def judge(self, name: str, env: Mapping[str, str], trial: search.Trial) -> search.Trial:
        """Run the command and give its verdict in a trial. Raises WorkFailedError for none."""
        log = self.notebook.path.parent.parent / f"logs/bisect.{name[:SHOWN] if COMMIT.fullmatch(name) else name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        code = run_logged(self.hunt.command, env=env, log=log, root=log.parent.parent)
        verdict = search.judge(code)
        if verdict is None:
            told = "it cannot be started there" if code in search.UNSTARTED else f"what it said: {log}"
            message = f"{self.hunt.command[0]} ended with {code}: that is no verdict"
            raise WorkFailedError(message, fix=f"{told}; {PAUSES}")
        return replace(trial, verdict=verdict, why=f"exit code {code}")


def _hold_commit(rev: str, failure: StepFailure, step: Step) -> None:
    """Tell a commit that does not build from a build that failed for something else. Raises WorkFailedError.

    What is fetched, and what is no component's, fails for the network, the index, or a tree that was changed here.
    """
    machine = failure.full or MACHINE & {cause.id for cause in failure.causes}
    if step.component and lane_of(step) == "work" and not machine:
        return
    fix = f"see why: xpusetup explain {failure.log}; {PAUSES}. To leave this commit out: --skip {rev}"
    raise WorkFailedError(f"{step.id} failed, which is no verdict on {rev[:SHOWN]}", fix=fix)


# bisect: builds commits between a good and a bad one, and names the one that broke a command.
#
# Each commit is built in one root with the parts that its own tree names; the tree moves from commit to commit
# and its build folder stays. Where the guilty commit moved the pin of a vendored source, the search goes on
# inside that.


@dataclass(frozen=True, kw_only=True)
class Line:
    """The commits of one repository that are searched; of a source inside the component `within` a commit of that.

    `seen`: that the command works with the good one and fails with the bad one was seen otherwise.
    """

    name: str
    address: str
    good: str
    bad: str
    within: str = ""
    seen: bool = False

    @property
    def kept(self) -> str:
        return f"{self.name} within {self.within}" if self.within else self.name


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
        example = "xpusetup bisect v2.13.0 main --profile main -- python t.py"
        raise UsageError("bisect needs a command", fix="as in: ", command=example)
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
    wheels, line = None, Line(name=part.name, address=part.repo, good=good, bad=bad)
    hunt = replace(hunt, skip=tuple(_resolve(part, ref, env) for ref in hunt.skip))
    only = request.only or (part.name,)
    request = replace(request, verify="off", only=(*find_needed(base.profile.components, only), *only))
    open_root(root)
    with hold_lock(root / "results/bisect.lock", lambda text: options.observe(note(text))):
        _end_outlived(root, options)
        notebook = Notebook(root / "results/bisect.json", _asked(base, own, request, hunt))
        bench = BisectRun(where=own, request=request, options=options, hunt=hunt, part=part, notebook=notebook, env=env)
        if by_wheels:
            wheels, line = search_nightlies(base, bench)
        answer = _search(bench, line)
        inside = _look_inside(bench, line, answer.culprit) if answer.culprit else None
        found = _sum_up(base, bench, _describe(bench, line, answer), inside, wheels)
    return Result("bisect", found, code=0 if found.culprit and not (inside and not inside.culprit) else 1)


def _end_outlived(root: Path, options: BuildOptions) -> None:
    """End the command of a search that was killed: nobody waits for its verdict, and its environment is built anew."""
    if found := list(find_orphans(root, TRIAL)):
        options.observe(note(f"ending the command of a search that was killed (process {found[0]})"))
        end_trees(found)


def _asked(base: Workspace, where: Where, request: Request, hunt: Hunt) -> dict[str, Any]:
    """Give what a verdict follows from beside the commit."""
    how = [*asking_words(base), *render_request(request), *where.rev]
    return {
        "profile": base.profile.name,
        "component": hunt.component,
        "command": list(hunt.command),
        "how": how,
        "nightlies": hunt.nightlies,
    }


def _resolve(part: SourceComponent, ref: str, env: Mapping[str, str]) -> str:
    if COMMIT.fullmatch(ref):
        return ref
    return choose(ref, part.repo, list_refs(part.repo, names_to_ask(ref), env)).rev


def _search(bench: BisectRun, line: Line) -> search.SearchState:
    graph = open_ancestry(line.address, bench.env)
    bench.say(f"{line.name}: reading the history from {line.good[:SHOWN]} to {line.bad[:SHOWN]}")
    graph.bring(line.good, line.bad)
    _hold_order(graph, line)
    _say_kept(bench, line)
    while True:
        tried: dict[str, search.Verdict] = bench.notebook.verdicts(line.kept)
        tried |= {rev: "skip" for rev in bench.hunt.skip if rev not in {line.good, line.bad}}
        goods, bad = _bounds(bench, graph, line, tried)
        left = graph.between(bad, goods)
        answer = search.decide(left, bad, tried)
        rev = answer.next or ("" if line.seen else search.untried_end(line.good, line.bad, tried))
        if not rev:
            return answer
        asked = "worked" if rev == line.good else "failed"
        told = f"{len(left)} commits left" if answer.next else f"the command {asked} with no commit so far"
        bench.say(f"{line.name}: {told}, {rev[:SHOWN]} is tried")
        trial = _try_commit(bench, line, rev)
        bench.notebook.add(line.kept, trial)
        bench.say(f"{line.name}: {trial.rev[:SHOWN]} is {trial.verdict} ({trial.why})")


def _hold_order(graph: Ancestry, line: Line) -> None:
    """Raise UsageError where nothing is between the two, or not in this order."""
    good, bad = line.good[:SHOWN], line.bad[:SHOWN]
    if line.good == line.bad:
        raise UsageError(f"--good and --bad are one commit of {line.name}, {good}", fix="name a later one: --bad REF")
    if graph.precedes(line.good, line.bad):
        return
    if graph.precedes(line.bad, line.good):
        raise UsageError(f"{bad} is before {good} in {line.name}", fix=_swap(line.good, line.bad))
    common = graph.common(line.good, line.bad)
    fix = f"take the last commit that both have, if it is good: --good {common}" if common else "name others"
    raise UsageError(f"{good} is not before {bad} in {line.name}", fix=fix)


def _swap(good: str, bad: str) -> str:
    turned = "for what mended it, turn the command round too: -- sh -c '! COMMAND'"
    return f"swap them: --good {bad} --bad {good}; {turned}"


def _say_kept(bench: BisectRun, line: Line) -> None:
    if count := len(bench.notebook.trials(line.kept)):
        kept = f"{count} {'trial' if count == 1 else 'trials'} of the same command before"
        bench.say(f"{line.name}: {kept} count too; to try all anew: rm {shlex.quote(str(bench.notebook.path))}")


def _bounds(
    bench: BisectRun, graph: Ancestry, line: Line, tried: Mapping[str, search.Verdict]
) -> tuple[list[str], str]:
    """Give the good commits and the first bad one as far as it is known, among those that are searched.

    Raises UsageError where an end was tried, and is not what it is called.
    """
    for rev, called in ((line.good, "good"), (line.bad, "bad")):
        if tried.get(rev, "skip") not in {"skip", called}:
            again = f"rm {shlex.quote(str(bench.notebook.path))}"
            fix = f"look at what it says, name another commit (--{called} REF), or try all anew: {again}"
            does = "works" if called == "bad" else "fails"
            raise UsageError(f"the command {does} with {rev[:SHOWN]} of {line.name}, which is called {called}", fix=fix)
    return search.bounds(line.good, line.bad, tried, graph.precedes)


def _try_commit(bench: BisectRun, line: Line, rev: str) -> search.Trial:
    if not line.within:
        return bench.build_and_try(rev)
    tree = bench.notebook.path.parent / f"bisect/{line.name}"
    check_out(line.address, rev, tree, bench.env)
    return replace(bench.build_and_try(line.within, ((line.name, str(tree)),)), rev=rev)


def _look_inside(bench: BisectRun, line: Line, culprit: str) -> CommitSearch | None:
    """Go on inside a vendored source whose pin the guilty commit moved, where the old pin still works with it."""
    parent = open_ancestry(line.address, bench.env).describe(culprit).parent
    for item in bench.part.vendored:
        old, new = (_pin(bench, item, rev) for rev in (parent, culprit))
        if not (old and new) or old == new:
            continue
        inner = Line(name=item.name, address=item.repo, good=old, bad=new, within=culprit, seen=True)
        bench.say(f"{culprit[:SHOWN]} moves {item.name} from {old[:SHOWN]} to {new[:SHOWN]}: does the old one work?")
        trial = bench.notebook.find(inner.kept, old) or _try_commit(bench, inner, old)
        bench.notebook.add(inner.kept, trial)
        if trial.verdict == "good":
            try:
                return _describe(bench, inner, _search(bench, inner))
            except UsageError as error:  # a pin that moves back, or to another branch
                bench.say(f"what is between them cannot be searched: {error.message}")
                return None
        bench.say(f"with the {item.name} of before it is {trial.verdict} too: the commit itself is guilty")
    return None


def _pin(bench: BisectRun, item: Vendored, rev: str) -> str:
    if not item.pin_file or not rev or item.clones:  # what the build clones by itself has no tree to be tried
        return ""
    text = read_files(bench.part.repo, FoundRef(rev), [item.pin_file], bench.env)[item.pin_file] or ""
    return next((word for word in text.split() if COMMIT.fullmatch(word)), "")


def _describe(bench: BisectRun, line: Line, answer: search.SearchState) -> CommitSearch:
    graph = open_ancestry(line.address, bench.env)
    return CommitSearch(
        component=line.name,
        good=line.good,
        bad=line.bad,
        culprit=graph.describe(answer.culprit) if answer.culprit else None,
        suspects=[graph.describe(rev) for rev in answer.suspects],
        trials=bench.notebook.trials(line.kept),
    )


def _sum_up(
    base: Workspace, bench: BisectRun, found: CommitSearch, inside: CommitSearch | None, wheels: NightlySearch | None
) -> Bisection:
    trials = [*found.trials, *(inside.trials if inside else ())]
    return Bisection(
        **fields_of(found),
        profile=base.profile.name,
        root=str(bench.notebook.path.parent.parent),
        inside=inside,
        builds=len(trials),
        skipped=sum(trial.verdict == "skip" for trial in trials),
        cached=(sum(trial.cached[0] for trial in trials), sum(trial.cached[1] for trial in trials)),
        nightlies=wheels,
    )
