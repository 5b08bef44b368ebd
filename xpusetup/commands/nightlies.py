"""The first half of a search: between two nightly wheels, which need no build, down to two that follow each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from xpusetup.commands.prepare import preview
from xpusetup.effects.ancestry import open_ancestry
from xpusetup.effects.clock import now
from xpusetup.effects.nightly import NightlyEnvironment
from xpusetup.effects.process import run_logged
from xpusetup.errors import UsageError, WorkFailedError
from xpusetup.nightlies import between, commit_of, day_of, history, main_commit, parse_versions
from xpusetup.search import Trial, decide, judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.commands.notebook import Bench
    from xpusetup.commands.workspace import Workspace

NAME = "nightlies"
"""Under which the notebook keeps the wheels that were tried."""


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The last good nightly and the first bad one that could be told, and the commits that they were made from."""

    good: Trial
    bad: Trial
    index: str

    def document(self, trials: Sequence[Trial]) -> dict[str, Any]:
        """Give them for JSON."""
        tried = [trial.document() for trial in trials]
        return {"good": self.good.rev, "bad": self.bad.rev, "index": self.index, "trials": tried}


def names_nightlies(good: str, bad: str) -> bool:
    """Say whether a search is between nightlies. Raises UsageError where only one of two is."""
    days = [day_of(ref) for ref in (good, bad)]
    if any(days) and not all(days):
        named, other = (good, bad) if days[0] else (bad, good)
        raise UsageError(
            f"{named} is a nightly and {other} is none", fix="name two days, as 2026-05-01, or two commits"
        )
    return all(days)


def search_nightlies(base: Workspace, bench: Bench) -> Neighbours:
    """Try nightlies until two are neighbours. Raises UsageError for days between which there is nothing to find."""
    place = _prepare(base, bench)
    local = Version(bench.part.version).local or ""
    found = parse_versions(place.list_versions(), local)
    asked = [each.version for each in between(found, day_of(bench.hunt.good), day_of(bench.hunt.bad))]
    bench.say(f"{len(asked)} nightly wheels of {place.distribution} from {bench.hunt.good} to {bench.hunt.bad}")
    good = _end(bench, place, asked, "good")
    bad = _end(bench, place, asked[::-1], "bad")
    while True:
        tried = {trial.rev: trial for trial in bench.notebook.trials(NAME)}
        low = max((rev for rev in asked if _is(tried, rev, "good")), key=asked.index, default=good.rev)
        high = min((rev for rev in asked if _is(tried, rev, "bad")), key=asked.index, default=bad.rev)
        verdicts = {rev: trial.verdict for rev, trial in tried.items()}
        answer = decide(history(asked, low, high), high, verdicts)
        if not answer.next:
            return _neighbours(bench, place, tried[low], tried[high])
        _try(bench, place, answer.next)


def _prepare(base: Workspace, bench: Bench) -> NightlyEnvironment:
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


def _is(tried: dict[str, Trial], rev: str, verdict: str) -> bool:
    return rev in tried and tried[rev].verdict == verdict


def _end(bench: Bench, place: NightlyEnvironment, versions: Sequence[str], wanted: str) -> Trial:
    """Find the outermost nightly that can be told, and hold it against what was said of it."""
    for version in versions:
        trial = _try(bench, place, version)
        if trial.verdict == wanted:
            return trial
        if trial.verdict != "skip":
            fix = "name an earlier day: --good DAY" if wanted == "good" else "name a later day: --bad DAY"
            raise UsageError(f"the nightly {version} is {trial.verdict} ({trial.why}), not {wanted}", fix=fix)
    between_them = f"from {bench.hunt.good} to {bench.hunt.bad}"
    raise UsageError(f"no nightly {between_them} can be tried", fix="name other days, or two commits")


def _try(bench: Bench, place: NightlyEnvironment, version: str) -> Trial:
    known = bench.notebook.find(NAME, version)
    if known is not None:
        return known
    bench.say(f"{place.distribution} {version} is tried")
    trial = _install_and_try(bench, place, version)
    bench.notebook.add(NAME, trial)
    bench.say(f"{place.distribution} {version} is {trial.verdict} ({trial.why})")
    return trial


def _install_and_try(bench: Bench, place: NightlyEnvironment, version: str) -> Trial:
    began = now()
    failed = place.install(version)
    commit = "" if failed else commit_of(place.read_version())
    skipped = Trial(rev=version, verdict="skip", why=failed or "its version.py names no commit")
    if failed or not commit:
        return skipped
    log = bench.notebook.path.parent.parent / f"logs/bisect.{version}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    code = run_logged(bench.hunt.command, env=place.variables(), log=log)
    verdict = judge(code)
    if verdict is None:
        message = f"{bench.hunt.command[0]} ended with {code}: that is no verdict"
        raise WorkFailedError(message, fix=f"look at {log}; the same command goes on where it was")
    seconds = round(now() - began, 1)
    return Trial(rev=version, verdict=verdict, why=f"exit code {code}", seconds=seconds, commit=commit)


def _neighbours(bench: Bench, place: NightlyEnvironment, good: Trial, bad: Trial) -> Neighbours:
    graph = open_ancestry(bench.part.repo, bench.env)
    graph.bring(good.commit, bad.commit)
    ends = [_on_main(trial, graph.describe(trial.commit).subject) for trial in (good, bad)]
    if ends[0].commit == ends[1].commit:
        message = f"{good.rev} and {bad.rev} are of the same commit: what broke it is something that they require"
        raise WorkFailedError(message, fix=f"compare: pip freeze in {place.folder} after each of them")
    return Neighbours(good=ends[0], bad=ends[1], index=place.index)


def _on_main(trial: Trial, subject: str) -> Trial:
    return Trial(rev=trial.rev, verdict=trial.verdict, why=trial.why, commit=main_commit(trial.commit, subject))
