"""What goes into a bundle, and the plan that gathers it."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from packaging.utils import parse_wheel_filename

from xpusetup import __version__
from xpusetup.base.document import read_as, to_table
from xpusetup.base.errors import WorkFailedError
from xpusetup.base.model import ROOT, Plan, Request, Step
from xpusetup.base.values import PACKAGED
from xpusetup.bundle.contents import ARCHIVES, PROGRAM, TOOLKIT, WHEELS, Bundle, missing_wheels
from xpusetup.bundle.io import CheckedOutTree, hash_members, list_trees, tags_at, write_pack
from xpusetup.config.new_profile import render_profile
from xpusetup.config.profile import Profile, SourceComponent
from xpusetup.plan.context import Context
from xpusetup.plan.install import INSTALL, make_gathering
from xpusetup.plan.lanes import lane_of
from xpusetup.plan.requirements import ARCHIVES as STORE
from xpusetup.plan.requirements import RECORD
from xpusetup.run.manifest import list_wheels
from xpusetup.run.prepare import PreparedPlan
from xpusetup.run.workspace import Workspace
from xpusetup.system import files

# The plan that gathers what a build fetches, for a bundle: its network steps, and wheels of what it installs.


GATHERED = f"{ROOT}/bundle"
"""What lies here is of use until the bundle is written."""
ALWAYS = ("venv", "requirements")
FIRST = ("venv", "survey")


def make_bundle_plan(
    profile: Profile, request: Request, plan: Plan, program: Sequence[str], installer: str = ""
) -> Plan:
    """Give a build's fetching steps and those that gather wheels.

    `program` are version, source and constraints of this program, `installer` is the address of the toolkit's.
    """
    context = Context(profile, request, plan.target, plan.layout)
    wanted = {step.id for step in plan.steps if step.component and step.id.endswith(".fetch")} | {*ALWAYS}
    steps = [step for step in plan.steps if step.id in wanted]
    kit = (_make_installer(context, installer),) if installer else ()
    gathering = (_make_wheels(context, plan), _make_program(context, program))
    return replace(plan, steps=(*steps, *kit, *gathering))


def make_wheel_bundle_plan(profile: Profile, request: Request, plan: Plan, program: Sequence[str]) -> Plan:
    """Give the steps that fetch what an installation installs, and those that gather it with what it requires."""
    if profile.published is None:
        return plan
    context = Context(profile, request, plan.target, plan.layout)
    steps = [step for step in plan.steps if step.id in FIRST or step.id.endswith(".download")]
    wheels = make_gathering(context, profile.published, f"{GATHERED}/{WHEELS}", "bundle.wheels")
    return replace(plan, steps=(*steps, wheels, _make_program(context, program, after="venv")))


def bundled_pins(profile: Profile, plan: Plan) -> list[str]:
    """Give the pins that a plan takes from wheels: build requirements; where it has them, run time and tool chain."""
    runtime, kit = profile.runtime_requirements, profile.toolkit
    more = [*(runtime.pins if runtime and _has(plan, "runtime") else [])]
    made = [pin for pin in (kit.pins if kit and _has(plan, "toolkit") else []) if pin not in more]
    return [*profile.build_requirements.pins, *more, *made]


def _has(plan: Plan, name: str) -> bool:
    return any(step.id == name for step in plan.steps)


def bundled_parts(plan: Plan) -> list[str]:
    fetches = (".fetch", ".download")
    return [step.component for step in plan.steps if step.id.endswith(fetches) and lane_of(step) == "network"]


def _make_wheels(context: Context, plan: Plan) -> Step:
    # The folder is emptied first: pip takes a file that is there for whole.
    folder = f"{GATHERED}/{WHEELS}"
    names = (
        *(("build",) if context.profile.build_requirements.pins else ()),
        *(("runtime",) if _has(plan, "runtime") else ()),
    )
    wanted = (names, *((("toolkit",),) if _has(plan, "toolkit") else ()))  # pip takes one version of each at once
    fetch = (
        context.helper("pinned_wheels.py", "download", *context.pinned(*each), "--into", folder) for each in wanted
    )
    return Step(
        id="bundle.wheels",
        title="wheels of the pinned requirements",
        run=(("rm", "-rf", folder), *fetch),
        needs=("network",),
        after=("requirements",),
        locks=("venv",),
    )


def _make_installer(context: Context, url: str) -> Step:
    file = f"{GATHERED}/{TOOLKIT}/{url.rpartition('/')[2]}"
    words = ("--url", url, "--store", f"{GATHERED}/{TOOLKIT}", "--record", RECORD)
    return Step(
        id="bundle.toolkit",
        title="the toolkit's offline installer",
        run=(context.helper("fetch_archive.py", *words),),
        needs=("network",),
        after=("venv",),
        makes=(file,),
    )


def _make_program(context: Context, program: Sequence[str], after: str = "requirements") -> Step:
    """Gather this program in the versions that run here: what was never tried together is not carried over."""
    version, source, constraints = program
    folder = f"{GATHERED}/{PROGRAM}"
    words = ("wheel", "--wheel-dir", folder, "--constraint", constraints, source)
    return Step(
        id="bundle.program",
        title=f"xpusetup {version} and what it requires",
        run=(("rm", "-rf", folder), context.pip(*words)),
        needs=("network",),
        after=(after,),
        locks=("venv",),
        makes=(f"{folder}/xpusetup-{version}-*.whl",),
    )


# What goes into a bundle, from a root in which everything was fetched.


@dataclass
class _Gathered:
    """A repository as its trees are found: the addresses it is asked by, packs by commit, refs by name."""

    folder: str
    addresses: dict[str, None] = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)


def collect(workspace: Workspace, prepared: PreparedPlan, say: Callable[[str], None]) -> tuple[Bundle, dict[str, Path]]:
    """Give what the bundle says of itself, and its files by name. Raises WorkFailedError where something lacks."""
    place = Path(GATHERED.replace(ROOT, str(prepared.root.path)))
    install = prepared.purpose is INSTALL
    parts = bundled_parts(prepared.plan)
    pins = _gathered_pins(place) if install else bundled_pins(workspace.profile, prepared.plan)
    sources = [
        part
        for part in workspace.profile.components
        if not install and part.kind == "source" and part.name in parts and not part.repo.startswith(PACKAGED)
    ]
    repositories = _repositories(prepared, sources, place, say)
    file = f"profile/{workspace.base.name}.toml"
    files.write_text(place / file, render_profile(workspace.base, "The profile that this bundle was made for."))
    found = {file: place / file, **_packs(repositories, place), **_wheels(workspace, prepared, parts, place)}
    found |= {f"{TOOLKIT}/{path.name}": path for path in sorted((place / TOOLKIT).glob("*.sh"))}
    found |= {f"{ARCHIVES}/{path.name}": path for path in _archives(prepared, sources)}
    say(f"hashing {len(found)} files")
    bundle = _describe(workspace, prepared, found, (parts, pins), repositories)
    if lacking := missing_wheels(pins, bundle.python, bundle.machine, bundle.names(WHEELS)):
        raise WorkFailedError(f"no wheel was gathered of {', '.join(lacking)}", fix="the same command again")
    return bundle, found


def _archives(prepared: PreparedPlan, sources: list[SourceComponent]) -> list[Path]:
    """Give what builds take ready made, as it came."""
    folder = Path(STORE.replace(ROOT, str(prepared.root.path)))
    names = {url.rpartition("/")[2] for part in sources for url in part.archive_urls}
    return [path for path in sorted(folder.glob("*")) if path.name in names]


def _gathered_pins(place: Path) -> list[str]:
    """Give what an installation installs as pins: the versions that were found and fetched."""
    named = (parse_wheel_filename(path.name)[:2] for path in sorted((place / WHEELS).glob("*.whl")))
    return [f"{name}=={version}" for name, version in named]


def _describe(
    workspace: Workspace,
    prepared: PreparedPlan,
    found: dict[str, Path],
    served: tuple[list[str], list[str]],
    repositories: list[_Gathered],
) -> Bundle:
    facts = prepared.facts
    python = facts.python.version if facts and facts.python else ""
    machine = facts.system.machine if facts and facts.system else ""
    described: list[dict[str, Any]] = [
        {"folder": each.folder, "addresses": list(each.addresses), "commits": each.commits, "refs": each.refs}
        for each in repositories
    ]
    return read_as(
        Bundle,
        {
            "schema": 1,
            "created_by": __version__,
            "purpose": prepared.purpose.command,
            "profile": to_table(workspace.profile),
            "base": to_table(workspace.base),
            "file": f"profile/{workspace.base.name}.toml",
            "revs": workspace.revs,
            "takes": workspace.takes,
            "parts": served[0],
            "pins": served[1],
            "python": python,
            "machine": machine,
            "toolkit": workspace.known.get("toolkit", ""),
            "repositories": described,
            "members": hash_members(found),
        },
    )


def _repositories(
    prepared: PreparedPlan, sources: list[SourceComponent], place: Path, say: Callable[[str], None]
) -> list[_Gathered]:
    """Pack every commit of every tree, submodule and vendored source."""
    found: dict[str, _Gathered] = {}
    for part in (each for each in sources if each.from_git):
        tree = Path(prepared.plan.layout.src.replace(ROOT, str(prepared.root.path))) / part.name
        own = {f"refs/tags/{part.tag}" if part.tag else "", part.ref} - {""}
        for one in list_trees(tree, (part.repo,), part.sparse):
            _add(found, one, own if one.path == tree else set(), place, say)
        for item in part.vendored:
            for one in list_trees(tree / item.path, (item.repo,)):
                top = one.path == tree / item.path
                tags = tags_at(one.path) if item.clones else [item.tag] if item.tag else []
                _add(found, one, {f"refs/tags/{tag}" for tag in tags if top}, place, say)
    return list(found.values())


def _add(
    found: dict[str, _Gathered], tree: CheckedOutTree, refs: set[str], place: Path, say: Callable[[str], None]
) -> None:
    address = tree.addresses[0]
    gathered = found.setdefault(address, _Gathered(_folder(address)))
    gathered.addresses.update(dict.fromkeys(tree.addresses))
    gathered.refs.update(dict.fromkeys(sorted(refs), tree.rev))
    name = f"{gathered.folder.removesuffix('.git')}-{tree.rev}.pack"
    say(f"packing {address} {tree.rev[:9]}")
    write_pack(tree, place / name)
    gathered.commits[tree.rev] = name


def _folder(address: str) -> str:
    """Give a folder name that people know, and that no two addresses share."""
    last = re.sub(r"[^A-Za-z0-9._-]", "-", address.rstrip("/").rpartition("/")[2].removesuffix(".git")).lstrip(".-")
    return f"git/{last or 'repository'}-{hashlib.sha256(address.encode()).hexdigest()[:8]}.git"


def _packs(repositories: list[_Gathered], place: Path) -> dict[str, Path]:
    return {name: place / name for each in repositories for name in each.commits.values()}


def _wheels(workspace: Workspace, prepared: PreparedPlan, parts: list[str], place: Path) -> dict[str, Path]:
    """Give the wheels of the pins, the ready ones of the profile, and those of this program."""
    ready = {part.distribution for part in workspace.profile.components if part.kind == "wheel" and part.name in parts}
    if prepared.purpose is INSTALL:  # gathered with the others
        ready = set()
    taken = [Path(wheel.path) for wheel in list_wheels(prepared.root, workspace.profile) if wheel.name in ready]
    gathered = [*(place / WHEELS).glob("*.whl"), *taken]
    own = (place / PROGRAM).glob("*.whl")
    return {**{f"{WHEELS}/{path.name}": path for path in gathered}, **{f"{PROGRAM}/{path.name}": path for path in own}}
