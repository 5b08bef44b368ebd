"""bundle create: all that a build would fetch, in one file."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.amounts import render_size
from xpusetup.bundles.contents import PROGRAM, TOOLKIT, WHEELS, render_bundle
from xpusetup.bundles.installers import ORIGIN, choose_installer, parse_installers
from xpusetup.commands.collecting import collect
from xpusetup.commands.explain import describe_failure
from xpusetup.commands.locking import ensure_locked
from xpusetup.commands.prepare import forget_damaged, preview, write_prepared
from xpusetup.commands.result import Result
from xpusetup.commands.unverified import describe_unverified
from xpusetup.commands.workspace import open_workspace
from xpusetup.effects import files
from xpusetup.effects.bundle_file import read_head, write_bundle
from xpusetup.effects.clock import now
from xpusetup.effects.download import download
from xpusetup.effects.environment import short_path, variables
from xpusetup.effects.lock import hold_lock
from xpusetup.effects.program import describe_program
from xpusetup.effects.root import open_root
from xpusetup.effects.runner import Run, run_plan
from xpusetup.emit.script import render_script
from xpusetup.errors import UsageError, WorkFailedError
from xpusetup.events import Event
from xpusetup.model import ROOT
from xpusetup.plan.bundle import GATHERED, make_bundle_plan
from xpusetup.settings import make_network

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.bundles.contents import Bundle
    from xpusetup.bundles.installers import Installer
    from xpusetup.commands.places import Where
    from xpusetup.commands.prepare import Prepared
    from xpusetup.commands.workspace import Workspace
    from xpusetup.model import Request

GATHERING = ("bundle.wheels", "bundle.program")


@dataclass(frozen=True, kw_only=True)
class CreateOptions:
    """What to write, and whether with the toolkit's offline installer."""

    file: str
    toolkit: bool = False
    observe: Callable[[Event], None] = field(default=lambda _event: None)


def create(where: Where, request: Request, options: CreateOptions) -> Result:
    """Fetch what a build of a profile would fetch, into its root, and write it into one file."""

    def say(text: str) -> None:
        options.observe(Event(kind="note", time=now(), text=text))

    file = Path(options.file).absolute()
    workspace = open_workspace(where)
    _refuse_place(file, options.file, workspace.root)
    _refuse_installer(workspace)
    workspace = ensure_locked(workspace, say)
    installer = _choose_installer(workspace, request) if options.toolkit else None
    root = open_root(workspace.root)
    with hold_lock(root / "lock", say) as lock:
        prepared = _prepare(workspace, request)
        write_prepared(workspace, request, prepared)
        for text in forget_damaged(prepared.root):
            say(f"{text}: it is fetched again")
        _fetch(workspace, prepared, lock, options)
        place = root / "bundle"
        if installer is None:
            shutil.rmtree(place / TOOLKIT, ignore_errors=True)
        else:
            download(installer.address, place / TOOLKIT / installer.address.rpartition("/")[2], say)
        bundle, members = collect(workspace, prepared, say)
        say(f"writing {render_size(bundle.size)} in {len(members)} files to {short_path(str(file))}")
        write_bundle(file, render_bundle(bundle), members)
        _forget(prepared)
        shutil.rmtree(place)
    unverified = describe_unverified(workspace.profile, root, prepared.plan)
    more = {"root": str(workspace.root), "unverified": unverified}
    return Result("bundle create", {**describe(bundle), **more, **describe_file(file)})


def _refuse_installer(workspace: Workspace) -> None:
    if workspace.profile.installer is not None:
        message = (
            f"{workspace.profile.name} is installed by {workspace.profile.installer.program}, which fetches itself"
        )
        raise UsageError(message, fix="take its maker's container image where there is no network")


def _refuse_place(file: Path, name: str, root: Path) -> None:
    """Refuse to write where something would be lost. Raises UsageError."""
    if file.is_dir():
        raise UsageError(f"{name} is a folder", fix=f"name a file: {name}/NAME.tar")
    if file.is_relative_to(root / "bundle"):
        raise UsageError(f"{name} lies where the bundle is gathered, which is emptied", fix="write it elsewhere")
    if file.exists():
        try:
            read_head(file)
        except UsageError as error:
            raise UsageError(f"{name} is there, and is no bundle", fix="name another file, or remove it") from error


def _choose_installer(workspace: Workspace, request: Request) -> Installer:
    wanted = workspace.profile.toolkit
    if request.require_hashes:
        raise UsageError("Intel publishes no hash of oneAPI's offline installer", fix="leave --toolkit out")
    if wanted is None:
        raise UsageError(f"{workspace.profile.name} is built without a toolkit", fix="leave --toolkit out")
    known = parse_installers(files.package_text(ORIGIN))
    return choose_installer(known, wanted, workspace.profile.name)


def _prepare(workspace: Workspace, request: Request) -> Prepared:
    """Make the plan that gathers. The machine need not be one that can build: it has no toolkit, perhaps."""
    seen = preview(workspace, request)
    program = describe_program(seen.root / "bundle")
    plan = make_bundle_plan(workspace.profile, request, seen.plan, program)
    prepared = replace(seen, plan=plan, scripts={step.id: render_script(step, plan) for step in plan.steps})
    gathered = Path(GATHERED.replace(ROOT, str(prepared.root.path)))
    if not all((gathered / name).is_dir() for name in (WHEELS, PROGRAM)):
        _forget(prepared)
    files.remove(prepared.root / "stamps/bundle.program")  # its key does not see that a checkout was edited
    return prepared


def _forget(prepared: Prepared) -> None:
    for name in GATHERING:
        files.remove(prepared.root / f"stamps/{name}")


def _fetch(workspace: Workspace, prepared: Prepared, lock: int, options: CreateOptions) -> None:
    """Run the steps. Raises WorkFailedError with the cause that a step's log tells."""
    text = f"a bundle of {workspace.profile.name} · {short_path(str(prepared.root.path))}"
    options.observe(Event(kind="plan", time=now(), text=text, total=len(prepared.plan.steps)))
    outcome = run_plan(
        Run(
            root=prepared.root,
            plan=prepared.plan,
            scripts=prepared.scripts,
            identities=prepared.identities,
            lock=lock,
            tuning=make_network(workspace.settings.network, variables()),
            observe=options.observe,
        )
    )
    if outcome.failed:
        told = describe_failure(
            prepared.root, outcome.failed, {"command": f"xpusetup bundle create FILE {workspace.options}"}
        )
        causes = [cause["cause"] for cause in told["causes"]]
        why = next(text for text in (*causes, told["first_error"], *told["last_lines"][-1:], "see its log") if text)
        raise WorkFailedError(
            f"{outcome.failed} failed: {why}", fix=f"look at {told['log']}; the same command goes on there"
        )


def describe(bundle: Bundle) -> dict[str, Any]:
    """Give a bundle as JSON values."""
    return {
        "profile": bundle.base.name,
        "revs": bundle.revs,
        "parts": bundle.parts,
        "python": bundle.python,
        "machine": bundle.machine,
        "created_by": bundle.created_by,
        "repositories": [{"address": each.addresses[0], "commits": list(each.commits)} for each in bundle.repositories],
        "wheels": bundle.names(WHEELS),
        "program": bundle.names(PROGRAM),
        "toolkit": bundle.toolkit or None,
        "downloads": [item.model_dump() for item in bundle.downloads],
    }


def describe_file(path: Path) -> dict[str, Any]:
    """Give where a bundle lies, its bytes, and its hash."""
    return {"file": str(path.absolute()), "bytes": path.stat().st_size, "sha256": files.hash_file(path)}
