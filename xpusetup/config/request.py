"""What the command line asks: revisions as people call them, and the words that become a Request."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT, XPU, AddonDevice, FoundRef, Patch, Request, VerifyMode
from xpusetup.base.text import hide, hint_at_nearest
from xpusetup.base.values import holds_credentials
from xpusetup.base.verbs import sort_words
from xpusetup.config.profile import Profile
from xpusetup.system import files
from xpusetup.system.environment import from_home
from xpusetup.system.files import check_folder, note_place

# What people call a revision, and which commit a server's list of refs gives it: tag, branch, pull request, commit.


COMMIT = re.compile(r"[0-9a-f]{40}")
ABBREVIATED = re.compile(r"[0-9a-f]{7,39}")
PULL = re.compile(r"(?:#|pr/|pull/)(\d+)(?:/head)?", re.IGNORECASE)
RELEASE = re.compile(r"v?(\d+(?:\.\d+)+)(?:-?rc(\d+))?")
PLAIN = re.compile(r"[A-Za-z0-9._/#+@-]+")
PART = re.compile(r"[A-Za-z0-9._-]+")


def unsure(profile: Profile) -> dict[str, str]:
    """Give the components whose commit is less than confirmed, with the tag that a server can be asked for."""
    parts = (part for part in profile.components if part.kind == "source")
    return {part.name: part.tag for part in parts if part.tag and (part.rev is None or part.confidence != "confirmed")}


def floating(profile: Profile) -> dict[str, str]:
    """Give the components that name a branch and no commit, with that branch; not those that the torch tree names.

    Where the version of a wheel is a guess, torch is among them with its tag: its tree names that version.
    """
    parts = [part for part in profile.components if part.kind == "source"]
    guessed = any(part.kind == "wheel" and part.reason for part in profile.components)
    tags = {part.name: part.tag for part in parts if part.name == "torch" and part.tag and guessed}
    return tags | {part.name: part.ref for part in parts if part.ref and part.rev is None and not part.pin_file}


def is_pinned(profile: Profile) -> bool:
    """Say whether every source has a commit or a tag, so that a build could begin without a lock."""
    return all(part.rev or part.tag for part in profile.components if part.kind == "source")


def parse_revs(texts: Sequence[str]) -> dict[str, str]:
    """Read `COMPONENT=REF` as often as it was given. Raises UsageError for anything else."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, ref = text.partition("=")
        if not equals or PART.fullmatch(name) is None or PLAIN.fullmatch(ref) is None or ref.startswith("-"):
            raise UsageError(
                f"--rev {text!r} is not COMPONENT=REF", fix="as in: --rev torch=main, --rev torch=pr/12345"
            )
        if name in found:
            raise UsageError(f"--rev names {name} twice", fix="give one revision for each component")
        found[name] = ref
    return found


def names_to_ask(ref: str) -> tuple[str, ...]:
    """Give the full names under which a server may know a ref, the likeliest first; empty for a whole commit."""
    if COMMIT.fullmatch(ref):
        return ()
    if pull := PULL.fullmatch(ref):
        return (f"refs/pull/{pull[1]}/head",)
    if ref.startswith("refs/"):
        return (ref,)
    return (f"refs/tags/{ref}", f"refs/heads/{ref}")


def choose(ref: str, repo: str, advertised: Mapping[str, str]) -> FoundRef:
    """Choose the commit that a ref means among what a server advertises (full name -> commit, tags also peeled).

    Raises UsageError where it means nothing there, with the nearest name.
    """
    if COMMIT.fullmatch(ref):
        return FoundRef(ref)
    for name in names_to_ask(ref):
        if name in advertised:
            return FoundRef(advertised.get(f"{name}^{{}}", advertised[name]), name)
    if ABBREVIATED.fullmatch(ref):
        whole = {rev for rev in advertised.values() if rev.startswith(ref)}
        if len(whole) == 1:
            return FoundRef(whole.pop())
        raise UsageError(
            f"{ref!r} is part of a commit's name,"
            " and a server tells only the tips of its branches and tags by their part",
            fix=f"give all 40 digits: git rev-parse {ref} in a clone of {repo}",
        )
    short = {name.split("/", 2)[-1]: name for name in advertised if name.startswith(("refs/heads/", "refs/tags/"))}
    hint = hint_at_nearest(ref, [name for name in short if not name.endswith("^{}")])
    raise UsageError(f"{repo} has no tag or branch {ref!r}{hint}", fix=f"git ls-remote {repo} lists what it has")


def release_of(ref: str) -> str:
    """Give the version that a release tag stands for, as in 2.15.0 or 2.15.0rc3; empty when it is none."""
    found = RELEASE.fullmatch(ref.removeprefix("refs/tags/"))
    if found is None:
        return ""
    return f"{found[1]}rc{found[2]}" if found[2] else found[1]


def plain_name(name: str) -> str:
    """Give a folder's name without dots, for a build that fails below one with a number such as 2.4."""
    return name.replace(".", "_")


def slug(ref: str) -> str:
    text = ref[:12] if COMMIT.fullmatch(ref) else re.sub(r"[^A-Za-z0-9._]+", "-", ref.removeprefix("refs/"))
    return text.strip("-.")


# From the words of the command line to a Request.


TARGET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,59}")
"""As `DeviceTarget` of profiles."""
SET = re.compile(r"(.+?)\.([A-Za-z_][A-Za-z0-9_]*)=(.*)")


def make_request(
    *, only: Sequence[str], until: str, arch: str, set_: Sequence[str], verify: str, target: str = ""
) -> Request:
    """Check and freeze what was asked. Raises UsageError for words that mean nothing."""
    if verify not in get_args(VerifyMode):
        words = ", ".join(filter(None, get_args(VerifyMode)))
        raise UsageError(f"--verify cannot be {verify!r}", fix=f"use one of: {words}")
    if target.startswith("-") or not target.isprintable() or ROOT in target or any(char.isspace() for char in target):
        raise UsageError(f"--target {target!r} is no target of ninja", fix="as in: --target c10")
    return Request(
        only=tuple(only),
        until=until,
        arch=() if arch in ("", "auto") else _parse_targets(arch),
        set=tuple(_parse_set(text) for text in set_),
        verify=verify,  # type: ignore[arg-type]  # checked above
        target=target,
    )


def _parse_device(text: str, only: Sequence[str]) -> AddonDevice:
    if text not in get_args(AddonDevice):
        raise UsageError(f"--device cannot be {text!r}", fix=f"use one of: {', '.join(get_args(AddonDevice))}")
    if text == "gpu":
        return "gpu"
    if tuple(only) != (XPU,):
        raise UsageError("--device says on what XPU beside a torch computes", fix=f"add --only {XPU}, or leave it out")
    return "processor"


def _parse_targets(text: str) -> tuple[str, ...]:
    found = parse_arch(text)
    if not found:
        raise UsageError(f"--arch {text!r} names no device target", fix="as in: --arch pvc,bmg; auto: what is here")
    return found


def parse_arch(text: str) -> tuple[str, ...]:
    """Read a list of device targets. Raises UsageError for what none is called."""
    targets = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if odd := next((target for target in targets if not TARGET.fullmatch(target)), ""):
        raise UsageError(f"--arch {odd!r} is no device target", fix="letters, digits and '-', as in: --arch bmg,pvc")
    return targets


def render_request(request: Request) -> tuple[str, ...]:
    """Give the options that ask for the same again."""
    return (
        *(word for name in request.only for word in ("--only", name)),
        *(("--until", request.until) if request.until else ()),
        *(("--arch", ",".join(request.arch)) if request.arch else ()),
        *(word for name, key, value in request.set for word in ("--set", f"{name}.{key}={value}")),
        *(("--target", request.target) if request.target else ()),
        *(("--require-hashes",) if request.require_hashes else ()),
        *(("--device", request.device) if request.device != "gpu" else ()),
        *(("--verify", request.verify) if request.verify not in {"", "auto"} else ()),
        *(word for source in request.sources for word in ("--source", _render_source(request, *source))),
        *(word for name in request.pinned for word in ("--source", f"{name}={PINNED}")),
        *(word for patch in request.patches for word in ("--patch", f"{patch.source}={patch.file}")),
    )


def _render_source(request: Request, name: str, folder: str) -> str:
    return f"{name}={folder}{':editable' if name in request.editable else ''}"


def _parse_set(text: str) -> tuple[str, str, str]:
    found = SET.fullmatch(text)
    if found is None or not text.isprintable() or ROOT in text:
        raise UsageError(f"--set {hide(text)!r} is not COMPONENT.KEY=VALUE", fix="as in: --set torch.USE_XCCL=0")
    if holds_credentials(text):
        fix = "leave them out: git has a credential helper, pip and uv read ~/.netrc"
        raise UsageError("--set holds a user, a password or a token, which would stand in scripts and logs", fix=fix)
    return found[1], found[2], found[3]


# Source trees and patches of the user's own, as the command line names them.


EDITABLE = ":editable"
"""What follows the folder of a tree that is to be installed as it lies: no folder of a build may hold a colon."""

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+@[\w.-]+:")
PINNED = "pinned"
"""What stands for no tree, but for the commit of the profile; a folder that is called so is written `./pinned`."""

SIGNS = (".git", "setup.py", "pyproject.toml", "CMakeLists.txt", "python/setup.py")
"""What a source tree has one of: the last is Triton's before 3.4."""


def find_sources(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Give name and folder of each source tree. Raises UsageError where there is none."""
    pairs = [_split(word, "--source", "DIR") for word in words]
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UsageError(f"--source names {twice} twice", fix=f"as in: --source {twice}={dict(pairs)[twice]}")
    return tuple(_find_source(name, tree.removesuffix(EDITABLE)) for name, tree in pairs if tree != PINNED)


def with_sources(request: Request, words: Sequence[str]) -> Request:
    """Add source trees to a request, as the command line names them. Raises UsageError where there is none."""
    sources = (*request.sources, *find_sources(words))
    # unpacked archives are those of which git knows nothing
    archives = tuple(name for name, folder in sources if not (Path(folder) / ".git").exists())
    pinned = tuple(name for name, _, what in (word.partition("=") for word in words) if what == PINNED)
    editable = (*request.editable, *(word.partition("=")[0] for word in words if word.endswith(EDITABLE)))
    return replace(request, sources=sources, editable=editable, archives=archives, pinned=(*request.pinned, *pinned))


def find_patches(words: Sequence[str]) -> tuple[Patch, ...]:
    """Read each patch. Raises UsageError where there is none."""
    return tuple(_find_patch(*_split(word, "--patch", "FILE")) for word in words)


def _split(word: str, option: str, what: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise UsageError(f"{option} {word!r} is not COMPONENT={what}", fix=f"as in: {option} torch={what}")
    return name, value


def _find_source(name: str, folder: str) -> tuple[str, str]:
    path = note_place(from_home(folder).absolute(), f"--source {name}=DIR")
    if not path.exists():
        _refuse_words(name, folder, path)
    check_folder(path, there=True)
    if not path.exists():
        raise UsageError(f"there is no folder {path}", fix=f"name another: --source {name}=DIR")
    if not any((path / sign).exists() for sign in SIGNS):
        bare = all((path / each).exists() for each in ("HEAD", "objects", "refs"))
        what = "is a bare repository of git, without files" if bare else "is neither a git checkout nor an unpacked"
        why = what if bare else f"{what} source archive: it has none of {', '.join(SIGNS)}"
        clone = f"clone it: git clone --recurse-submodules {path} DIR, and name that: --source {name}=DIR"
        fix = clone if bare else f"name the folder that has one, or leave --source {name} out"
        raise UsageError(f"{path} {why}", fix=fix)
    return name, str(path)


def _refuse_words(name: str, folder: str, path: Path) -> None:
    """Raise UsageError for what stands in the place of a folder: an address, or a folder with a word behind it."""
    if ADDRESS.match(folder):
        fix = f"git clone --recurse-submodules {hide(folder)} DIR, and then: --source {name}=DIR"
        raise UsageError(f"--source takes a folder, and {hide(folder)} is an address", fix=fix)
    before, colon, behind = str(path).rpartition(":")
    if colon and "/" not in behind and Path(before).is_dir():
        why = f"{':' + behind!r} is nothing that a tree can be, but {EDITABLE!r}"
        raise UsageError(why, fix=f"as in: --source {name}={before}{EDITABLE}, or --source {name}={before}")


def _find_patch(name: str, file: str) -> Patch:
    path = from_home(file).absolute()
    text = read_patch(path, f"as in: --patch {name}=FILE, which `git diff` makes")
    return Patch(source=name, file=str(path), text=text)


A_CHANGE = re.compile(r"^(?:diff --git \S|--- [^\n]*\n\+\+\+ )", re.MULTILINE)
"""How a change of a file begins in a patch, of git or of diff -u."""


def read_patch(path: Path, fix: str) -> str:
    """Read a patch. Raises UsageError for a file that is not there or is none: what any profile names goes far."""
    if not path.is_file():
        raise UsageError(f"there is no patch {path}", fix=fix)
    try:
        text = files.read_input_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"the patch {path} is not UTF-8 text", fix="git diff > FILE makes one") from error
    if not text.strip():
        raise UsageError(f"the patch {path} is empty", fix="git diff > FILE makes one of what is not committed")
    if A_CHANGE.search(text) is None:
        why = "no file is named in it that changes, as by 'diff --git' or by '--- ' with '+++ ' below"
        raise UsageError(f"{path} is no patch: {why}", fix="git diff > FILE makes one")
    return text


def read_request(  # noqa: PLR0913 - one for each option
    *,
    only: Sequence[str] | None = None,
    until: str = "",
    arch: str = "auto",
    variables: Sequence[str] | None = None,
    verify: str = "",
    target: str = "",
    source: Sequence[str] | None = None,
    patch: Sequence[str] | None = None,
    require_hashes: bool = False,
    device: str = "gpu",
) -> Request:
    """Read what was asked; `source` and `patch` are trees and files of the user's own.

    Raises UsageError for words that name nothing, and for trees and files that cannot be read.
    """
    asked = make_request(only=only or [], until=until, arch=arch, set_=variables or [], verify=verify, target=target)
    asked = replace(asked, require_hashes=require_hashes, device=_parse_device(device, asked.only))
    if not (source or patch):
        return asked
    return replace(with_sources(asked, source or ()), patches=find_patches(patch or ()))


def read_words(words: Sequence[str]) -> Request:
    """Read the request of a build back from the words of its options; those that say which build are passed over.

    What only stops a build, or follows it, is left out: `--require-hashes`, `--verify`.
    """
    given = sort_words(words)
    return read_request(
        arch=given.get("--arch", ["auto"])[0],
        variables=given.get("--set"),
        source=given.get("--source"),
        patch=given.get("--patch"),
        only=[XPU] if XPU in given.get("--only", ()) else None,
        device=given.get("--device", ["gpu"])[0],
        verify="off",
    )
