"""emit: the steps of a plan as files for elsewhere, which need no xpusetup; also for a matrix of builds."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT, Layout, Plan, Request
from xpusetup.base.text import hint_at_nearest, name_some
from xpusetup.commands.profiles import ensure_locked
from xpusetup.commands.result import Result
from xpusetup.config.request import parse_arch, render_request
from xpusetup.config.shipped import is_path, load_profile
from xpusetup.config.toolkit import needs_toolkit_here
from xpusetup.emit.dockerfile import FILE, render_apptainer, render_dockerfile
from xpusetup.emit.image import DecidedImage, make_image, notes_of
from xpusetup.emit.image_files import ENGINES
from xpusetup.emit.image_system import Described, Dialect, ImageOrder, Origin, Stage, image_table, parse_package_pins
from xpusetup.emit.instead import check_published, compile_instead, name_runner
from xpusetup.emit.matrix import Cell, MatrixPlace, choose_python, make_places, say_toolkit, say_toolkits
from xpusetup.emit.script import render_readme, render_shell
from xpusetup.machine.gpus import check_targets
from xpusetup.machine.platforms import Line
from xpusetup.machine.tables import target_table
from xpusetup.plan.install import SOURCES, members_without_wheels, say_left_out
from xpusetup.plan.steps import make_plan
from xpusetup.plan.target import make_target
from xpusetup.recommend.machine import known
from xpusetup.run.preflight import probe_all
from xpusetup.run.prepare import preview
from xpusetup.run.root import LOCKED, helper_files, lock_document, pack_helpers
from xpusetup.run.workspace import Where, Workspace, load_settings, open_workspace
from xpusetup.system import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from xpusetup.config.profile import Profile


# The builds of a matrix for `emit`: each a folder that builds as it lies.


VERSION = re.compile(r"\d+\.\d+")


@dataclass(frozen=True, kw_only=True)
class Axes:
    """What several cells are made of: profiles, versions of Python, lists of device targets; empty for the usual one.

    `source` is a key of SOURCES; cells lie in `folder`. `portable`: they go to another machine, where the site's own
    folders mean nothing.
    """

    profiles: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    archs: tuple[tuple[str, ...], ...] = ()
    source: str = "source"
    folder: str = ""
    portable: bool = True


@dataclass(frozen=True, kw_only=True)
class Cells:
    """The builds of a matrix, the files of their folders by name below the folder that is written, and a word on each.

    `notes` say what was asked for otherwise than the profile has it, and what the machines need; `words` are the
    profiles as they were named.
    """

    cells: tuple[Cell, ...]
    files: Mapping[str, str]
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def make_cells(where: Where, request: Request, axes: Axes) -> Cells:
    """Make the builds of a matrix. Raises UsageError where one of its pairs is impossible."""
    spaces = _open(where, axes)
    purpose = SOURCES[axes.source]
    for place, space in spaces.items():
        check_targets(space.profile, place.arch, space.settings, target_table())
    neediest = max(spaces.values(), key=lambda space: needs_toolkit_here(space.profile.toolkit))
    facts = probe_all(neediest, ("python", "toolkits"))  # what targets are made from
    cells: list[Cell] = []
    texts: dict[str, str] = {}
    for place, space in spaces.items():
        seen = make_target(space.profile, facts, space.device, replace(request, arch=place.arch), space.settings)
        version = choose_python(space.profile, place.python, seen.python_version)
        target = replace(seen, python=f"python{version}", python_version=version)  # whatever its place elsewhere
        plan = purpose.make(space.profile, request, target, Layout() if axes.portable else space.layout)
        cells.append(Cell(name=place.name, profile=space.profile, plan=plan))
        folder = _root_files(space.profile, plan, request)
        texts |= {f"{axes.folder}{place.name}/{name}": text for name, text in folder.items()}
    notes = [*(note for space in spaces.values() for note in space.take_notes), *say_toolkits(cells)]
    told = tuple(dict.fromkeys(notes)) if axes.source == "source" else ()
    return Cells(cells=tuple(cells), files=texts, notes=told, words=tuple(dict.fromkeys(each.word for each in spaces)))


def _open(where: Where, axes: Axes) -> dict[MatrixPlace, Workspace]:
    if axes.source not in SOURCES:
        raise UsageError(f"--from cannot be {axes.source!r}", fix=f"use one of: {', '.join(SOURCES)}")
    if where.into:
        raise UsageError("--into names an environment of this machine", fix="leave it out: each build makes its own")
    words = axes.profiles or (str(open_workspace(where).known["named"]),)
    named = [(word, load_profile(word)) for word in words]
    for text in axes.pythons:
        if VERSION.fullmatch(text) is None:
            fix = "as in: --python 3.12 (a path says nothing elsewhere)"
            raise UsageError(f"--python {text!r} is no version", fix=fix)
    spaces: dict[MatrixPlace, Workspace] = {}
    for place in make_places(named, list(axes.pythons), axes.archs, target_table()):
        own = replace(where, profile=place.word, root=f"{where.root}/{axes.folder}{place.name}", python="")
        spaces[place] = ensure_locked(open_workspace(own))
    return spaces


def _root_files(profile: Profile, plan: Plan, request: Request) -> dict[str, str]:
    """Give the files of a folder that is a root: it builds as it lies."""
    return {**render_shell(plan, device_required=request.verify == "require"), **_around(profile, plan)}


def _around(profile: Profile, plan: Plan) -> dict[str, str]:
    """Give what travels with every form."""
    lock = lock_document(profile, plan.target, plan.layout, {})
    return {**helper_files(profile), LOCKED: lock}


# emit slurm, module and github: what drives the builds of a matrix elsewhere.


def emit_slurm(order: EmitOrder) -> Form:
    from xpusetup.emit.slurm import render_slurm  # noqa: PLC0415 - one form is asked for

    made = _cells(order, "source", portable=False)
    scheduler = load_settings().scheduler
    files = {**made.files, **render_slurm(made.cells, scheduler)}
    lacks = not (scheduler.account or scheduler.partition or scheduler.modules)
    notes = (*made.notes, *((NO_SITE,) if lacks else ()))
    then = (f"bash {FOLDER}/submit.sh", f"xpusetup status --root {FOLDER}")
    return Form(files=files, start=f"bash {FOLDER}/fetch.sh", then=then, notes=notes)


NO_SITE = Advice(
    "no site file names an account, a partition or modules, so that the jobs ask for none; what this place needs: ",
    Command("xpusetup setup site"),
)


def emit_module(order: EmitOrder) -> Form:
    from xpusetup.emit.lmod import FOLDER as SOFTWARE  # noqa: PLC0415 - one form is asked for
    from xpusetup.emit.lmod import render_modules  # noqa: PLC0415 - same

    made = _cells(order, "source", folder=SOFTWARE)
    files = {**made.files, **render_modules(made.cells, load_settings().module)}
    start = f"bash {FOLDER}/{SOFTWARE}{made.cells[0].name}/build.sh"
    own = next(name for name in files if name.endswith(".lua")).removesuffix(".lua")
    then = (f"module use {FOLDER}/{own.partition('/')[0]}", f"module load {own.partition('/')[2]}")
    return Form(files=files, start=start, then=then, notes=made.notes)


def emit_github(order: EmitOrder) -> Form:
    """Give a workflow, and a folder for each build of the matrix.

    Raises UsageError where what compiles would run on a machine that GitHub hosts, because nobody named another, and
    where no job would have wheels to check.
    """
    from xpusetup.emit.github import FOLDER as BUILDS  # noqa: PLC0415 - one form is asked for
    from xpusetup.emit.github import HOSTED, WORKFLOW, Runners, render_github  # noqa: PLC0415 - same

    options = {name: str(order.options.get(name) or "") for name in ("from", "label", "gpu_label", "extension")}
    _check_words(options)
    made = _cells(order, "wheels", folder=BUILDS)
    for cell in made.cells:
        if cell.profile.installer is not None:
            message = f"{cell.profile.name} is installed by its maker: no wheels come of it that a job could hand on"
            line = Command(f"xpusetup emit shell --profile {cell.profile.name} --out DIR", gaps=("DIR",))
            raise UsageError(message, fix="as in: ", command=line)
    if options["from"] == "source" and not options["label"]:
        raise UsageError(
            "a build from source needs more than a runner that GitHub hosts: 14 GB of disk and 6 hours",
            fix=name_runner(published=all(cell.profile.published for cell in made.cells)),
        )
    runners = Runners(
        label=options["label"] or HOSTED,
        gpu_label=options["gpu_label"],
        extension=options["extension"],
        again=_again(order, options, made.words),
    )
    files = {**made.files, **render_github(made.cells, runners)}
    start = f"git -C {FOLDER} add {WORKFLOW.split('/')[0]}"
    then = (f"git -C {FOLDER} commit -m 'Builds against PyTorch'", f"git -C {FOLDER} push")
    return Form(files=files, start=start, then=then, notes=made.notes)


def _check_words(options: Mapping[str, str]) -> None:
    """Refuse what would not be one plain word in the workflow."""
    for name in ("label", "gpu_label"):
        if options[name] and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", options[name]) is None:
            raise UsageError(f"{options[name]!r} is no label of a runner", fix="letters, digits, '.', '_' and '-'")
    if options["extension"] and not all(part.isidentifier() for part in options["extension"].split(".")):
        fix = "as in import NAME: --extension NAME"
        raise UsageError(f"--extension {options['extension']!r} is no module", fix=fix)


def _again(order: EmitOrder, options: Mapping[str, str], profiles: tuple[str, ...]) -> tuple[str, ...]:
    """Give the command that writes the same form anew in the folder that was written, whoever calls it there."""
    folder = Path(order.places[0].root).absolute()
    paths = (Path(word).absolute() if is_path(word) else None for word in profiles)
    inside = (str(path.relative_to(folder)) if path and path.is_relative_to(folder) else "" for path in paths)
    words = [word for own, given in zip(inside, profiles, strict=True) for word in ("--profile", own or given)]
    several = {"--python": "pythons", "--arch": "archs"}
    words += [
        word for option, name in several.items() for text in order.options.get(name, ()) for word in (option, text)
    ]
    named = {"--from": "from", "--label": "label", "--gpu-label": "gpu_label", "--extension": "extension"}
    words += [word for option, name in named.items() if options[name] for word in (option, options[name])]
    revs = [word for rev in order.places[0].rev for word in ("--rev", rev)]
    revs += [word for take in order.places[0].take for word in ("--take", take)]
    revs += ["--toolkit", order.places[0].toolkit] if order.places[0].toolkit else []
    return ("xpusetup", "emit", "github", *words, *revs, *render_request(order.request), "--out", ".")


def _cells(order: EmitOrder, source: str, *, folder: str = "", portable: bool = True) -> Cells:
    options = order.options
    axes = Axes(
        profiles=tuple(options.get("profiles", ())),
        pythons=tuple(options.get("pythons", ())),
        archs=tuple(parse_arch(text) for text in options.get("archs", ()) if text != "auto"),
        source=options.get("from") or source,
        folder=folder,
        portable=portable,
    )
    if axes.source == "wheels" and axes.archs:
        message = "published wheels hold the device targets that they hold"
        raise UsageError(message, fix="leave --arch out, or: ", command=compile_instead(source, options))
    if axes.source == "wheels":
        check_published(map(load_profile, axes.profiles), compile_instead(source, options))
    where = replace(order.places[0], python="", profile=axes.profiles[0] if axes.profiles else "")
    made = make_cells(where, replace(order.request, arch=()), axes)
    if axes.source != "wheels":
        return made
    left = {name: members_without_wheels(load_profile(name)) for name in axes.profiles}  # of stacks, by wheels alone
    says = (f"{name}: {say_left_out(names)}" for name, names in left.items() if names)
    return replace(made, notes=(*made.notes, *says))


# What a form of a plan is asked and what it gives: the two ends of every kind that `emit` knows.


FOLDER = "@FOLDER@"
"""Stands in the lines of a form for the folder that is written."""
SOME = frozenset(
    {"from", "os", "target", "dialect", "base", "driver", "pin", "label", "gpu-label", "extension", "verify"}
)
"""The options that some forms know; all know the others."""
COMPILING = ("rev", "take", "toolkit", "set", "only", "until")
"""The options that choose what is compiled, and how."""


@dataclass(frozen=True, kw_only=True)
class EmitOrder:
    """What was asked of a form: for which profiles and places (several make a matrix), and what its options say."""

    places: tuple[Where, ...]
    request: Request
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def only_place(self) -> Where:
        """The one place, for a form that has no matrix. Raises UsageError where there are several."""
        if len(self.places) != 1:
            raise UsageError("this form is for one profile", fix="name one --profile, and write the others elsewhere")
        return self.places[0]


@dataclass(frozen=True, kw_only=True)
class Form:
    """What a form consists of: texts by file name, the lines that begin with them and that use what comes of it.

    `notes` are worth saying.
    """

    files: Mapping[str, str]
    start: str = ""
    then: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A form of a plan: what makes its files, and which options mean something to it beside those of every form.

    `make` raises XpuError for what this form cannot be, before anything is written. `origin` is where its packages are
    from unless --from says so.
    """

    make: Callable[[EmitOrder], Form]
    options: frozenset[str] = frozenset()
    origin: str = "source"


def check_options(name: str, kinds: Mapping[str, Kind], order: EmitOrder) -> None:
    """Raise UsageError for what a form does not know: no option is passed over in silence."""
    place, request, kind = order.places[0], order.request, kinds[name]
    given = {
        **order.options,
        "rev": place.rev,
        "take": place.take,
        "toolkit": place.toolkit,
        "only": request.only,
        "until": request.until,
        "set": request.set,
        "verify": "" if request.verify == "auto" else request.verify,
    }
    asked = [option.replace("_", "-") for option, value in given.items() if value]
    for option in asked:
        if option in SOME and option not in kind.options:
            knowing = [other for other, each in kinds.items() if option in each.options]
            fix = f"leave it out; the forms that know it: {', '.join(knowing)}"
            raise UsageError(f"--{option} is not an option of the form {name}", fix=fix)
    origin = order.options.get("from") or kind.origin
    if origin == "wheels" and (idle := [option for option in asked if option in COMPILING]):
        message = f"--{idle[0]} does nothing here: published wheels are installed, and nothing is compiled"
        raise UsageError(
            message, fix=f"leave --{idle[0]} out, or: ", command=compile_instead(kind.origin, order.options)
        )


# Images of a plan: from the options of `emit` to a decided image, and the files of its form.


CHOICES: Mapping[str, tuple[str, ...]] = {
    "target": get_args(Stage),
    "from": get_args(Origin),
    "dialect": get_args(Dialect),
    "driver": ("", *get_args(Line)),
}
"""The words that an option takes, by its name."""


def emit_dockerfile(order: EmitOrder) -> Form:
    image = decide_image(order)
    engine = " ".join(ENGINES[image.order.dialect])
    texts = {**_around(image.profile, image.plan), **render_dockerfile(image)}
    device = f"{OF_DEVICE} " if image.profile.accelerator == "xpu" else ""
    run = f"{engine.split()[0]} run --rm {device}{image.profile.name}"
    return Form(files=texts, start=f"{engine} -t {image.profile.name} {FOLDER}", then=(run,), notes=notes_of(image))


OF_DEVICE = '--device /dev/dri --group-add "$(stat -c %g /dev/dri/renderD128)"'
"""Gives a container the GPU, and the group that may use it, whose number differs from host to host."""


def emit_apptainer(order: EmitOrder) -> Form:
    image = decide_image(order)
    texts = {**_around(image.profile, image.plan), **render_apptainer(image)}
    file = f"{image.profile.name}.sif"
    start, run = f"cd {FOLDER} && apptainer build {file} {FILE}", f"apptainer run {FOLDER}/{file}"
    return Form(files=texts, start=start, then=(run,), notes=notes_of(image))


def decide_image(order: EmitOrder) -> DecidedImage:
    """Decide what image is meant. Raises UsageError for one that cannot be."""
    if order.request.only or order.request.until:
        raise UsageError("an image holds the whole of a profile", fix="leave --only and --until out")
    workspace = ensure_locked(open_workspace(order.only_place))
    if workspace.layout.adopted:
        raise UsageError("an image has an environment of its own", fix="leave --into out")
    check_targets(workspace.profile, order.request.arch, workspace.settings, target_table())
    about = Described(known=known(), images=image_table(), device=workspace.device)
    image = make_image(workspace.profile, order.request, make_image_order(order), about)
    return replace(image, said=workspace.take_notes)


def make_image_order(order: EmitOrder) -> ImageOrder:
    """Read the options of an image. Raises UsageError for a word that means nothing."""
    told = {name: value for name, value in order.options.items() if value}
    for name, words in CHOICES.items():
        if (word := told.get(name, words[0])) not in words:
            raise UsageError(f"--{name} cannot be {word!r}", fix=f"use one of: {', '.join(filter(None, words))}")
    return ImageOrder(
        system=told.get("os", ImageOrder.system),
        target=told.get("target", ImageOrder.target),
        origin=told.get("from", ImageOrder.origin),
        dialect=told.get("dialect", ImageOrder.dialect),
        base=told.get("base", ""),
        python=order.only_place.python,
        line=told.get("driver"),
        pins=parse_package_pins(told.get("pin", ())),
    )


# emit: the steps of a plan as files for elsewhere, which need no xpusetup.


@dataclass(frozen=True)
class Emitted:
    """The files of a form, the command that begins with them, those that use what comes of it, and what to know."""

    kind: str
    files: list[str]
    start: str
    then: list[str]
    notes: list[str]


def emit(kind: str, order: EmitOrder, out: str) -> Result[Emitted]:
    if kind not in KINDS:
        message = f"there is no form {kind!r}{hint_at_nearest(kind, KINDS)}"
        raise UsageError(message, fix=f"there is: {', '.join(KINDS)}")
    if not out:
        line = Command("the same command with -o DIR", again=("-o", "DIR"), gaps=("DIR",))
        raise UsageError("emit needs -o DIR", command=line)
    check_options(kind, KINDS, order)
    form = KINDS[kind].make(order)
    folder, contents = Path(out), pack_helpers(form.files)
    anew = _spare(folder, contents)
    for name, data in sorted(contents.items(), key=lambda each: not each[0].endswith(LOCKED)):
        files.write_text(folder / name, data, executable=name.endswith((".sh", ".sbatch")))
    written = [str(folder / name) for name in sorted(contents)]
    named = shlex.quote(f"./{out}" if out.startswith("-") else out)
    start, *then = (line.replace(FOLDER, named) for line in (form.start, *form.then))
    if form.start.startswith("git -C ") and not (folder / ".git").exists():
        start, then = Command(f"cp -r {named}/.github YOUR-REPOSITORY/", gaps=("YOUR-REPOSITORY",)), []
    return Result(
        "emit", Emitted(kind, written, start, then, [*form.notes, *anew, *dict.fromkeys(_guesses(form.files))])
    )


def _spare(folder: Path, contents: Mapping[str, bytes]) -> tuple[str, ...]:
    """Raise UsageError where files of somebody else would be written over.

    A form that lies there is written anew: give a word on its files that change, of which somebody may have edited one.
    """
    builds = {Path(name).parent for name in contents if Path(name).name == LOCKED}
    beside = {folder / each.parent for each in builds if each.parts}
    forms = [
        *(folder / each / LOCKED for each in builds),
        *(path for each in beside for path in each.glob(f"*/{LOCKED}")),
    ]
    there = {name: data for name, data in contents.items() if os.path.lexists(folder / name)}
    own = sorted(name for name, data in there.items() if files.read_bytes(folder / name) != data)
    # each README of a form names this program
    foreign = [each for each in own if each == "README.md" and "xpusetup" not in (files.read_text(folder / each) or "")]
    named = name_some(foreign or own)
    if foreign or (own and not any(path.exists() for path in forms)):
        raise UsageError(
            f"{folder} has files of its own that this would write over: {named}",
            fix="name a folder that is empty or not there yet: --out DIR",
        )
    return (f"a form was there; what differed was written anew: {named}",) if own else ()


def _guesses(texts: Mapping[str, str]) -> Iterator[str]:
    """Say of each wheel whose version no lock has mended that it is a guess."""
    for text in (text for path, text in sorted(texts.items()) if path.endswith(LOCKED)):
        for part in json.loads(text)["profile"]["components"]:
            if part["kind"] == "wheel" and part.get("reason"):
                yield f"{part['distribution']} {part['version']} is {part['reason']}"


def emit_shell(order: EmitOrder) -> Form:
    """Give the step scripts and build.sh. The folder is a root: it builds as it lies."""
    asked = order.only_place.python if VERSION.fullmatch(order.only_place.python) else ""
    place = replace(order.only_place, python="") if asked else order.only_place  # it need not be here
    workspace = ensure_locked(open_workspace(place))
    seen = preview(workspace, order.request, here=False).plan
    version = choose_python(workspace.profile, asked, seen.target.python_version)
    named = workspace.layout.python if workspace.layout.adopted else f"python{version}"
    target = replace(seen.target, python=named, python_version=version)  # whatever its place elsewhere
    moved = make_plan(workspace.profile, order.request, target, workspace.layout)
    texts = _root_files(workspace.profile, moved, order.request)
    texts["README.md"] = render_readme(moved)
    needs = say_toolkit(workspace.profile, target.toolkit, target.arch) if target.toolkit else ""
    venv = workspace.layout.venv.replace(ROOT, FOLDER)
    notes = (*workspace.take_notes, *filter(None, (needs,)))
    return Form(files=texts, start=f"bash {FOLDER}/build.sh", then=(f"source {venv}/bin/activate",), notes=notes)


IMAGE = frozenset({"from", "os", "target", "base", "driver", "pin"})
MATRIX = frozenset({"from", "verify"})
KINDS = {
    "shell": Kind(make=emit_shell, options=frozenset({"verify"})),
    "dockerfile": Kind(make=emit_dockerfile, options=IMAGE | {"dialect"}),
    "apptainer": Kind(make=emit_apptainer, options=IMAGE),
    "slurm": Kind(make=emit_slurm, options=MATRIX),
    "module": Kind(make=emit_module, options=MATRIX),
    "github": Kind(make=emit_github, options=MATRIX | {"label", "gpu-label", "extension"}, origin="wheels"),
}
"""The forms, each with the options that it knows beside those of all."""
