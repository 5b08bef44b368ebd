"""The checks of inspect_wheel.py: pure functions of what a wheel holds and what was wanted of it."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from posixpath import basename, dirname
from typing import TYPE_CHECKING, NamedTuple

import wheel_libraries as libraries
import wheel_runtime as runtime
from wheel_contents import Finding, some

if TYPE_CHECKING:
    from collections.abc import Callable

    from wheel_contents import Wanted, Wheel

SIGNATURES = ("RECORD", "RECORD.jws", "RECORD.p7s")
"""Files of .dist-info that RECORD gives no hash for."""


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def check_record(wheel: Wheel, _: Wanted) -> Finding:
    listed = dict(wheel.record)
    there = {member.path: member for member in wheel.members}
    bare = {path for path in there if dirname(path).endswith(".dist-info") and basename(path) in SIGNATURES}
    common = listed.keys() & there.keys() - bare
    troubles = {
        "listed but missing": listed.keys() - there.keys(),
        "not listed": there.keys() - listed.keys() - bare,
        "changed": {path for path in common if listed[path] != f"sha256={there[path].sha256}"},
        "outside of the wheel": {path for path in there if path.startswith("/") or ".." in path.split("/")},
        "twice": {path for path, count in Counter(member.path for member in wheel.members).items() if count > 1},
    }
    seen = "; ".join(f"{what}: {some(paths)}" for what, paths in troubles.items() if paths)
    return Finding("fail" if seen else "ok", seen or f"{len(listed)} files as RECORD says", "every file, its sha256")


def check_version(wheel: Wheel, wanted: Wanted) -> Finding:
    file_name, file_version = wheel.file_name.split("-")[:2]
    name, version = plain(wanted.distribution or file_name), wanted.version or file_version
    good = plain(wheel.name) == name == plain(file_name) and wheel.version == version == file_version
    seen = f"{wheel.name} {wheel.version}" + ("" if good else f" in {wheel.file_name}")
    return Finding("ok" if good else "fail", seen, f"{name} {version}")


def check_tags(wheel: Wheel, wanted: Wanted) -> Finding:
    """Hold the tags of the name, which is what pip goes by, against those inside and against this machine."""
    parts = (part.split(".") for part in wheel.file_name.removesuffix(".whl").split("-")[-3:])
    tags = ["-".join(tag) for tag in product(*parts)]
    limit = f"fits cp{wanted.python[0]}{wanted.python[1]}{wanted.abi_flags} on {wanted.machine}"
    differ = f"the file name says {some(tags)}, WHEEL says {some(wheel.tags) or 'nothing'}"
    if {_without_system(tag) for tag in tags} != {_without_system(tag) for tag in wheel.tags}:
        return Finding("fail", differ, limit)
    if not (wanted.any_python or any(fits(tag, wanted) for tag in tags)):
        return Finding("fail", some(tags), limit)
    if set(map(_by_its_new_name, tags)) != set(map(_by_its_new_name, wheel.tags)):
        return Finding("warn", f"{differ}; pip goes by the file name", limit)
    return Finding("ok", some(tags), None if wanted.any_python else limit)


def _without_system(tag: str) -> str:
    """Give a tag without the C library that it promises: publishers change that in the name alone."""
    return re.sub(r"-(?:many)?linux(?:[a-z\d]*(?:_\d+_\d+)?)?_(\w+)$", r"-linux_\1", tag)


def _by_its_new_name(tag: str) -> str:
    for old, new in (("manylinux1_", "manylinux_2_5_"), ("manylinux2010_", "manylinux_2_12_")):
        tag = tag.replace(old, new)
    return tag.replace("manylinux2014_", "manylinux_2_17_")


def fits(tag: str, wanted: Wanted) -> bool:
    python, abi, platform = tag.split("-")
    exact = "cp{}{}".format(*wanted.python)
    match = re.fullmatch(r"(?:py|cp)(\d)(\d*)", python)
    older = match is not None and (int(match[1]), int(match[2] or 0)) <= wanted.python
    for_python = python == exact or (older and (python.startswith("py") or abi == "abi3"))
    for_abi = abi == "none" or abi == exact + wanted.abi_flags or (abi == "abi3" and not wanted.abi_flags)
    return for_python and for_abi and bool(re.fullmatch(rf"any|(many)?linux(_?\w+)?_{wanted.machine}", platform))


def check_paths(wheel: Wheel, wanted: Wanted) -> Finding:
    """Warn of the folders of the build: PyTorch's own CMake files name one, and its published wheels others."""
    if not wanted.folders:
        return Finding("info", "no folder was forbidden")
    leaks, broken = (
        {one.path for one in wheel.members if one.found & set(these)} for these in (wanted.folders, wanted.forbidden)
    )
    mapped = {one.path for one in wheel.members if one.mapped & set(wanted.folders)}
    limit = f"nowhere {some(wanted.folders)}"
    named = [f"a folder of the build is named in {some(leaks)}"] * bool(leaks)
    named += [f"named as the option -f...-prefix-map in {some(mapped)}"] * bool(mapped)
    if named:
        return Finding("fail" if broken else "warn", "; ".join(named), limit)
    return Finding("ok", f"{len(wheel.members)} files name no folder of the build", limit)


class Check(NamedTuple):
    """A check: why what it finds matters, and what to do then."""

    id: str
    title: str
    run: Callable[[Wheel, Wanted], Finding]
    why: str
    fix: str


CHECKS = (
    Check(
        "wheel.record",
        "files",
        check_record,
        "pip installs what is in the archive: what RECORD does not tell was put there or changed afterwards.",
        "build it again, or fetch it again from where it was published",
    ),
    Check(
        "wheel.version",
        "version",
        check_version,
        "pip chooses by name and version; under another one it takes a wheel of the index in its place.",
        "tell the build its version: PYTORCH_BUILD_VERSION and PYTORCH_BUILD_NUMBER for torch",
    ),
    Check(
        "wheel.tags",
        "tags",
        check_tags,
        "pip installs a wheel only where one of its tags fits the interpreter and the machine.",
        "build it with the interpreter that is to use it",
    ),
    Check(
        "wheel.requires",
        "requirements",
        runtime.check_requires,
        "Whoever installs this wheel gets what it requires and no more: a library that nobody brings is not found.",
        "name it in the wheel's requirements: PYTORCH_EXTRA_INSTALL_REQUIREMENTS for torch",
    ),
    Check(
        "wheel.xpu",
        "XPU",
        libraries.check_xpu,
        "A build that finds no SYCL compiler goes on without XPU, and says so in one line of many thousands.",
        "read what its configure said of XPU: xpusetup explain LOG",
    ),
    Check(
        "wheel.arch",
        "GPUs",
        libraries.check_arch,
        "Code for other GPUs is compiled again at every first use, or cannot run.",
        "build with TORCH_XPU_ARCH_LIST, or --arch, as the profile has it",
    ),
    Check(
        "wheel.abi",
        "C++ ABI",
        libraries.check_abi,
        "Extensions with the other C++ ABI do not find torch's functions: a name with std::string is another name.",
        "build with _GLIBCXX_USE_CXX11_ABI as the profile has it",
    ),
    Check(
        "wheel.needed",
        "libraries needed",
        libraries.check_needed,
        "A library that is asked for under a name that no file has is not found.",
        "give each library a SONAME that is the name of its file: leave SOVERSION and patches of library versions out",
    ),
    Check(
        "wheel.rpath",
        "library search",
        libraries.check_rpath,
        "A library looks for others where it was told when it was linked; the build's folders are not there elsewhere.",
        "link with -Wl,-rpath,'$ORIGIN', or mend it: patchelf --set-rpath",
    ),
    Check(
        "wheel.paths",
        "build folders",
        check_paths,
        "Paths of the build tell of the machine, and make two builds of one source differ.",
        "compile with -ffile-prefix-map=FOLDER=.",
    ),
    Check(
        "wheel.floor",
        "system libraries",
        libraries.check_floor,
        "On a system with an older glibc or libstdc++ it is installed and cannot be loaded.",
        "build on the oldest system that is to use it, or give it the tag that tells the truth",
    ),
    Check("wheel.size", "size", runtime.check_sizes, "", ""),
)
