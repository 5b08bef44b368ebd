"""bisect: builds commits between a good and a bad one, and names the one that broke a command.

Each commit is built in one root with the parts that its own tree names; the tree moves from commit to commit and its
build folder stays. Where the guilty commit moved the pin of a vendored source, the search goes on inside that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from xpusetup.commands.nightlies import NAME as WHEELS
from xpusetup.commands.nightlies import names_nightlies, search_nightlies
from xpusetup.commands.notebook import SHOWN, Bench, Hunt, Notebook
from xpusetup.commands.result import Result
from xpusetup.commands.workspace import open_workspace
from xpusetup.effects.ancestry import check_out, open_ancestry
from xpusetup.effects.environment import variables
from xpusetup.effects.git import list_refs, read_files
from xpusetup.errors import UsageError
from xpusetup.order import find_needed
from xpusetup.refs import COMMIT, Found, choose, names_to_ask
from xpusetup.search import Trial, decide
from xpusetup.settings import make_network

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.commands.build import BuildOptions
    from xpusetup.commands.places import Where
    from xpusetup.commands.workspace import Workspace
    from xpusetup.model import Request
    from xpusetup.profile import SourceComponent, Vendored
    from xpusetup.search import Answer


@dataclass(frozen=True, kw_only=True)
class Line:
    """The commits of one repository that are searched."""

    name: str
    address: str
    good: str
    bad: str


def bisect(where: Where, request: Request, options: BuildOptions, hunt: Hunt) -> Result:
    """Find the first bad commit. Raises UsageError for refs between which there is nothing to find."""
    if not hunt.command:
        raise UsageError("bisect needs a command", fix="xpusetup bisect --good REF --bad REF -- python test.py")
    base = open_workspace(where)
    part = _component(base, hunt.component)
    own = where if where.root else replace(where, name=where.name or f"{base.root.name}-bisect")
    root = open_workspace(own).root
    env = {**variables(), **make_network(base.settings.network, variables())}
    by_wheels = names_nightlies(hunt.good, hunt.bad)
    good, bad = (ref if by_wheels else _resolve(part, ref, env) for ref in (hunt.good, hunt.bad))
    asked = {"component": part.name, "good": good, "bad": bad, "command": list(hunt.command)}
    only = request.only or (part.name,)
    request = replace(request, verify="off", only=(*find_needed(base.profile.components, only), *only))
    notebook = Notebook(root / "results/bisect.json", asked)
    bench = Bench(where=own, request=request, options=options, hunt=hunt, part=part, notebook=notebook, env=env)
    wheels = search_nightlies(base, bench) if by_wheels else None
    good, bad = (wheels.good.commit, wheels.bad.commit) if wheels else (good, bad)
    line = Line(name=part.name, address=part.repo, good=good, bad=bad)
    answer = _search(bench, line, ())
    inside = _look_inside(bench, line, answer.culprit) if answer.culprit else None
    result = _result(base, bench, line, answer, inside)
    told = wheels.document(notebook.trials(WHEELS)) if wheels else None
    return replace(result, data={**result.data, "nightlies": told})


def _component(workspace: Workspace, name: str) -> SourceComponent:
    sources = {part.name: part for part in workspace.profile.components if part.kind == "source"}
    if name in sources:
        return sources[name]
    raise UsageError(
        f"{workspace.profile.name} builds no {name!r} from source",
        fix=f"name another: --component {' or '.join(sources)}",
    )


def _resolve(part: SourceComponent, ref: str, env: Mapping[str, str]) -> str:
    if COMMIT.fullmatch(ref):
        return ref
    return choose(ref, part.repo, list_refs(part.repo, names_to_ask(ref), env)).rev


def _search(bench: Bench, line: Line, pinned: tuple[str, ...]) -> Answer:
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
        answer = decide(left, bad, tried)
        if not answer.next:
            return answer
        bench.say(f"{line.name}: {len(left)} commits left, {answer.next[:SHOWN]} is tried")
        trial = _try(bench, line, answer.next, pinned)
        bench.notebook.add(line.name, trial)
        bench.say(f"{line.name}: {trial.rev[:SHOWN]} is {trial.verdict} ({trial.why})")


def _try(bench: Bench, line: Line, rev: str, pinned: tuple[str, ...]) -> Trial:
    if not pinned:
        return bench.build_and_try(rev)
    tree = bench.notebook.path.parent / f"bisect/{line.name}"
    check_out(line.address, rev, tree, bench.env)
    return replace(bench.build_and_try(pinned[0], ((line.name, str(tree)),)), rev=rev)


def _look_inside(bench: Bench, line: Line, culprit: str) -> dict[str, Any] | None:
    """Go on inside a vendored source whose pin the guilty commit moved, where the old pin still works with it."""
    parent = open_ancestry(line.address, bench.env).describe(culprit).parent
    for item in bench.part.vendored:
        old, new = (_pin(bench, item, rev) for rev in (parent, culprit))
        if not (old and new) or old == new:
            continue
        inner = Line(name=item.name, address=item.repo, good=old, bad=new)
        bench.say(f"{culprit[:SHOWN]} moves {item.name} from {old[:SHOWN]} to {new[:SHOWN]}: does the old one work?")
        trial = bench.notebook.find(item.name, old) or _try(bench, inner, old, (culprit,))
        bench.notebook.add(item.name, trial)
        if trial.verdict == "good":
            answer = _search(bench, inner, (culprit,))
            return {"component": item.name, "good": old, "bad": new, **_describe(bench, inner, answer)}
        bench.say(f"with the {item.name} of before it is {trial.verdict} too: the commit itself is guilty")
    return None


def _pin(bench: Bench, item: Vendored, rev: str) -> str:
    if not item.pin_file or not rev or item.clones:  # what the build clones by itself has no tree to be tried
        return ""
    text = read_files(bench.part.repo, Found(rev), [item.pin_file], bench.env)[item.pin_file] or ""
    return next((word for word in text.split() if COMMIT.fullmatch(word)), "")


def _describe(bench: Bench, line: Line, answer: Answer) -> dict[str, Any]:
    graph = open_ancestry(line.address, bench.env)
    trials = bench.notebook.trials(line.name)
    return {
        "culprit": asdict(graph.describe(answer.culprit)) if answer.culprit else None,
        "suspects": [asdict(graph.describe(rev)) for rev in answer.suspects],
        "trials": [trial.document() for trial in trials],
    }


def _result(base: Workspace, bench: Bench, line: Line, answer: Answer, inside: dict[str, Any] | None) -> Result:
    found = _describe(bench, line, answer)
    trials = [*found["trials"], *(inside["trials"] if inside else [])]
    data = {
        "profile": base.profile.name,
        "root": str(bench.notebook.path.parent.parent),
        "component": line.name,
        "good": line.good,
        "bad": line.bad,
        **found,
        "inside": inside,
        "builds": len(trials),
        "skipped": sum(trial["verdict"] == "skip" for trial in trials),
        "cached": [sum(trial["cached"][number] for trial in trials) for number in (0, 1)],
    }
    return Result("bisect", data, code=0 if answer.culprit and not (inside and not inside["culprit"]) else 1)
