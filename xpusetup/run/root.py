"""A root: the folder of one build. What lies in it, written whole and read back."""

import io
import json
import os
import re
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path, PurePath
from typing import Any

from xpusetup.base.document import UnfitError, to_table
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import Layout, Plan, Request, Target
from xpusetup.base.values import PACKAGED
from xpusetup.config.load import describe, read_profile
from xpusetup.config.profile import Profile
from xpusetup.plan.context import OF_PLAN, patch_texts, patches_of
from xpusetup.plan.requirements import ABOUT, render_about, requirement_texts
from xpusetup.run.keys import Made, RootState, Stamp, parse_stamp, render_stamp
from xpusetup.run.lock import is_held
from xpusetup.system import files
from xpusetup.system.process import run_process

FOLDERS = ("steps", "helpers", "stamps", "inputs", "logs", "results", "src", "wheels")
HELPERS = "helpers"
ARCHIVE = "helpers.tar"
"""The helpers in a form, whose scripts and recipes unpack them."""
LOCKED = "profile.lock.json"
ABSENT = "results/no-device.json"
BEGUN = "inputs/.begun."
"""How the file of a step begins that has begun and not ended; where it holds text, what a look at every file found."""
SEEN_AT = "build-path"
BESIDE = ".rebuilt"
"""The folder beside a root in which second builds lie."""
PACKING = "packing"
"""The folder in a root in which a bundle is packed, while that goes on."""
SECOND = "rebuild.json"
"""The file that says of a folder that it is a second build, of which root, and whether it came to its end."""
SECOND_HOME, SECOND_ZONE = "home", "zone"
DRAFT = re.compile(r"\.(?!lock\.|begun\.).+\.(?:[a-z0-9_]{8}|[0-9]+|part)")
"""The names under which files are written before they are whole, by system/files.py, by steps and by helpers."""
PLACE = re.compile(r"^root (.+)$", re.MULTILINE)
"""Where a root lay when a step was done, as the inputs of its key say."""
GOING = ".removing"
"""How the name of a folder ends while it is removed."""


@dataclass(frozen=True)
class Root:
    """The folder of one build."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def log(self, step: str) -> Path:
        return self.path / "logs" / f"{step}.log"

    def script(self, step: str) -> Path:
        return self.path / "steps" / f"{step}.sh"


def open_root(path: Path) -> Root:
    """Make the folders of a root. Raises NotReadyError where that can't be done."""
    for name in FOLDERS:
        files.make_folder(path / name, private=name == "logs")  # a tool may print what it should not
    if not os.access(path, os.W_OK):
        raise NotReadyError(f"cannot write below {path}", fix=f"choose another place: {files.how_chosen(path)}")
    return Root(path.resolve())


def find_roots(folder: Path) -> list[Root]:
    """Give the roots that lie in a folder, by name; none where it is a root itself."""
    if (folder / LOCKED).exists():
        return []
    return [Root(path.parent.resolve()) for path in sorted(folder.glob(f"*/{LOCKED}"))]


def find_packing(folder: Path) -> list[Path]:
    """Give the folders of bundles, below the roots in a folder, whose packing was interrupted."""
    return [path for path in sorted(folder.glob(f"*/{PACKING}")) if path.is_dir() and not is_held(path / "lock")]


def helper_files(profile: Profile, facts: str = "") -> dict[str, str]:
    """Give the helpers that travel with a plan, with what the profile adds to them, by name below a root.

    `facts`: the sha256 of what was seen of the machine, where it is this one that builds.
    """
    folder = files.package_file(HELPERS)
    found = {
        f"{HELPERS}/{path.name}": path.read_text(encoding="utf-8")
        for path in sorted(folder.iterdir())
        if path.suffix in {".py", ".sh", ".cmake"}
    }
    found.update(_source_files(folder / "helperlib", f"{HELPERS}/helperlib"))
    for part in profile.components:
        if part.kind == "source" and part.repo.startswith(PACKAGED):
            name = part.repo.removeprefix(PACKAGED)
            found.update(_source_files(files.package_file(name), f"{HELPERS}/{name}"))
    found[ABOUT] = render_about(profile, facts)
    return {**found, **patch_texts(patches_of(profile, Request())), **requirement_texts(profile)}


def _source_files(folder: Path, to: str) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and "__pycache__" not in name.parts:
            yield f"{to}/{name}", path.read_text(encoding="utf-8")


def pack_helpers(texts: Mapping[str, str]) -> dict[str, bytes]:
    """Give the files of a form as they are written: in each root of it the helpers as one archive."""
    found = {name: text.encode() for name, text in texts.items()}
    for top in [name.removesuffix(LOCKED) for name in texts if PurePath(name).name == LOCKED]:
        own = tuple(f"{top}{name}" for name in OF_PLAN)
        packed = [name for name in texts if name.startswith(f"{top}{HELPERS}/") and not name.startswith(own)]
        found[f"{top}{ARCHIVE}"] = _pack({name.removeprefix(top): found.pop(name) for name in packed})
    return found


def _pack(contents: Mapping[str, bytes]) -> bytes:
    """Give an archive: the same bytes for the same files, and root's if root unpacks it."""
    stream = io.BytesIO()
    folders = {str(folder) for name in contents for folder in PurePath(name).parents if folder.name}
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted({*contents, *folders}):
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE if name in folders else tarfile.REGTYPE
            member.mode = 0o755 if name in folders or name.endswith(".sh") else 0o644
            member.size = len(contents.get(name, b""))
            tar.addfile(member, io.BytesIO(contents.get(name, b"")))
    return stream.getvalue()


def read_build_path(root: Root) -> str:
    """Give the path at which a root compiles, as helpers/fixed_path.py kept it: its own, or BUILD_PATH."""
    return (files.read_text(root / SEEN_AT) or "").strip() or str(root.path)


def read_origins(root: Root) -> dict[str, str]:
    """Give the hashes of first use of what came without a published one, by what it is."""
    texts = {path.name: files.read_text(path) or "" for path in sorted(root.path.glob("origins/*/[!.]*"))}
    return {name: text.split()[0] for name, text in texts.items() if text.split()}


def write_plan(root: Root, scripts: Mapping[str, str], helpers: Mapping[str, str]) -> None:
    texts = {**helpers, **{f"steps/{step}.sh": text for step, text in scripts.items()}}
    for name, text in texts.items():
        files.write_text(root / name, text, executable=name.endswith(".sh"))


def clear_drafts(root: Root) -> None:
    """Remove what a run that was killed had begun to write; the root's lock says that nobody else writes there now."""
    folders = (root.path, *(root / name for name in (*FOLDERS, "launcher")), *(root / HELPERS).glob("**/"))
    for folder in folders:
        for path in folder.glob(".*"):
            if DRAFT.fullmatch(path.name) and path.is_file():
                files.remove(path)
    for path in (*root.path.glob(f".*{GOING}"), *(root / "src").glob(f".*{GOING}")):
        shutil.rmtree(path, ignore_errors=True)


def read_state(root: Root, plan: Plan, scripts: Mapping[str, str], identities: Mapping[str, str]) -> RootState:
    """Look at what is on disk for a plan: stamps, and whether what they say was made is as it was."""
    every = read_stamps(root)
    stamps = {step.id: every[step.id] for step in plan.steps if step.id in every}
    damaged = {step: why for step, why in find_damage(root).items() if step in stamps}
    return RootState(
        root=str(root.path),
        scripts=scripts,
        stamps=stamps,
        identities=identities,
        damaged=damaged,
        absent=read_absent(root),
        before={step: files.read_text(root / f"inputs/{step}") or "" for step in stamps},
    )


def find_damage(root: Root, *, check: bool = False) -> dict[str, str]:
    """Say of each finished step whose files are missing or were changed what happened to them.

    `check`: every file is hashed, also one that looks as it was; else what `keep_damage` wrote down counts as well.
    """
    found = {name: _damage(stamp, check=check) for name, stamp in read_stamps(root).items()}
    kept = {} if check else {name: files.read_text(root / f"{BEGUN}{name}") or "" for name in found}
    return {name: why or kept[name] for name, why in found.items() if why or kept.get(name)}


def keep_damage(root: Root, damaged: Mapping[str, str]) -> None:
    """Write down what only hashing every file showed, until the step is done again or the next such look finds it well.

    No build is at work there. `helpers/step.sh` takes such a step for one that was cut off.
    """
    seen = {name for name, stamp in read_stamps(root).items() if _damage(stamp, check=False)}
    for name in read_stamps(root):
        if name in damaged and name not in seen:
            files.write_text(root / f"{BEGUN}{name}", damaged[name])
        elif name not in damaged:
            files.remove(root / f"{BEGUN}{name}")


def refresh_stamps(root: Root) -> None:
    """Write down how files look now that were moved or copied and hold what they held, so that they are hashed once.

    The caller holds the root's lock.
    """
    for name, stamp in read_stamps(root).items():
        made = tuple(_look(each) or each for each in stamp.made)
        if made != stamp.made and not _damage(stamp, check=False):
            files.write_text(root / f"stamps/{name}", render_stamp(Stamp(stamp.key, made)))


def read_stamps(root: Root) -> dict[str, Stamp]:
    """Read all stamps, also those of other plans in this root. Of a root that was moved, their files are here."""
    names = sorted(path.name for path in (root / "stamps").glob("[!.]*"))
    stamps = ((name, parse_stamp(files.read_text(root / f"stamps/{name}") or "")) for name in names)
    return {name: _place_here(root, name, stamp) for name, stamp in stamps if stamp is not None}


def _place_here(root: Root, step: str, stamp: Stamp) -> Stamp:
    return stamp._replace(made=tuple(each._replace(path=place_here(root, step, each.path)) for each in stamp.made))


def place_here(root: Root, step: str, path: str) -> str:
    """Give where a file is now that a step wrote down: the root may have been moved since the step was done."""
    if path.startswith(f"{root}/"):
        return path
    place = PLACE.search(files.read_text(root / f"inputs/{step}") or "")
    return f"{root}{path.removeprefix(place[1])}" if place and path.startswith(f"{place[1]}/") else path


def parse_document(text: str) -> dict[str, Any]:
    """Read a JSON object; empty for any other text, one that was cut off among them."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def moved_from(root: Root) -> str:
    """Give where a root lay when its steps were done, where that is another place than now; else nothing."""
    told = (PLACE.search(files.read_text(path) or "") for path in sorted((root / "inputs").glob("[!.]*")))
    before = {place[1] for place in told if place}
    return "" if str(root.path) in before else next(iter(sorted(before)), "")


def read_absent(root: Root) -> dict[str, str]:
    """Give the steps that found no device, with their keys; nothing when the machine shows other devices since."""
    document = parse_document(files.read_text(root / ABSENT) or "")
    steps = document.get("steps", {})
    return steps if isinstance(steps, dict) and document.get("devices") == _devices() else {}


def write_absent(root: Root, step: str, key: str) -> None:
    """Remember that a step found no device on this machine as it is now; that proves nothing but saves a try."""
    steps = {**read_absent(root), step: key}
    files.write_text(root / ABSENT, json.dumps({"devices": _devices(), "steps": steps}) + "\n")
    files.remove(root / f"{BEGUN}{step}")  # it came to its end


def _devices() -> list[str]:
    patterns = ("dri/renderD*", "dxg", "accel/*", "davinci*", "hl*", "nvidia*")
    nodes = (str(path) for pattern in patterns for path in Path("/dev").glob(pattern))
    return sorted((*nodes, *map(str, Path("/usr/local/Ascend").glob("*/set_env.sh"))))


def _damage(stamp: Stamp, *, check: bool) -> str:
    return next((why for made in stamp.made if (why := _change(made, check=check))), "")


def _change(made: Made, *, check: bool) -> str:
    seen = _look(made)
    if seen is None:
        return f"{made.path} is missing"
    if seen == made and not check:
        return ""
    return "" if files.hash_file(Path(made.path)) == made.sha256 else f"{made.path} was changed after it was made"


def _look(made: Made) -> Made | None:
    """Give a file as it looks now, its hash taken on trust; None where it is not there."""
    try:
        seen = Path(made.path).stat()
    except OSError:
        return None
    times = (f"{time // 10**9}.{time % 10**9:09d}" for time in (seen.st_mtime_ns, seen.st_ctime_ns))
    return Made(made.sha256, seen.st_size, next(times), made.path, next(times), seen.st_ino)


def read_identities(target: Target, root: Root) -> dict[str, str]:
    """Ask the scripts' own function what compiler and toolkit are there; a need that is absent has no identity."""
    script = 'STEP=identity; . "$1/helpers/step.sh"; CXX=$2; TOOLKIT=$3; identity "$4"'
    toolkit = target.toolkit.below(str(root.path)).compiler if target.toolkit else ""
    wanted = ("compiler", "toolkit") if toolkit else ("compiler",)
    argv = ("bash", "-c", script, "bash", str(files.package_file(HELPERS).parent), target.cxx, toolkit)
    outputs = {need: run_process((*argv, need), seconds=10) for need in wanted}
    return {need: out.out.rstrip("\n") if out.code == 0 else f"no {need}" for need, out in outputs.items()}


def lock_document(
    profile: Profile, target: Target, layout: Layout, asked: Mapping[str, object], **known: object
) -> str:
    """Give profile.lock.json; `asked` is what the target follows from beside the profile and the machine.

    `known` is what later commands want to know of the root: `named` and `rev`, by which words it was asked for, and
    `steps`, all that the whole profile takes.
    """
    resolved = to_table(profile)
    own = {"profile": resolved, "target": asdict(target), "layout": asdict(layout), "asked": asked}
    document = {"schema": 1, **known, **own}
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def write_locked_profile(root: Root, profile: Profile, asked: Mapping[str, object]) -> None:
    """Put another profile into profile.lock.json; the next build aims anew and builds what it says."""
    document = {**(read_lock(root) or {"schema": 1}), "profile": to_table(profile)}
    files.write_text(
        root / "profile.lock.json", json.dumps({**document, "asked": asked}, indent=2, sort_keys=True) + "\n"
    )


def read_locked_profile(root: Root, asked: Mapping[str, object]) -> Profile | None:
    """Give the profile that was pinned in a root for the same revisions of the same profile; None if there is none."""
    document = read_lock(root) or {}
    before = document.get("asked") or {}
    if any(before.get(name) != value for name, value in asked.items()):
        return None
    try:
        return read_profile(document["profile"])
    except UnfitError as error:
        lines = [f"{root / LOCKED}: {line}" for line in describe(error, Profile, document["profile"])]
        fix = f"pin anew: rm {root / LOCKED}, then the same command"
        raise UsageError("\n".join(lines), fix=fix) from error


def read_lock(root: Root) -> dict[str, Any] | None:
    """Read profile.lock.json; None where there is none, or none that can be read."""
    try:
        document = parse_document(files.read_input(root / LOCKED) or "")
    except UsageError:
        return None
    return document if document.get("schema") == 1 and _is_lock(document) else None


def _is_lock(document: dict[str, Any]) -> bool:
    """Say whether the parts of a lock are of the kind that they have to be."""
    layout = document.get("layout", {})
    tables = (document.get("profile"), document.get("target", {}), document.get("asked") or {}, layout)
    if not all(isinstance(table, dict) for table in tables):
        return False
    kinds = {each.name: bool if each.name == "adopted" else str for each in fields(Layout)}
    return all(name in kinds and isinstance(value, kinds[name]) for name, value in layout.items())
