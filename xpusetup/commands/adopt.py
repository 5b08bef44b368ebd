"""adopt: a project keeps its torch, whatever uv and pip are asked for in it; and all of that taken back."""

import difflib
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from packaging.utils import canonicalize_name

from xpusetup.adopt import pip, uv
from xpusetup.adopt.keeping import FAMILY, InstalledVersion, Keep, Keeping, keep_torch
from xpusetup.base.command import Command
from xpusetup.base.document import read_as
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.commands.env import choose_python
from xpusetup.commands.result import Result
from xpusetup.config.shipped import versions_beside
from xpusetup.machine.probe_fit import interpreter_of, site_packages
from xpusetup.run.workspace import Where
from xpusetup.system import files
from xpusetup.system.environment import from_home, variable

RECORD = ".xpusetup-adopt.json"
"""What was there before, in the project's folder: with it all is taken back."""
PROJECT = "pyproject.toml"
LOCK = "uv.lock"
REQUIREMENTS = "requirements*.txt"
OTHERS = {"poetry.lock": "Poetry", "pdm.lock": "PDM", "Pipfile.lock": "Pipenv", "pixi.lock": "pixi"}
"""Who heeds neither uv's overrides nor pip's settings, by the file that each leaves in a project."""
VENVS = (".venv", "venv")
ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
"""What tells an environment from a system's own Python, whose pip.conf holds for more than a project."""
PRIVATE = 0o600
"""The record repeats files that may hold the password of an index."""
BOM = "\ufeff"
"""With which files begin that were saved on Windows."""


@dataclass(frozen=True)
class FileChange:
    """A file that is written, or taken away, as a diff."""

    path: str
    diff: str


@dataclass(frozen=True, kw_only=True)
class AdoptedProject:
    """What makes a project keep its torch. `kept` stays in its version, `never` must not come beside it.

    `beside`: companions of torch that are not there, in the version and from the index in which one may come.

    The further lines of one of the `notes` are the command that it tells of, or what to write.
    `written`: the files are as the diffs say; `undone`: it was taken back. `apply` is the command that writes it.
    """

    project: str
    environment: str
    kept: list[Keep]
    never: list[str]
    beside: list[Keep]
    changes: list[FileChange]
    notes: list[str]
    written: bool
    undone: bool
    apply: str
    undo: str


@dataclass(frozen=True)
class Saved:
    """A file before and after: None where it was not there."""

    path: str
    before: str | None
    after: str


@dataclass(frozen=True)
class AdoptRecord:
    """What was written, for the way back."""

    environment: str
    keeping: Keeping
    files: list[Saved]


@dataclass(frozen=True)
class Adoption:
    """What would be done: the texts of files (None: it goes), the record to keep, and what is told."""

    folder: Path
    texts: dict[Path, str | None]
    record: AdoptRecord | None
    data: AdoptedProject


def look(folder: str, where: Where) -> Adoption:
    """Find the torch of a project, and what makes it stay; nothing is written.

    Raises UsageError where there is no project, NotReadyError without a torch.
    """
    place = _project(folder)
    _hold_root(place, where)
    environment, by = _environment(place, where)
    own = _own_environment(place)
    outside = own is not None and own != environment and _sees(own, environment)
    there = _installed(environment)
    known = versions_beside(there["torch"].version)
    keeping = keep_torch(there, lambda path: Path(path).is_file(), outside=outside, known=known)
    before = {path: text for path, (text, _) in _taken_back(place).items()}
    before |= _without_lost(own or environment, place, before)
    texts = dict(_edits(place, keeping, own or environment, before))
    if not texts:
        line = _line(where, Path("DIR"))
        raise UsageError(f"{place} holds no {PROJECT}, {REQUIREMENTS} or .venv", fix="name a project: ", command=line)
    saved = [Saved(_name_in(place, path), _text(path, before), text) for path, text in texts.items()]
    record, told = AdoptRecord(str(environment), keeping, saved), f"{environment} ({by})"
    notes = [
        *_notes(keeping, own, environment),
        *_refusals(texts, keeping),
        *_open_indexes(place, before),
        *_unheeded(place, own or environment, keeping),
    ]
    return _adoption(place, {**before, **texts}, record, told, notes, _line(where, place))


def look_back(folder: str) -> Adoption:
    """Find what takes it back: files that nobody touched since become what they were, byte for byte.

    Raises UsageError where nothing was adopted.
    """
    place = _project(folder)
    record = _read_record(place)
    if record is None:
        raise UsageError(f"nothing is adopted in {place}", command=f"xpusetup adopt {shlex.quote(str(place))}")
    found = _taken_back(place)
    changed = [path.name for path, (_, same) in found.items() if not same]
    notes = [f"{name} was changed since: of it ours alone is taken out" for name in changed]
    texts = {path: text for path, (text, _) in found.items()}
    return _adoption(place, texts, None, record.environment, notes, _undo(place))


def apply(found: Adoption) -> Result[AdoptedProject]:
    """Write the files, the record first: what was begun can be taken back."""
    path = found.folder / RECORD
    changed = [file for file, text in found.texts.items() if _text(file, {}) != text]
    for file in (*changed, path):  # all or nothing
        _check_writable(file)
    if found.record is not None:
        files.write_text(path, json.dumps(asdict(found.record), indent=1) + "\n", mode=PRIVATE)
    for file in changed:
        if (text := found.texts[file]) is None:
            files.remove(file)
        else:
            files.write_text(file, text, theirs=True)
    if found.record is None:
        files.remove(path)
    data = asdict(found.data) | {"written": found.record is not None, "undone": found.record is None}
    return Result("adopt", read_as(AdoptedProject, data))


def _check_writable(path: Path) -> None:
    try:
        files.check_output(path)
    except NotReadyError as error:
        fix = f"if it may be changed, the same command after: chmod u+w {shlex.quote(str(path))}"
        raise NotReadyError(error.message, fix=fix) from None


def show(found: Adoption) -> Result[AdoptedProject]:
    return Result("adopt", found.data)


def _adoption(
    place: Path, texts: dict[Path, str | None], record: AdoptRecord | None, where: str, notes: list[str], line: str
) -> Adoption:
    kept = record.keeping if record else Keeping((), ())
    data = AdoptedProject(
        project=str(place),
        environment=where,
        kept=list(kept.keeps),
        never=list(kept.never),
        beside=list(kept.beside),
        changes=[each for path, text in texts.items() if (each := _change(path, text)).diff],
        notes=notes,
        written=False,
        undone=False,
        apply=f"{line} --yes",
        undo=_undo(place),
    )
    return Adoption(place, texts, record, data)


def _undo(place: Path) -> str:
    return f"xpusetup adopt {shlex.quote(str(place))} --undo"


def _hold_root(place: Path, where: Where) -> None:
    """Raise UsageError for a member of a workspace of uv: of its overrides uv heeds none."""
    if (place / PROJECT).is_file():
        for root in place.parents:
            text = files.read_text(root / PROJECT) or ""
            if "workspace" in text and uv.holds_member(text, str(place), partial(_folders, root)):
                told = f"{place} is a member of the workspace {root}, and uv heeds the overrides of that alone"
                raise UsageError(told, command=_line(where, root))


def _folders(root: Path, pattern: str) -> set[str]:
    return {str(path) for path in root.glob(pattern.removeprefix("./"))}


def _line(where: Where, place: Path) -> str:
    named = {"into": where.into, "profile": where.profile, "root": where.root, "name": where.name}
    words = [word for name, value in named.items() if value for word in (f"--{name}", shlex.quote(value))]
    return " ".join(("xpusetup adopt", shlex.quote(str(place)), *words))


def _project(folder: str) -> Path:
    place = from_home(folder or ".").absolute()
    if not place.is_dir():
        raise UsageError(f"there is no folder {place}", fix="name the folder of a project")
    return place


# Where torch is: the environment that is named, the project's own, the active one.


def _environment(place: Path, where: Where) -> tuple[Path, str]:
    own = _own_environment(place)
    named = where.into or where.profile or where.root or where.name
    if not named and own is not None and "torch" in _installed(own):
        return own, "of the project"
    chosen = choose_python(where)
    prefix = Path(chosen.python).parent.parent if chosen.python else own or place
    if "torch" not in _installed(prefix):
        line = Command(f"xpusetup adopt {shlex.quote(str(place))} --into ENV", gaps=("ENV",))
        raise NotReadyError(f"there is no torch in {prefix}", fix="name its environment: ", command=line)
    return prefix, chosen.by


def _own_environment(place: Path) -> Path | None:
    """Give the environment that uv and pip change for a project: UV_PROJECT_ENVIRONMENT, or that in its folder."""
    named = variable("UV_PROJECT_ENVIRONMENT")
    folders = [place / named] if named else [place / name for name in VENVS]
    return next((folder for folder in folders if interpreter_of(folder)), None)


def _installed(prefix: Path) -> dict[str, InstalledVersion]:
    """Give what an environment has of torch's family, from the names of folders and direct_url.json."""
    found: dict[str, InstalledVersion] = {}
    for folder in (each for place in site_packages(prefix) for each in sorted(place.glob("*.dist-info"))):
        name, _, version = folder.name.removesuffix(".dist-info").partition("-")
        if canonicalize_name(name) in FAMILY:
            origin = files.read_text(folder / "direct_url.json") or ""
            found.setdefault(canonicalize_name(name), InstalledVersion(version, origin))
    return found


def _sees(own: Path, environment: Path) -> bool:
    """Say whether an environment sees the packages of another: that of its interpreter, or one of PYTHONPATH."""
    text = files.read_text(own / "pyvenv.cfg") or ""
    told = variable("PYTHONPATH").split(":")
    below = re.search(r"^include-system-site-packages\s*=\s*true", text, re.MULTILINE) is not None
    return below or any(str(place) in told for place in site_packages(environment))


def _notes(keeping: Keeping, own: Path | None, environment: Path) -> list[str]:
    if not keeping.is_outside or (own is not None and own != environment and _sees(own, environment)):
        return []
    if own == environment:
        told = "no wheel of this torch is left, and uv sync takes it out: use uv sync --inexact"
        return [f"{told}; uv run and uv add leave it"]
    python = shlex.quote(str(environment / "bin/python"))
    made = f":\nuv venv --clear --system-site-packages --python {python}"
    if (environment / "pyvenv.cfg").exists():  # of a venv the interpreter below it is seen alone
        made = f", and uv sync is uv sync --inexact:\nexport UV_PROJECT_ENVIRONMENT={shlex.quote(str(environment))}"
    return [f"the project's environment has to be or to see {environment}{made}"]


# The files: what each becomes, and what each was.


def _edits(
    place: Path, keeping: Keeping, environment: Path, before: dict[Path, str | None]
) -> Iterator[tuple[Path, str]]:
    text = _text(place / PROJECT, before)
    if text is not None and uv.is_project(text.removeprefix(BOM)):
        yield place / PROJECT, _behind_bom(text, lambda rest: uv.adopt_uv(rest, keeping))
    requirements = [path for path in sorted(place.glob(REQUIREMENTS)) if path.is_file()]
    for path in requirements:
        yield path, _behind_bom(_text(path, before) or "", lambda rest: pip.adopt_requirements(rest, keeping))
    constraints, settings = place / pip.CONSTRAINTS, environment / "pip.conf"
    told = _text(settings, before) or ""
    ours = any((environment / mark).exists() for mark in ENVIRONMENTS) and pip.CONSTRAINTS not in told
    if ours or requirements:
        yield constraints, pip.render_constraints(keeping)
    if ours:
        yield settings, pip.adopt_settings(told, str(constraints), _in_force(told), str(settings))


def _without_lost(environment: Path, place: Path, before: dict[Path, str | None]) -> dict[Path, str | None]:
    """Give pip.conf without a file of constraints that is gone, or is ours: `git clean` takes that and our record."""
    settings = environment / "pip.conf"
    told = _text(settings, before) or ""
    word = pip.find_ours(told)
    path = Path(pip.path_of(word))
    if word == pip.CONSTRAINTS or (path.is_file() and path != place / pip.CONSTRAINTS):
        return {}
    return {settings: pip.leave_settings(told, word, "", pip.render_settings(word)) or None}


def _behind_bom(text: str, change: Callable[[str], str]) -> str:
    """Change what stands behind a byte order mark, which has to stay the first of a file."""
    rest = text.removeprefix(BOM)
    return f"{BOM if rest != text else ''}{change(rest)}"


def _name_in(place: Path, path: Path) -> str:
    """Give the name of a file for the record: below the project's folder, which may be moved, the rest of its path."""
    return str(path.relative_to(place)) if path.is_relative_to(place) else str(path)


def _refusals(texts: dict[Path, str], keeping: Keeping) -> list[str]:
    """Say what of the project's own requirements pip or uv refuses from now on."""
    found = [
        *(
            (path, "asks for", "pip", pip.find_refused(text, keeping))
            for path, text in texts.items()
            if path.match(REQUIREMENTS)
        ),
        *(
            (path, "constrains", "uv", uv.find_refused(text.removeprefix(BOM), keeping))
            for path, text in texts.items()
            if path.name == PROJECT
        ),
    ]
    return [
        f"{path.name} {does} {', '.join(refused)}, which {tool} will refuse beside this torch: change it there"
        for path, does, tool, refused in found
        if refused
    ]


def _open_indexes(place: Path, before: dict[Path, str | None]) -> Iterator[str]:
    """Say which index of torch is asked for every package, with what to write so that it is not."""
    text = (_text(place / PROJECT, before) or "").removeprefix(BOM)
    relock = f"uv lock --project {shlex.quote(str(place))}"
    return uv.find_open(text, files.read_text(place / LOCK) or "", relock)


def _unheeded(place: Path, environment: Path, keeping: Keeping) -> Iterator[str]:
    """Say which settings and files would replace the torch all the same, and the command that mends it."""
    constraints, torch = str(place / pip.CONSTRAINTS), keeping.keeps[0].version
    if (told := variable("PIP_CONSTRAINT")) and constraints not in told:
        both = shlex.quote(f"{told} {pip.name_in_settings(constraints)}")
        yield f"where PIP_CONSTRAINT is set pip heeds no other; for this shell:\nexport PIP_CONSTRAINT={both}"
    by_uv = "\nuv = " in (files.read_text(environment / "pyvenv.cfg") or "")
    hidden = (place / "uv.toml").is_file() or not (place / PROJECT).is_file()
    if by_uv and hidden and constraints not in (told := variable("UV_CONSTRAINT")):
        both = shlex.quote(f"{told} {pip.name_in_settings(constraints)}".strip())
        yield f"uv pip heeds none of this here; for this shell:\nexport UV_CONSTRAINT={both}"
    for name in (name for name in OTHERS if (place / name).is_file()):
        yield f"{OTHERS[name]}, whose {name} is here, heeds none of this: what it installs can replace torch"
    locked = uv.find_locked(files.read_text(place / LOCK) or "", "torch")
    if locked and locked != {torch}:
        told = f"{LOCK} has torch {', '.join(sorted(locked))}, which uv sync --frozen and uv run --frozen would install"
        yield f"{told}; to write it anew:\nuv lock --project {shlex.quote(str(place))}"


def _text(path: Path, before: dict[Path, str | None]) -> str | None:
    """Give what a file holds, or held before it was adopted; line ends as they are, None where there is none."""
    if path in before:
        return before[path]
    if not path.exists():
        return None
    try:
        return files.read_bytes(path).decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text in UTF-8", fix="write it in UTF-8, then the same command again") from None


def _in_force(settings: str) -> list[str]:
    """Give the files of constraints that pip heeds already: a key of ours in `[install]` hides them."""
    own = Path(variable("XDG_CONFIG_HOME") or Path.home() / ".config")
    others = (Path("/etc/pip.conf"), Path.home() / ".pip/pip.conf", own / "pip/pip.conf")
    found: dict[str, list[str]] = {}
    for text in (*(files.read_text(path) or "" for path in others), settings):
        found |= {name: values for name, values in pip.read_constraints(text).items() if values}
    return found.get("install") or found.get("global") or []


def _taken_back(place: Path) -> dict[Path, tuple[str | None, bool]]:
    """Give what each file that was adopted becomes, and whether nobody changed it since."""
    record = _read_record(place)
    if record is None:
        return {}
    found: dict[Path, tuple[str | None, bool]] = {}
    for one in record.files:
        path = place / one.path
        if not path.parent.is_dir():  # an environment that is gone, or of another machine
            continue
        now = _text(path, {})
        same = now is None or now == one.after
        found[path] = (one.before if same else _left(path, now or "", one, record)), same
    return found


def _left(path: Path, now: str, one: Saved, record: AdoptRecord) -> str | None:
    if path.name == PROJECT:
        old = (one.before or "").removeprefix(BOM)
        return _behind_bom(now, lambda rest: uv.leave_uv(rest, old, record.keeping))
    if path.name == pip.CONSTRAINTS:
        return one.before
    if path.name == "pip.conf":
        return pip.leave_settings(now, pip.find_ours(one.after), one.before or "", one.after)
    return _behind_bom(now, pip.leave_requirements)


def _read_record(place: Path) -> AdoptRecord | None:
    text = files.read_text(place / RECORD)
    if text is None:
        return None
    try:
        return read_as(AdoptRecord, json.loads(text))
    except ValueError:
        fix = f"take back by hand what git diff shows, then: rm {shlex.quote(str(place / RECORD))}"
        raise UsageError(f"{place / RECORD} cannot be read", fix=fix) from None


def _change(path: Path, text: str | None) -> FileChange:
    old, new = (_text(path, {}) or "").splitlines(), (text or "").splitlines()
    name = path.name if text is not None else "/dev/null"
    return FileChange(str(path), "\n".join(difflib.unified_diff(old, new, path.name, name, lineterm="")))
