"""Looks into a wheel, compares it with what was wanted of it, and writes both as one JSON document."""

from __future__ import annotations

import argparse
import platform
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from posixpath import basename, dirname
from typing import Any, NamedTuple

from helperlib.env.distributions import canonical, find_wheel
from helperlib.env.pins import hash_file
from helperlib.output import count, fail, say_summary, write_json
from helperlib.wheel import libraries, runtime
from helperlib.wheel.contents import NO_ROOM, NotAWheelError, Wanted, WheelContents, WheelFinding, read_wheel, some
from helperlib.wheel.images import names_of
from helperlib.wheel.libraries import arch_spellings, find_broken, find_foreign, find_lost, find_unimportable, modern
from helperlib.wheel.runtime import find_opened, find_unrequired, wrong_names


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--wheel", type=Path, help="the file")
    where.add_argument("--wheels", type=Path, metavar="DIR", help="the folder that holds it, and no other like it")
    parser.add_argument("--distribution")
    parser.add_argument("--version")
    parser.add_argument("--requires-xpu", action="store_true")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=tuple(libraries.SHOWN_BY),
        help="may hold nothing of it",
    )
    parser.add_argument("--host-alone", action="store_true", help="it was built without a device compiler, on purpose")
    parser.add_argument("--abi", type=int, choices=(0, 1), help="C++ ABI, as _GLIBCXX_USE_CXX11_ABI")
    parser.add_argument("--arch", metavar="LIST", help="GPUs that it was built for, as TORCH_XPU_ARCH_LIST")
    parser.add_argument("--any-python", action="store_true", help="it may be for another interpreter than this one")
    parser.add_argument(
        "--forbid-prefix", nargs="+", action="extend", default=[], metavar="PATH", help="may not be named"
    )
    parser.add_argument("--build-folder", action="append", default=[], metavar="PATH", help="should not be named")
    parser.add_argument("--needed", nargs="+", action="extend", default=[], metavar="LIB", help="a name or pattern")
    parser.add_argument("--out", type=Path, help="where the JSON document goes")
    options = parser.parse_args(arguments)
    if options.wheels and not (options.distribution and options.version is not None):
        parser.error("--wheels needs --distribution and --version")
    if options.wheel and not options.wheel.is_file():
        parser.error(f"--wheel {options.wheel}: there is no such file")
    folders = [*options.forbid_prefix, *options.build_folder]
    if short := [path for path in folders if len(Path(path).parts) < 2]:  # noqa: PLR2004, / and a name
        parser.error(f"{short[0]!r} is not the whole path of a folder")
    return options


def spellings(paths: Sequence[str]) -> tuple[str, ...]:
    """Give folders as they were named and as a compiler may have seen them, behind symbolic links."""
    return tuple(dict.fromkeys(name for path in paths for name in (path.rstrip("/"), str(Path(path).resolve()))))


def inspect(path: Path, wanted: Wanted) -> dict[str, Any]:
    texts = (POINTER, *wanted.folders, *(arch_spellings(wanted.arch) if wanted.arch else ()))
    try:
        wheel = read_wheel(path, texts)
    except NotAWheelError as error:
        return describe_broken(path, str(error))
    if any(map(any, (find_lost(wheel), wrong_names(wheel), find_unrequired(wheel), find_broken(wheel)))):
        wheel = replace(wheel, opened=find_opened(path))
    checks = [make_row(check, check.run(wheel, wanted)) for check in CHECKS]
    ok = not any(check["level"] in {"fail", "crash"} for check in checks)
    libraries = [
        {
            "path": one.path,
            "size": one.size,
            "soname": one.soname,
            "needed": one.needed,
            "rpath": one.runpath or one.rpath,
            "targets": names_of(one.targets.versions),
        }
        for one in wheel.libraries
    ]
    return {
        "wheel": str(path),
        "name": wheel.name,
        "version": wheel.version,
        "sha256": wheel.sha256,
        "size": wheel.size,
        "tags": wheel.tags,
        "requires": wheel.requires,
        "libraries": libraries,
        "checks": checks,
        "ok": ok,
    }


def make_row(check: InspectionRule, finding: WheelFinding) -> dict[str, Any]:
    told = finding.level in {"warn", "fail"}
    words = {"why": check.why if told else "", "fix": check.fix if told else ""}
    return {"id": check.id, "title": check.title, **finding._asdict(), **words, "seconds": None, "caused_by": None}


def summarise(document: dict[str, Any]) -> tuple[str, str]:
    bad = [check for check in document["checks"] if check["level"] in {"fail", "crash"}]
    checks = count(len(document["checks"]), "check")
    return count(len(document["libraries"]), "library"), f"{len(bad)} of {checks} failed" if bad else checks


def describe_broken(path: Path, reason: str) -> dict[str, Any]:
    checks = [make_row(CHECKS[0], WheelFinding("fail", reason))]
    nothing = {"name": None, "version": None, "sha256": hash_file(path), "size": path.stat().st_size}
    return {"wheel": str(path), **nothing, "tags": [], "requires": [], "libraries": [], "checks": checks, "ok": False}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    path = options.wheel or find_wheel(options.wheels, options.distribution, options.version)
    wanted = Wanted(
        distribution=options.distribution,
        version=options.version,
        xpu=options.requires_xpu,
        without=tuple(options.without),
        host_alone=options.host_alone,
        abi=options.abi,
        arch=options.arch,
        forbidden=spellings(options.forbid_prefix),
        build_folders=spellings(options.build_folder),
        interpreter=sysconfig.get_config_var("LIBDIR") or "",
        needed=tuple(options.needed),
        python=sys.version_info[:2],
        abi_flags="t" if sysconfig.get_config_var("Py_GIL_DISABLED") else "",
        machine=platform.machine(),
        any_python=options.any_python,
    )
    try:
        document = inspect(path, wanted)
    except OSError as error:
        full = error.errno in NO_ROOM
        why = "there is no room to unpack its libraries" if full else f"{error.strerror} ({error.filename})"
        fix = "name a folder with more room: export TMPDIR=DIR" if full else "make it a file that you may read"
        fail(f"{path.name} was not looked at: {why}", fix)
    for check in document["checks"]:
        line = f"{check['level']:5} {check['title']}: {check['seen'][:200]}"
        print(line.encode("ascii", "backslashreplace").decode())
    if options.out:
        write_json(options.out, document)
    say_summary(*summarise(document))
    return 0 if document["ok"] else 1


# The checks: pure functions of what a wheel holds and what was wanted of it.


POINTER = "version https://git-lfs.github.com/spec/v1"
LONGEST_POINTER = 1024
SIGNATURES = ("RECORD", "RECORD.jws", "RECORD.p7s")
"""Files of .dist-info that RECORD gives no hash for."""


SCHEMES = {"purelib", "platlib", "headers", "scripts", "data"}
"""The folders of .data that installers know a place for."""


def check_record(wheel: WheelContents, _: Wanted) -> WheelFinding:
    listed = dict(wheel.record)
    there = {member.path: member for member in wheel.members}
    bare = {path for path in there if dirname(path).endswith(".dist-info") and basename(path) in SIGNATURES}
    hashes = Counter(path for path, _ in set(wheel.record))
    damaged = {member.path: f"{member.path} {member.trouble}" for member in wheel.members if not member.sha256}
    common = {path: listed[path] for path in listed.keys() & there.keys() - bare - damaged.keys()}
    sha256 = {path: text for path, text in common.items() if text.startswith("sha256=")}
    troubles = {
        "listed but missing": listed.keys() - there.keys(),
        "not listed": there.keys() - listed.keys() - bare,
        "listed without a hash": {path for path, text in common.items() if not text},
        "listed twice, with different hashes": {path for path, count in hashes.items() if count > 1},
        "changed": {path for path, text in sha256.items() if text != f"sha256={there[path].sha256}"},
        "damaged": damaged.values(),
        **_places(wheel),
    }
    doubts = {
        "hashed by something else than sha256, and not compared": {
            path for path, text in common.items() if text and path not in sha256
        },
        "symbolic links, of which pip makes small text files": wheel.links,
        "pointers of git-lfs in place of files": {
            one.path for one in wheel.members if POINTER in one.found and one.size < LONGEST_POINTER
        },
        "programs that nobody may run, for the archive gives no right to": _programs(wheel),
    }
    said = [f"{what}: {some(paths)}" for what, paths in {**troubles, **doubts}.items() if paths]
    level = "fail" if any(troubles.values()) else "warn" if said else "ok"
    return WheelFinding(level, "; ".join(said) or f"{len(listed)} files as RECORD says", "every file, its sha256")


def _places(wheel: WheelContents) -> dict[str, set[str]]:
    """Give the members that installers refuse for where they are to go."""
    counts = Counter(member.path for member in wheel.members)
    parents = {str(parent) for path in counts for parent in PurePosixPath(path).parents}
    data = [path.split("/") for path in counts if path.split("/")[0].endswith(".data")]
    return {
        "outside of the wheel": {path for path in counts if path.startswith("/") or ".." in path.split("/")},
        "twice": {path for path, count in counts.items() if count > 1},
        "both a file and a folder": counts.keys() & parents,
        "in a folder that pip knows no place for": {"/".join(one) for one in data if not set(one[1:2]) & SCHEMES},
    }


def _programs(wheel: WheelContents) -> set[str]:
    """Give the programs that are installed without the right to run them: scripts get it from whoever installs."""
    modes = dict(wheel.modes)
    programs = {one.path for one in wheel.libraries if one.program and ".data/scripts/" not in one.path}
    return {path for path in programs & modes.keys() if not modes[path] & 0o111}


def check_version(wheel: WheelContents, wanted: Wanted) -> WheelFinding:
    file_name, file_version = wheel.file_name.split("-")[:2]
    name, version = canonical(wanted.distribution or file_name), wanted.version or file_version
    folder, _, folder_version = wheel.folder.removesuffix(".dist-info").rpartition("-")
    limit = f"{name} {version}"
    if not (wheel.name and wheel.version):
        lacking = " and no ".join([*["name"] * (not wheel.name), *["version"] * (not wheel.version)])
        return WheelFinding("fail", f"METADATA gives no {lacking}", limit)
    versions = all(is_same(wheel.version, each) for each in (version, file_version))
    if not (canonical(wheel.name) == name == canonical(file_name) and versions):
        return WheelFinding("fail", f"{wheel.name} {wheel.version} in {wheel.file_name}", limit)
    if wheel.folder and not (canonical(folder) == name and is_same(folder_version, version)):
        return WheelFinding("fail", f"its folder {wheel.folder} is that of another name or version", limit)
    return WheelFinding("ok", f"{wheel.name} {wheel.version}", limit)


SPELLED = {"alpha": "a", "beta": "b", "preview": "rc", "pre": "rc", "c": "rc", "rev": "post", "r": "post"}
"""Words in versions that stand for others."""


def is_same(one: str, other: str) -> bool:
    """Say whether two versions are one, however it is spelled: 1.0 and 1.0.0, 1.0.RC1 and 1.0rc1."""
    return _spell(one) == _spell(other)


def _spell(version: str) -> tuple[list[str], list[str]]:
    public, _, local = version.lower().strip().removeprefix("v").partition("+")
    words = [SPELLED.get(word, word) for word in re.findall(r"\d+|[a-z]+|[^\d.a-z_-]", public)]
    numbers = next((index for index, word in enumerate(words) if word.isalpha()), len(words))
    while numbers > 1 and not words[numbers - 1].strip("0") and words[numbers - 2] != "!":
        del words[numbers - 1]
        numbers -= 1
    return words, re.findall(r"[\da-z]+", local)


def check_tags(wheel: WheelContents, wanted: Wanted) -> WheelFinding:
    """Hold the tags of the name, which is what pip goes by, against those inside, the libraries, and this machine."""
    here = "cp{}{}".format(*wanted.python) + wanted.abi_flags
    limit = None if wanted.any_python else f"fits {here} on {wanted.machine}"
    tags = some(wheel.promised)
    differ = f"the file name says {tags}, WHEEL says {some(wheel.tags) or 'nothing'}"
    if _differ(wheel, _without_system) and not _promises_more(wheel):
        return WheelFinding("fail", differ, limit)
    if not (wanted.any_python or any(fits(tag, wanted) for tag in wheel.promised)):
        return WheelFinding("fail", tags, limit)
    if untrue := {**_never_installed(wheel), **dict(find_foreign(wheel)), **dict(find_unimportable(wheel))}:
        return WheelFinding("fail" if any(untrue.values()) else "warn", f"{tags}, and {some(untrue)}", limit)
    if _differ(wheel, modern):
        return WheelFinding("warn", f"{differ}; pip goes by the file name", limit)
    return WheelFinding("ok", tags, limit)


def _differ(wheel: WheelContents, spell: Callable[[str], str]) -> bool:
    """Say whether the tags of the name and those inside differ in what is left of them."""
    return set(map(spell, wheel.promised)) != set(map(spell, wheel.tags))


def _never_installed(wheel: WheelContents) -> dict[str, bool]:
    """Say why pip never installs a wheel whatever its tags are."""
    why = {}
    if not wheel.format.startswith("1."):
        why[f"pip does not install Wheel-Version {wheel.format or 'without a number'}"] = True
    exact = [(int(tag[2]), int(match[1])) for tag in wheel.promised if (match := re.match(r"cp\d(\d+)-(?!abi3)", tag))]
    if exact and not any(allows(wheel.python, each) for each in exact):
        why[f"METADATA says Requires-Python {wheel.python}"] = True
    return why


CLAUSE = re.compile(r"\s*(~=|[<>=!]=|<|>)\s*(\d+)\.(\d+)(?:\.(\*|\d+))?\s*")


def allows(requires: str, python: tuple[int, int]) -> bool:
    """Say whether Requires-Python leaves any release of a Python; clauses of another kind exclude none."""
    for match in filter(None, map(CLAUSE.fullmatch, requires.split(","))):
        named, patch = (int(match[2]), int(match[3])), match[4] or ""
        held = {
            "<": python <= named if patch.strip("0*") else python < named,
            "<=": python <= named,
            "==": python == named,
            "!=": python != named or patch != "*",
            "~=": python == named if patch else python >= named and python[0] == named[0],
        }
        if not held.get(match[1], python >= named):
            return False
    return True


def _promises_more(wheel: WheelContents) -> bool:
    """Say whether the name differs only in that it promises any ABI of the interpreter that WHEEL names."""
    anyhow = {re.sub(r"^(\w+)-\w+-", r"\1-none-", _without_system(tag)) for tag in wheel.tags}
    return all("-none-" in tag for tag in wheel.promised) and set(map(_without_system, wheel.promised)) == anyhow


def _without_system(tag: str) -> str:
    """Give a tag without the C library or macOS that it promises: publishers change that in the name alone."""
    tag = re.sub(r"-macosx_\d+_\d+_(\w+)$", r"-macosx_\1", tag)
    return re.sub(r"-(?:many)?linux(?:[a-z\d]*(?:_\d+_\d+)?)?_(\w+)$", r"-linux_\1", tag)


def fits(tag: str, wanted: Wanted) -> bool:
    python, abi, platform = tag.split("-")
    exact = "cp{}{}".format(*wanted.python)
    match = re.fullmatch(r"(?:py|cp)(\d)(\d*)", python)
    older = match is not None and (int(match[1]), int(match[2] or 0)) <= wanted.python
    for_python = python == exact or (older and (python.startswith("py") or abi == "abi3"))
    for_abi = abi == "none" or abi == exact + wanted.abi_flags or (abi == "abi3" and not wanted.abi_flags)
    return for_python and for_abi and bool(re.fullmatch(rf"any|(many)?linux(_?\w+)?_{wanted.machine}", platform))


def check_paths(wheel: WheelContents, wanted: Wanted) -> WheelFinding:
    """Warn of the folders of the build: PyTorch's own CMake files name one, and its published wheels others."""
    if not wanted.folders:
        return WheelFinding("info", "no folder was forbidden")
    leaks, broken = (
        {one.path for one in wheel.members if one.found & set(these)} for these in (wanted.folders, wanted.forbidden)
    )
    mapped = {one.path for one in wheel.members if one.mapped & set(wanted.folders)}
    limit = f"nowhere {some(wanted.folders)}"
    named = [f"a folder of the build is named in {some(leaks)}"] * bool(leaks)
    named += [f"named as the option -f...-prefix-map in {some(mapped)}"] * bool(mapped)
    if named:
        return WheelFinding("fail" if broken else "warn", "; ".join(named), limit)
    return WheelFinding("ok", f"{len(wheel.members)} files name no folder of the build", limit)


class InspectionRule(NamedTuple):
    """A check: why what it finds matters, and what to do then."""

    id: str
    title: str
    run: Callable[[WheelContents, Wanted], WheelFinding]
    why: str
    fix: str


CHECKS = (
    InspectionRule(
        "wheel.record",
        "files",
        check_record,
        "pip installs what is in the archive: what RECORD does not tell was put there or changed afterwards.",
        "build it again, or fetch it again from where it was published",
    ),
    InspectionRule(
        "wheel.version",
        "version",
        check_version,
        "pip chooses by name and version; under another one it takes a wheel of the index in its place.",
        "tell the build its version: PYTORCH_BUILD_VERSION and PYTORCH_BUILD_NUMBER for torch",
    ),
    InspectionRule(
        "wheel.tags",
        "tags",
        check_tags,
        "pip installs a wheel only where one of its tags fits the interpreter and the machine.",
        "build it with the interpreter that is to use it, on its machine",
    ),
    InspectionRule(
        "wheel.requires",
        "requirements",
        runtime.check_requires,
        "Whoever installs this wheel gets what it requires and no more: a library that nobody brings is not found.",
        "name it in the wheel's requirements: PYTORCH_EXTRA_INSTALL_REQUIREMENTS for torch",
    ),
    InspectionRule(
        "wheel.xpu",
        "XPU",
        libraries.check_xpu,
        "A build that finds no SYCL compiler goes on without XPU, and says so in one line of many thousands.",
        "read what its configure said of XPU: xpusetup explain LOG",
    ),
    InspectionRule(
        "wheel.others",
        "others",
        libraries.check_others,
        "CMake takes an accelerator, MPI or oneCCL that it finds, asked or not; elsewhere its libraries are missing.",
        "build with USE_XPU=0, USE_CUDA=0, USE_ROCM=0, USE_MPI=0, USE_XCCL=0 for what it is not for",
    ),
    InspectionRule(
        "wheel.arch",
        "GPUs",
        libraries.check_arch,
        "Code for other GPUs is compiled again at every first use, or cannot run.",
        "build with TORCH_XPU_ARCH_LIST, or --arch, as the profile has it",
    ),
    InspectionRule(
        "wheel.abi",
        "C++ ABI",
        libraries.check_abi,
        "Extensions with the other C++ ABI do not find torch's functions: a name with std::string is another name.",
        "build with _GLIBCXX_USE_CXX11_ABI as the profile has it",
    ),
    InspectionRule(
        "wheel.needed",
        "libraries needed",
        libraries.check_needed,
        "A library is loaded only where it is whole, and a file has the name by which others ask for it.",
        "build it again, or fetch it again; as SONAME give each library the name of its file, without SOVERSION",
    ),
    InspectionRule(
        "wheel.rpath",
        "library search",
        libraries.check_rpath,
        "A library looks for others where it was told when it was linked; the build's folders are not there elsewhere.",
        "link with -Wl,-rpath,'$ORIGIN', or set it: patchelf --set-rpath",
    ),
    InspectionRule(
        "wheel.paths",
        "build folders",
        check_paths,
        "Paths of the build tell of the machine, and make two builds of one source differ.",
        "compile with -ffile-prefix-map=FOLDER=.",
    ),
    InspectionRule(
        "wheel.floor",
        "system libraries",
        libraries.check_floor,
        "On a system with an older glibc or libstdc++ it is installed and cannot be loaded.",
        "build on the oldest system that is to use it, or give it the tag that tells the truth",
    ),
    InspectionRule("wheel.size", "size", runtime.check_sizes, "", ""),
)


if __name__ == "__main__":
    sys.exit(main())
