"""Those checks of inspect_wheel.py that look at the ELF files of a wheel."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from posixpath import basename, dirname, join, normpath
from typing import TYPE_CHECKING

from wheel_contents import Finding, some
from wheel_images import find_lacking, names_of
from wheel_runtime import wrong_names

if TYPE_CHECKING:
    from wheel_contents import Wanted, Wheel
    from wheel_elf import Library


MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_")
ORIGIN = re.compile(r"^\$(?:ORIGIN|\{ORIGIN\})(?:/|$)")

OF_SYSTEM = re.compile(r"/(?:usr|lib|lib64)(?:/|$)|/opt/intel(?:/|$)|.*/oneapi(?:/|$)")
"""Absolute folders that are the same on other machines; any other is that of the machine where it was built."""


def check_xpu(wheel: Wheel, wanted: Wanted) -> Finding:
    ours = [one for one in wheel.libraries if "xpu" in basename(one.path)]
    limit = "libtorch_xpu.so that needs libsycl.so" if wanted.xpu else None
    if not any(basename(one.path) == "libtorch_xpu.so" for one in ours):
        return Finding("fail" if wanted.xpu else "info", "no libtorch_xpu.so in it: built without XPU", limit)
    runtimes = {name for one in ours for name in one.needed if name.startswith("libsycl.so")}
    if len(runtimes) != 1:
        return Finding("fail", f"libtorch_xpu.so is in it and needs {some(runtimes) or 'no libsycl.so'}", limit)
    images = {f"{basename(one.path)} {name}" for one in ours for name in one.images}
    seen = f"libtorch_xpu.so needs {some(runtimes)}; "
    if images:
        return Finding("ok", f"{seen}likely with device code, by its sections: {some(images)}", limit)
    return Finding("warn", f"{seen}likely without device code: no section with a name that is known for it", limit)


def arch_spellings(arch: str) -> tuple[str, ...]:
    """Give the ways in which builds write a list of GPUs: with commas, with blanks after them, with blanks alone."""
    return tuple(mark.join(arch.split(",")) for mark in (",", ", ", " "))


def check_arch(wheel: Wheel, wanted: Wanted) -> Finding:
    """Hold the GPUs that device images are for against those that were asked for; without images, what texts say."""
    ours = [one for one in wheel.libraries if one.targets.images or "xpu" in basename(one.path)]
    versions = {version for one in ours for version in one.targets.versions}
    trouble = next((one.targets.trouble for one in ours if one.targets.trouble), "")
    if versions:
        return _judge_images(sum(one.targets.images for one in ours), names_of(versions), wanted, versions)
    if not wanted.arch:
        return Finding("info", trouble or "no list of GPUs was asked for, and no device image is in it")
    return _judge_texts(wheel, wanted.arch, trouble)


def _judge_images(images: int, names: list[str], wanted: Wanted, versions: set[str]) -> Finding:
    seen = f"{images} device images, for {', '.join(names)}"
    if not wanted.arch:
        return Finding("info", seen)
    lacking = find_lacking(re.split(r"[,\s]+", wanted.arch), versions)
    return Finding(
        "fail" if lacking else "ok", f"{seen}; none for {', '.join(lacking)}" if lacking else seen, wanted.arch
    )


def _judge_texts(wheel: Wheel, arch: str, trouble: str) -> Finding:
    wanted_lists, wanted_names = set(arch_spellings(arch)), set(arch.split(","))
    holders = {basename(member.path) for member in wheel.members if member.library and member.found & wanted_lists}
    if holders:
        return Finding("ok", f"likely built for these: named in {some(holders)}", arch)
    lists = {text for one in wheel.libraries if "xpu" in basename(one.path) for text in one.lists}
    others = [text for text in lists if set(re.split(r"[,\s]+", text)) != wanted_names]
    if len(others) == len(lists) == 1 and not trouble:
        return Finding("fail", f"built for other GPUs: a library names {others[0]!r}", arch)
    return Finding("warn", trouble or "no library names this list", arch)


def check_abi(wheel: Wheel, wanted: Wanted) -> Finding:
    of_torch = [one for one in wheel.libraries if basename(one.path).startswith(("libc10", "libtorch"))]
    chosen = of_torch or wheel.libraries
    new, old = sum(one.new_strings for one in chosen), sum(one.old_strings for one in chosen)
    abi = None if new == old else int(new > old)
    seen = f"C++ ABI {'unknown' if abi is None else abi}: {new} symbols with the new std::string, {old} with the old"
    if wanted.abi is None or abi is None:
        return Finding("info" if wanted.abi is None else "warn", seen, None if wanted.abi is None else str(wanted.abi))
    return Finding("ok" if abi == wanted.abi else "fail", seen, str(wanted.abi))


def check_needed(wheel: Wheel, wanted: Wanted) -> Finding:
    ours = {basename(member.path) for member in wheel.members}
    foreign = {name for one in wheel.libraries for name in one.needed} - ours
    misnamed = list(wrong_names(wheel))
    if misnamed:
        return Finding("fail", some(misnamed), some(wanted.needed, 9) or None)
    missing = [want for want in wanted.needed if not any(fnmatch(name, want) for name in foreign | ours)]
    broken = [f"{member.path} {member.trouble}" for member in wheel.members if member.trouble]
    if missing or broken:
        texts = [f"no library needs {some(missing)}"] * bool(missing) + [some(broken)] * bool(broken)
        return Finding("fail" if missing else "warn", "; ".join(texts), some(wanted.needed, 9) or None)
    seen = f"{len(wheel.libraries)} ELF files; from outside they need {some(foreign, 40) or 'nothing'}"
    return Finding("ok" if wanted.needed else "info", seen, some(wanted.needed, 9) or None)


def check_rpath(wheel: Wheel, wanted: Wanted) -> Finding:
    paths = ((one.path, folder) for one in wheel.libraries for folder in (*(one.rpath or ()), *(one.runpath or ())))
    absolute = {folder: path for path, folder in paths if not relative(folder)}
    lost = {f"{one.path} needs {name}" for one in wheel.libraries for name in unreached(one, wheel)}
    modules = {text for text in lost if ".so" in text.split()[0]}
    built = {folder for folder in absolute if any(is_below(folder, prefix) for prefix in wanted.folders)}
    kept = {wanted.interpreter} if wanted.interpreter else set()  # Python's own flags write it into every extension
    foreign = {folder for folder in absolute if folder.startswith("/") and not OF_SYSTEM.match(folder)} - kept
    texts = [f"{path} looks in {folder or 'the current folder'}" for folder, path in absolute.items()]
    parts = [f"not found beside it: {some(lost)}"] * bool(lost) + [some(texts)] * bool(texts)
    level = "fail" if modules or built or foreign else "warn" if parts else "ok"
    return Finding(level, "; ".join(parts) or "all relative to $ORIGIN", "$ORIGIN, and all that is in the wheel found")


def relative(folder: str) -> bool:
    return bool(ORIGIN.match(folder))


def is_below(folder: str, prefix: str) -> bool:
    return f"{normpath(folder)}/".startswith(f"{normpath(prefix)}/")


def installed(path: str) -> str:
    """Give the place in site-packages of a file that the wheel may hold in its .data folder."""
    return re.sub(r"^[^/]+\.data/(purelib|platlib)/", "", path)


def search_folders(library: Library, wheel: Wheel) -> set[str]:
    owners = [(library.path, library.runpath)]
    if library.runpath is None:  # then the RPATH of whatever loads it counts as well as its own
        owners = [(one.path, one.rpath) for one in wheel.libraries if one.runpath is None]
    found = ((path, folder) for path, folders in owners for folder in folders or () if relative(folder))
    return {normpath(join(dirname(installed(path)), ORIGIN.sub("", folder))) for path, folder in found}


def unreached(library: Library, wheel: Wheel) -> set[str]:
    """Name what a library needs of its own wheel, but would not find from where it is installed."""
    folders = search_folders(library, wheel)
    places: dict[str, set[str]] = {}
    for member in wheel.members:
        places.setdefault(basename(member.path), set()).add(normpath(dirname(installed(member.path)) or "."))
    return {name for name in library.needed if name in places and not places[name] & folders}


def check_floor(wheel: Wheel, _: Wanted) -> Finding:
    highest: dict[str, tuple[tuple[int, ...], str]] = {}
    for one in wheel.libraries:
        for kind, text in one.floor:
            found = (tuple(map(int, text.split("."))), f"{kind} {text} ({basename(one.path)})")
            highest[kind] = max(highest.get(kind, found), found)
    seen = ", ".join(text for _, text in highest.values()) or "needs no versions of system libraries"
    promised = [(int(match[1]), int(match[2])) for match in map(MANYLINUX.search, wheel.tags) if match]
    if promised and "GLIBC" in highest and highest["GLIBC"][0][:2] > max(promised):
        return Finding("warn", f"more than the tag says: {seen}", "glibc {}.{}".format(*max(promised)))
    return Finding("info", seen)
