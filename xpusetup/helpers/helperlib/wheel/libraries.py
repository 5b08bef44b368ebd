"""The checks of a wheel's libraries: where they look for others, their C++ ABI, their device code."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from posixpath import basename, dirname, join, normpath, splitext
from typing import NamedTuple

from helperlib.env.distributions import canonical
from helperlib.output import count
from helperlib.wheel.contents import LINKER_SCRIPT, Opened, SharedObject, Wanted, WheelContents, WheelFinding, some
from helperlib.wheel.images import AHEAD, BUNDLE, NAMES, find_lacking, names_of, numbers_of
from helperlib.wheel.runtime import is_loaded, of_driver, opens, wrong_names

# Where the libraries of a wheel look for others, and what they need of their own wheel but would not find there.
#
# glibc takes a library that is loaded already for one that is needed where its SONAME is the name that is asked for.
# So a need that no search path leads to is still met where Python opens that library first, by its path, or where
# whatever is linked to the one that needs it is linked to it as well: glibc loads all that a library asks for itself
# before it looks at what those need.


ORIGIN = re.compile(r"^\$(?:ORIGIN|\{ORIGIN\})(?:/|$)")
OF_SYSTEM = re.compile(r"/(?:usr|lib|lib64)(?:/|$)|/opt/intel(?:/|$)|.*/oneapi(?:/|$)")
"""Absolute folders that are the same on other machines; any other is that of the machine where it was built."""
OF_ANYONE = re.compile(r"/(?:tmp|var/tmp|dev/shm|scratch)(?:/|$)")
"""Absolute folders below which a user may make one: whoever does puts a library into the processes of others."""


class Lost(NamedTuple):
    """A library of the wheel that another one needs and finds by no search path.

    `opened` says where Python likely opens it before. `alone`: the one that needs it is loaded by what Python itself
    imports or opens, and nobody has the other one loaded by then.
    """

    path: str
    name: str
    opened: Opened | None
    alone: bool

    @property
    def text(self) -> str:
        """Say who needs what, and who likely opens it."""
        told = f", which {self.opened.path} likely opens before" if self.opened else ""
        return f"{self.path} needs {self.name}{told}"


def find_lost(wheel: WheelContents) -> Iterator[Lost]:
    """Give what libraries need of their own wheel, but would not find from where it is installed."""
    loading = Loading(wheel)
    for one in wheel.libraries:
        for name in sorted(set(one.needed)):
            if name in loading.places and not loading.finds(one, name):
                alone = (one.path, name) in loading.stuck and not of_driver(name)
                if (one.path, name) in loading.stuck or one.path not in loading.reached:
                    yield Lost(one.path, name, _opener(wheel, name), alone)


def _opener(wheel: WheelContents, name: str) -> Opened | None:
    named = [basename(each.path) for each in wheel.libraries if each.soname == name]
    return next((each for each in wheel.opened if any(opens(each.name, file) for file in named)), None)


class Loading:
    """What glibc loads where Python imports or opens a library of a wheel: all that one needs before what those need.

    `places`: the folders that have a file of each name; `reached`: the paths of what is loaded; `stuck`: those of
    libraries, with a name of the wheel that one neither finds nor has been loaded before.
    """

    def __init__(self, wheel: WheelContents) -> None:
        self.wheel = wheel
        self.places: dict[str, set[str]] = {}
        for member in wheel.members:
            self.places.setdefault(basename(member.path), set()).add(normpath(dirname(installed(member.path)) or "."))
        self.by_name = {basename(one.path): one for one in wheel.libraries}
        self.folders = {one.path: search_folders(one, wheel) for one in wheel.libraries}
        self.reached: set[str] = set()
        self.stuck: set[tuple[str, str]] = set()
        for one in wheel.libraries:
            if is_loaded(one.path, (), wheel):
                self._load(one)

    def finds(self, one: SharedObject, name: str) -> bool:
        """Say whether a library finds a name of the wheel by where it looks itself."""
        return not self.places[name].isdisjoint(self.folders[one.path])

    def _load(self, first: SharedObject) -> None:
        loaded, waiting = {first.soname, basename(first.path)}, [first]
        for one in waiting:  # grows while it is walked through: breadth first, as glibc does
            self.reached.add(one.path)
            for name in one.needed:
                if name in loaded or name not in self.places:
                    continue
                loaded.add(name)
                if not self.finds(one, name):
                    self.stuck.add((one.path, name))
                elif name in self.by_name:
                    waiting.append(self.by_name[name])


def relative(folder: str) -> bool:
    return bool(ORIGIN.match(folder))


MODULES = re.compile(r"^[^/]+\.data/(?:purelib|platlib|data/lib(?:64)?/python[\d.]+/site-packages)/")
OF_PREFIX = re.compile(r"^[^/]+\.data/data/(lib/)?")


def installed(path: str) -> str:
    """Give the place, from site-packages on, of a file that the wheel may hold in its .data folder."""
    path = MODULES.sub("", path)
    return OF_PREFIX.sub(lambda found: "../../" if found[1] else "../../../", path)


def search_folders(library: SharedObject, wheel: WheelContents) -> set[str]:
    """Give the folders of the wheel in which a library looks for others."""
    owners = [(library.path, library.runpath)]
    if library.runpath is None:  # then the RPATH of whatever loads it counts as well as its own
        owners = [(one.path, one.rpath) for one in wheel.libraries if one.runpath is None]
    found = ((path, folder) for path, folders in owners for folder in folders or () if relative(folder))
    return {normpath(join(dirname(installed(path)), ORIGIN.sub("", folder))) for path, folder in found}


# What a wheel holds that the tags of its name do not promise: libraries of other machines, modules of other Pythons.


OF_TAG = re.compile(r"linux.*?_(x86_64|aarch64|i686|ppc64le|s390x|riscv64|loongarch64|armv\d)\w*$")
IMPORTED = re.compile(r"_|.+\.(?:cpython-|abi3\.)")
"""Names by which nobody but Python asks for a library; others may be there to be handed to other machines."""
MODULE = re.compile(r"(.+?)\.(?:cpython-(\d+[a-z]*)(?:-(\w+)-[\w-]+)?|(abi3))?\.?so")


def find_foreign(wheel: WheelContents) -> Iterator[tuple[str, bool]]:
    """Give what is for another machine than the tags say; with each, whether something loads it, or all is."""
    found = [match[1] for match in map(OF_TAG.search, wheel.promised) if match]
    machines = {"armv7l" if name.startswith("armv") else name for name in found}
    files = [one for one in wheel.members if one.machine and ".so" in basename(one.path)]
    right = {basename(one.path) for one in files if one.machine in machines}
    needed = {name for one in wheel.libraries for name in one.needed}
    are = f"{some([basename(one.path) for one in files])} {'is' if len(files) == 1 else 'are'} for Linux"
    systems = {tag for tag in wheel.promised if "-win" in tag or "-macosx" in tag}
    if files and any(tag.endswith("-any") for tag in wheel.promised):
        yield f"{are} on {some({one.machine for one in files})} alone", False
    elif files and systems and not _others(wheel):
        yield f"{are}, not for {some(systems)}", True
    for one in files if machines else ():
        if one.machine not in machines and basename(one.path) not in right:
            surely = IMPORTED.match(basename(one.path)) or basename(one.path) in needed
            yield f"{basename(one.path)} is for {one.machine}", not right or bool(surely)


def _others(wheel: WheelContents) -> bool:
    """Say whether there are libraries of another system than Linux."""
    return any(one.instead or splitext(one.path)[1] in FOREIGN for one in wheel.members)


def find_unimportable(wheel: WheelContents) -> Iterator[tuple[str, bool]]:
    """Give the modules that no Python of the tags finds by their names; with each, whether those are all of them."""
    pythons = {python for tag in wheel.promised for python in _pythons_of(tag)}
    machines = {match[1] for match in map(OF_TAG.search, wheel.promised) if match}
    stems: dict[str, list[tuple[str, bool]]] = {}
    for one in wheel.members:
        if match := MODULE.fullmatch(basename(one.path)):
            python, machine = match[2] or "", match[3] or ""
            good = not python or python in pythons
            good = good and (machine not in {"x86_64", "aarch64"} or not machines or machine in machines)
            stems.setdefault(join(dirname(one.path), match[1]), []).append((one.path, good))
    lost = [rows[0][0] for rows in stems.values() if not any(good for _, good in rows)]
    if lost:
        exact = all(pythons)
        names = some([basename(path) for path in lost])
        yield f"only the Python that is named in it imports {names}", exact and len(lost) == len(stems)


def _pythons_of(tag: str) -> tuple[str, ...]:
    """Give the one interpreter that a tag is for, as its modules name it; an empty name where it is for several."""
    python, abi, _ = tag.split("-")
    number = re.sub(r"^\D+", "", python)
    if abi == "none" and len(number) > 1:
        return tuple(number + flag for flag in ("", "m", "t", "d"))
    own = abi.removeprefix("cp")
    return (own, own.removesuffix("d")) if abi.startswith("cp") else ("",)  # one for debugging takes modules of others


# The checks.


FOREIGN = {".pyd": "Windows", ".dll": "Windows", ".dylib": "macOS"}
"""Endings of libraries that are not read, and whose they are."""
MANYLINUX = re.compile(r"manylinux_(\d+)_(\d+)_")
LEGACY = {"manylinux1_": "manylinux_2_5_", "manylinux2010_": "manylinux_2_12_", "manylinux2014_": "manylinux_2_17_"}
"""Old names of tags, and what each stands for."""


def check_xpu(wheel: WheelContents, wanted: Wanted) -> WheelFinding:
    ours = [one for one in wheel.libraries if "xpu" in basename(one.path)]
    limit = "libtorch_xpu.so that needs libsycl.so" if wanted.xpu else None
    if not any(basename(one.path) == "libtorch_xpu.so" for one in ours):
        if not wheel.libraries and _systems(wheel):
            return WheelFinding("warn" if wanted.xpu else "info", _say_none(wheel), limit)
        if wanted.xpu or canonical(wheel.name) == "torch":
            return WheelFinding("fail" if wanted.xpu else "info", "no libtorch_xpu.so in it: built without XPU", limit)
        return WheelFinding("info", f"no torch in it; {_say_sycl(wheel)}" if wheel.libraries else _say_none(wheel))
    runtimes = {name for one in ours for name in one.needed if name.startswith("libsycl.so")}
    if len(runtimes) != 1:
        return WheelFinding("fail", f"libtorch_xpu.so is in it and needs {some(runtimes) or 'no libsycl.so'}", limit)
    return _judge_code(ours, wanted, f"libtorch_xpu.so needs {some(runtimes)}; ", limit)


SHOWN_BY = {
    "xpu": re.compile(r"lib(?:torch|c10)_xpu\.so|libsycl\.so"),
    "cuda": re.compile(r"lib(?:torch|c10)_cuda\.so|libcuda(?:rt)?[-.]"),
    "rocm": re.compile(r"lib(?:torch|c10)_hip\.so|libamdhip64\.so"),
    "mpi": re.compile(r"libmpi(?:_cxx|cxx)?\.so"),
    "xccl": re.compile(r"libccl\.so"),
}
"""Libraries that show what a build took: they are in the wheel, or something in it needs them."""


def check_others(wheel: WheelContents, wanted: Wanted) -> WheelFinding:
    """Look for what a build was to leave out."""
    if not wanted.without:
        return WheelFinding("info", "nothing was to be left out")
    limit = f"nothing of {', '.join(wanted.without)}"
    names = {name for one in wheel.libraries for name in (basename(one.path), *one.needed)}
    found = {which: {name for name in names if SHOWN_BY[which].match(name)} for which in wanted.without}
    if said := [f"built for {which}, for it has or needs {some(those)}" for which, those in found.items() if those]:
        return WheelFinding("fail", "; ".join(said), limit)
    return WheelFinding("ok", limit, limit)


def _say_none(wheel: WheelContents) -> str:
    """Say that a wheel has no library that could be read: none at all, or those of another system."""
    systems = _systems(wheel)
    return f"libraries of {some(systems)}, which are not read" if systems else "no library in it"


def _systems(wheel: WheelContents) -> set[str]:
    """Give the systems and processors whose libraries are in a wheel and are not read.

    On macOS modules end like those of Linux.
    """
    found = {FOREIGN[ending] for one in wheel.members if (ending := splitext(one.path)[1]) in FOREIGN}
    found |= {one.unread for one in wheel.members if one.unread}
    return found | ({"macOS"} if any("macosx" in tag for tag in wheel.tags) else set())


def _say_sycl(wheel: WheelContents) -> str:
    """Say which libraries of a wheel that is not torch use SYCL's runtime, and by which name they ask for it."""
    users = {
        basename(one.path): name for one in wheel.libraries for name in one.needed if name.startswith("libsycl.so")
    }
    return f"{some(set(users.values()))} is needed by {some(users)}" if users else "nothing in it needs SYCL's runtime"


def _judge_code(ours: Sequence[SharedObject], wanted: Wanted, seen: str, limit: str | None) -> WheelFinding:
    """Look for device code: by the sections in which linkers leave it, and by the call that makes it known."""
    images = {f"{basename(one.path)} {name}" for one in ours for name in one.images}
    if wanted.host_alone and has_code(ours):
        return WheelFinding("fail", f"{seen}it has device code, and was to be built without a device compiler", limit)
    if images:
        return WheelFinding("ok", f"{seen}likely with device code, by its sections: {some(images)}", limit)
    if has_code(ours):
        return WheelFinding("warn", f"{seen}it has device code, in no section with a name that is known for it", limit)
    if wanted.host_alone:
        return WheelFinding("warn", f"{seen}no device code, as it was to be", limit)
    why = "no section for it, and nothing that makes it known to the SYCL runtime"
    return WheelFinding("fail", f"{seen}no device code, so nothing in it runs on a GPU: {why}", limit)


def has_code(libraries: Iterable[SharedObject]) -> bool:
    return any(one.images or one.registers for one in libraries)


def arch_spellings(arch: str) -> tuple[str, ...]:
    """Give the ways in which builds write a list of GPUs: with commas, with blanks after them, with blanks alone."""
    return tuple(mark.join(arch.split(",")) for mark in (",", ", ", " "))


def check_arch(wheel: WheelContents, wanted: Wanted) -> WheelFinding:
    """Hold the GPUs that device images are for against those that were asked for; without images, what texts say."""
    ours = [one for one in wheel.libraries if one.images or one.targets.images or "xpu" in basename(one.path)]
    versions = {version for one in ours for version in one.targets.versions}
    trouble = next((one.targets.trouble for one in ours if one.targets.trouble), "")
    if versions:
        seen = f"{sum(one.targets.images for one in ours)} device images, for {', '.join(names_of(versions))}"
        lacking = _say_refused(ours)
        found = _judge_images(f"{seen}{lacking}", wanted, versions, generic=any(one.targets.generic for one in ours))
        return found._replace(level="warn") if lacking and found.level == "ok" else found
    if not wanted.arch:
        return WheelFinding("info", trouble or (_say_code(wheel) if wheel.libraries else _say_none(wheel)))
    if not wheel.libraries:
        return WheelFinding("warn", _say_none(wheel), wanted.arch)
    if ours and not has_code(ours):
        level = "warn" if wanted.host_alone else "fail"
        return WheelFinding(level, "no device code, whatever list a library names", wanted.arch)
    bundles = {name for one in ours for name in one.images if name.startswith(BUNDLE)}
    if bundles and not any(name.endswith(AHEAD) for name in bundles) and NAMES & set(wanted.arch.split(",")):
        seen = f"nothing was compiled ahead of time: all its device code is SPIR-V ({some(bundles)})"
        return WheelFinding("fail", seen, wanted.arch)
    return _judge_texts(wheel, wanted.arch, trouble)


def _say_code(wheel: WheelContents) -> str:
    """Say what device code is in a wheel that has no image for a GPU of Intel's."""
    kinds: dict[str, set[str]] = {}
    for one in wheel.libraries:
        spirv = {"SPIR-V, compiled when it is first used"} if any("spir64" in name for name in one.images) else set()
        for kind in spirv | {f"code for GPUs of {whose}" for whose in one.others}:
            kinds.setdefault(kind, set()).add(basename(one.path))
    there = "; ".join(f"{kind}: {some(files)}" for kind, files in sorted(kinds.items()))
    asked = "no list of GPUs was asked for, and no image for one of Intel's is in it"
    return f"{asked}; {there}" if there else f"{asked}, nor other device code that is known"


def _say_refused(libraries: Iterable[SharedObject]) -> str:
    """Say which kernels the offline compiler refused to compile for which GPU."""
    refused: dict[str, set[str]] = {}
    for gpu, kernel in (each for one in libraries for each in one.targets.refused):
        refused.setdefault(gpu, set()).add(kernel)
    return "".join(f"; for {gpu} it lacks {some(names)}" for gpu, names in sorted(refused.items()))


def _judge_images(seen: str, wanted: Wanted, versions: set[str], *, generic: bool) -> WheelFinding:
    """Say for which GPUs it is native, and whether others compile it when it is first used or never run it."""
    others = "compiled from SPIR-V when it is first used" if generic else "never, there is no SPIR-V in it"
    if not wanted.arch:
        return WheelFinding("info", f"{seen}; on another GPU {others}")
    lacking = find_lacking(re.split(r"[,\s]+", wanted.arch), versions)
    told = f"{seen}; none for {', '.join(lacking)}: {others}"
    return WheelFinding("fail" if lacking else "ok", told if lacking else seen, wanted.arch)


def _judge_texts(wheel: WheelContents, arch: str, trouble: str) -> WheelFinding:
    wanted_lists, wanted_names = set(arch_spellings(arch)), set(arch.split(","))
    holders = {basename(member.path) for member in wheel.members if member.library and member.found & wanted_lists}
    if holders:
        return WheelFinding("ok", f"likely built for these: named in {some(holders)}", arch)
    lists = {text for one in wheel.libraries if "xpu" in basename(one.path) for text in one.lists}
    others = [text for text in lists if set(re.split(r"[,\s]+", text)) != wanted_names]
    if len(others) == len(lists) == 1 and not trouble:
        return WheelFinding("fail", f"built for other GPUs: a library names {others[0]!r}", arch)
    return WheelFinding("warn", trouble or "no library names this list", arch)


def check_abi(wheel: WheelContents, wanted: Wanted) -> WheelFinding:
    """Say which C++ ABI libraries have, each by most of its names; those of torch decide where there are any."""
    of_torch = [one for one in wheel.libraries if basename(one.path).startswith(("libc10", "libtorch"))]
    chosen = [one for one in of_torch or wheel.libraries if not basename(one.path).startswith("libstdc++")]
    new, old = sum(one.new_strings for one in chosen), sum(one.old_strings for one in chosen)
    limit = None if wanted.abi is None else str(wanted.abi)
    if new == old == 0:
        none = "no symbol with std::string: either C++ ABI" if wheel.libraries else _say_none(wheel)
        return WheelFinding("info" if wanted.abi is None else "warn", none, limit)
    abi = None if new == old else int(new > old)
    seen = f"C++ ABI {'unknown' if abi is None else abi}: {new} symbols with the new std::string, {old} with the old"
    of = {kind: {basename(one.path) for one in chosen if _abi_of(one) == kind} for kind in (0, 1)}
    if mixed := bool(of[0] and of[1]):
        seen = f"both C++ ABIs: the new one in {some(of[1])}, the old one in {some(of[0])}"
    if wanted.abi is None:
        return WheelFinding("info", seen)
    others = any(_abi_of(one) == 1 - wanted.abi and (of_torch or _is_bound(one)) for one in chosen)
    level = "fail" if others else "warn" if mixed or abi is None else "ok" if abi == wanted.abi else "fail"
    return WheelFinding(level, seen, limit)


def _abi_of(one: SharedObject) -> int | None:
    return None if one.new_strings == one.old_strings else int(one.new_strings > one.old_strings)


def _is_bound(one: SharedObject) -> bool:
    """Say whether a library is linked to torch."""
    return any(name.startswith(("libc10", "libtorch")) for name in one.needed)


def check_needed(wheel: WheelContents, wanted: Wanted) -> WheelFinding:
    ours = {basename(member.path) for member in wheel.members}
    foreign = {name for one in wheel.libraries for name in one.needed} - ours
    limit = some(wanted.needed, 9) or None
    missing = [want for want in wanted.needed if not any(fnmatch(name, want) for name in foreign | ours)]
    misnamed = list(wrong_names(wheel))
    stuck = [text for text, loaded in misnamed if not loaded]
    broken = dict(find_broken(wheel))
    if missing or misnamed or broken:
        texts = [f"no library needs {some(missing)}"] * bool(missing) + [some(broken)] * bool(broken)
        texts = [*([some([text for text, _ in misnamed])] if misnamed else []), *texts]
        return WheelFinding("fail" if missing or stuck or any(broken.values()) else "warn", "; ".join(texts), limit)
    if not wheel.libraries and not wanted.needed:
        return WheelFinding("info", _say_none(wheel))
    seen = f"{count(len(wheel.libraries), 'ELF file')}; needed from outside: {some(foreign, 40) or 'nothing'}"
    return WheelFinding("ok" if wanted.needed else "info", seen, limit)


def find_broken(wheel: WheelContents) -> Iterator[tuple[str, bool]]:
    """Give the files that are called as a library is and are no whole one; with each, whether something loads it."""
    needed = {name for one in wheel.libraries for name in one.needed}
    linux = any("linux" in tag or tag.endswith("-any") for tag in wheel.promised)
    for one in wheel.members:
        loaded = is_loaded(one.path, needed, wheel)
        if one.trouble and (one.machine or ".so" in basename(one.path)):
            yield f"{one.path} {one.trouble}", loaded
        elif one.instead and linux and (loaded or one.instead != LINKER_SCRIPT):
            yield f"{one.path} {one.instead}", loaded
        elif one.library and one.library.cut:
            yield f"{one.path} was cut off: the table of its sections is missing", False


def check_rpath(wheel: WheelContents, wanted: Wanted) -> WheelFinding:
    """Fail what cannot be loaded, and run paths that are the build's own or through a folder of any user's."""
    if not wheel.libraries:
        return WheelFinding("info", _say_none(wheel))
    paths = ((one.path, folder) for one in wheel.libraries for folder in (*(one.rpath or ()), *(one.runpath or ())))
    absolute = {folder: path for path, folder in paths if not relative(folder)}
    lost = list(find_lost(wheel))
    stuck = any(one.alone and not one.opened for one in lost)
    of_build = tuple(f"{normpath(prefix)}/" for prefix in wanted.folders)
    built = any(f"{normpath(folder)}/".startswith(of_build) for folder in absolute)
    kept = {wanted.interpreter}  # Python's own flags write it into every extension
    open_to_all = {folder for folder in absolute if OF_ANYONE.match(folder) and not OF_SYSTEM.match(folder)} - kept
    texts = [f"{path} looks in {folder or 'the current folder'}" for folder, path in absolute.items()]
    told = {one.text for one in lost if not one.opened}
    parts = [f"not found beside it: {some(told)}"] * bool(told) + [some(texts)] * bool(texts)
    opened = {one.text for one in lost if one.opened}
    level = "fail" if stuck or built or open_to_all else "warn" if parts else "ok"
    seen = [*parts, *([some(opened)] if opened else [])] or ["all relative to $ORIGIN"]
    return WheelFinding(level, "; ".join(seen), "$ORIGIN, and all that is in the wheel found")


LIBSTDCXX = {(2, 5): "3.4.8", (2, 12): "3.4.13", (2, 17): "3.4.19", (2, 24): "3.4.22", (2, 27): "3.4.24"}
LIBSTDCXX |= {(2, 31): "3.4.28", (2, 34): "3.4.29", (2, 35): "3.4.30", (2, 39): "3.4.33"}
"""The newest GLIBCXX of the oldest systems with a glibc, as the policies of the manylinux tags have it."""


def check_floor(wheel: WheelContents, _: Wanted) -> WheelFinding:
    """Say which versions of system libraries it needs, and hold them against what the tags of its name promise."""
    if foreign := [text for one in wheel.libraries for text in _of_other_family(one, wheel.promised)]:
        return WheelFinding("fail", some(foreign), some(wheel.promised))
    highest = _highest(wheel)
    seen = ", ".join(text for _, text in highest.values()) or (
        "needs no versions of system libraries" if wheel.libraries else _say_none(wheel)
    )
    needs = {kind: numbers for kind, (numbers, _) in highest.items()}
    if any(basename(one.path).startswith("libstdc++") for one in wheel.libraries):
        needs = {kind: numbers for kind, numbers in needs.items() if kind == "GLIBC"}
    stack = {basename(one.path) for one in wheel.libraries if one.runnable_stack}
    refused = f"; glibc from 2.41 on does not load {some(stack)}: an executable stack is asked for" if stack else ""
    names = [modern(tag) for tag in wheel.promised]
    promised = [(int(match[1]), int(match[2])) for match in map(MANYLINUX.search, names) if match]
    has = {"GLIBC": min(promised), "GLIBCXX": _libstdcxx_of(min(promised))} if promised else {}
    if over := [highest[kind][1] for kind, most in has.items() if needs.get(kind, ())[: len(most)] > most]:
        limit = ", ".join(f"{kind} {'.'.join(map(str, most))}" for kind, most in has.items())
        return WheelFinding("warn", f"more than the tag says: {', '.join(over)}; it needs {seen}{refused}", limit)
    plain = "GLIBC" in needs and any("-linux_" in name for name in names)
    best = f"; manylinux_{'_'.join(map(str, _best(needs)))} at best" if plain else ""
    return WheelFinding("warn" if stack else "info", seen + best + refused)


def _highest(wheel: WheelContents) -> dict[str, tuple[tuple[int, ...], str]]:
    """Give the newest version of each system library that is needed, in numbers, and by whom."""
    found: dict[str, tuple[tuple[int, ...], str]] = {}
    for one in wheel.libraries:
        for kind, text in one.floor:
            here = (numbers_of(text), f"{kind} {text} ({basename(one.path)})")
            found[kind] = max(found.get(kind, here), here)
    return dict(sorted(found.items()))


def modern(tag: str) -> str:
    """Give a tag by the name that says which glibc it promises."""
    for old, new in LEGACY.items():
        tag = tag.replace(old, new)
    return tag


def _libstdcxx_of(glibc: tuple[int, ...]) -> tuple[int, ...]:
    return numbers_of(next((text for known, text in reversed(LIBSTDCXX.items()) if known <= glibc), "3.4.8"))


def _best(needs: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Give the oldest glibc beside which everything is that is needed."""
    enough = [known for known, text in LIBSTDCXX.items() if numbers_of(text) >= needs.get("GLIBCXX", ())]
    return max(needs["GLIBC"][:2], next(iter(enough), max(LIBSTDCXX)))


def _of_other_family(one: SharedObject, tags: Collection[str]) -> Iterator[str]:
    """Say that a library is linked to another C library than a tag promises: glibc is not musl, of whatever version."""
    glibc = "libc.so.6" in one.needed or any(kind == "GLIBC" for kind, _ in one.floor)
    musl = any(name == "libc.so" or name.startswith("libc.musl-") for name in one.needed)
    for promised, linked in (("musllinux", "glibc" if glibc else ""), ("manylinux", "musl" if musl else "")):
        if linked and any(promised in tag for tag in tags):
            yield f"{basename(one.path)} is linked to {linked}, and the tag says {promised}"
