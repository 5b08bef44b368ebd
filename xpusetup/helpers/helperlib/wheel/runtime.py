"""What a wheel needs when it runs: what its Python code opens, and what its requirements bring."""

import ast
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from posixpath import basename, join
from typing import NamedTuple

from helperlib.env.distributions import InstalledDistribution, canonical
from helperlib.output import render_size
from helperlib.wheel.contents import UNREADABLE, Opened, Wanted, WheelContents, WheelFinding, some

# Which libraries of a wheel its own Python code opens by name: torchaudio opens one before it imports another.
#
# Read from syntax alone. What counts are texts that reach the argument of a function that opens libraries: of ctypes,
# of torch, or one of the wheel that hands its own argument to such a function; where that argument is what another
# function of the wheel gives (`find_lib_path()`), all texts of that one that end like a library. A part that is only
# known at run time stands for anything (`f"libtorio_ffmpeg{version}"`).


LOADERS = frozenset({"CDLL", "PyDLL", "LoadLibrary", "load_library", "dlopen"})
DEPTH = 3
"""How often a function may hand what it was given on to another one of the wheel."""
ANYTHING = "\0"
FILLED = re.compile(r"%[sdr]|\{[^{}]*\}")
ENDING = re.compile(r"\.so(\.\d+)*$")
TELLING = 3
"""Minimum length of a name, without `lib`, that counts as a library by itself."""


class Called(NamedTuple):
    """A call: of what, with which arguments, and whether an error in it is caught."""

    name: str
    given: tuple[ast.expr, ...]
    guarded: bool


class Scope(NamedTuple):
    """A module or function: its parameters, calls, what its names may hold, and its texts that end like a library."""

    name: str
    parameters: frozenset[str]
    calls: tuple[Called, ...]
    values: dict[str, list[ast.expr]]
    libraries: frozenset[str]


def find_opened(path: Path) -> tuple[Opened, ...]:
    """Give the names of libraries that a wheel's Python code opens, and in which file."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py")]
        return find_in(names, partial(_read_code, archive))


def _read_code(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a file of Python code; of one that cannot be read another check tells."""
    try:
        return archive.read(name)
    except UNREADABLE:
        return b""


def find_in(names: Iterable[str], read: Callable[[str], bytes], least: int = TELLING) -> tuple[Opened, ...]:
    """Give what files of Python code open; those in which no such function is called are not parsed.

    `least`: so many letters a name has to have beside `lib` and the ending.
    """
    loaders: frozenset[str] = LOADERS
    scopes: dict[str, list[Scope]] = {}
    names = list(names)
    for _ in range(DEPTH):
        words = re.compile(rb"\b(?:%s)\b" % b"|".join(sorted(name.encode() for name in loaders)))
        for name in names:
            if name not in scopes and words.search(text := read(name)):
                scopes[name] = _parse(text)
        more = {one.name for found in scopes.values() for one in found if _hands_on(one, loaders)}
        if more <= loaders:
            break
        loaders |= more
    opened = {
        Opened(name, text, guarded)
        for name, found in scopes.items()
        for one in found
        for guarded in (False, True)
        for text in _long_enough(_texts(one, loaders, guarded=guarded), least)
    }
    finders = {called for found in scopes.values() for one in found for called in _finders(one, loaders)}
    found = {
        Opened(name, text) for name, texts in _found_by(finders, names, read) for text in _long_enough(texts, least)
    }
    return tuple(sorted(opened | found))


def _found_by(
    finders: Collection[str], names: Iterable[str], read: Callable[[str], bytes]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Give the libraries that functions of these names speak of, by the files that define one."""
    defines = re.compile(rb"\bdef (?:%s)\(" % b"|".join(sorted(map(str.encode, finders)))) if finders else None
    for name in names if defines else ():
        if defines and defines.search(text := read(name)):
            yield from ((name, one.libraries) for one in _parse(text) if one.name in finders)


def _finders(scope: Scope, loaders: frozenset[str]) -> Iterator[str]:
    """Give the functions by whose results the argument of a loader may be made."""
    for node in (node for expression in _reaching(scope, loaders) for node in ast.walk(expression)):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _parse(text: bytes) -> list[Scope]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = [_scope("", frozenset(), tree)]
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parameters = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            found.append(_scope(node.name, frozenset(one.arg for one in parameters) - {"self"}, node))
    return found


def _scope(name: str, parameters: frozenset[str], top: ast.AST) -> Scope:
    calls: list[Called] = []
    values: dict[str, list[ast.expr]] = {}
    safe = set(_guarded(top))
    for node in _own(top):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            calls.append(Called(called, (*node.args, *(word.value for word in node.keywords)), node in safe))
        for target, value in _assigned(node):
            values.setdefault(target, []).append(value)
    texts = (_whole(node) for node in ast.walk(top) if isinstance(node, ast.expr))
    return Scope(name, parameters, tuple(calls), values, frozenset(text for text in texts if ENDING.search(text)))


def _own(top: ast.AST) -> Iterator[ast.AST]:
    """Walk through a scope without the functions in it, which are scopes of their own."""
    for child in ast.iter_child_nodes(top):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from _own(child)


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        pairs: list[tuple[ast.expr, ast.expr | None]] = [(target, node.value) for target in node.targets]
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        pairs = [(node.target, node.value)]
    elif isinstance(node, (ast.For, ast.comprehension)):
        pairs = [(node.target, node.iter)]
    else:
        return
    yield from ((target.id, value) for target, value in pairs if isinstance(target, ast.Name) and value is not None)


def _reaching(scope: Scope, loaders: frozenset[str], guarded: bool | None = None) -> Iterator[ast.expr]:
    """Give the expressions that the argument of a loader may come from, through the scope's own names."""
    calls = [one for one in scope.calls if one.name in loaders and guarded in (None, one.guarded)]
    waiting = [argument for one in calls for argument in one.given]
    seen: set[str] = set()
    while waiting:
        expression = waiting.pop()
        yield expression
        for name in {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)} - seen:
            seen.add(name)
            waiting += scope.values.get(name, [])


def _hands_on(scope: Scope, loaders: frozenset[str]) -> bool:
    """Say whether a function gives what it is given to a loader."""
    if not scope.name or scope.name.startswith("__"):
        return False
    used = (node for expression in _reaching(scope, loaders) for node in ast.walk(expression))
    return any(isinstance(node, ast.Name) and node.id in scope.parameters for node in used)


def _texts(scope: Scope, loaders: frozenset[str], *, guarded: bool) -> set[str]:
    """Give the texts that reach a loader."""
    return {text for expression in _reaching(scope, loaders, guarded) for text in _spelled(expression)}


def _long_enough(texts: Collection[str], least: int) -> set[str]:
    """Give the names of files among texts that have enough letters beside `lib` and the ending to tell of a library."""
    names = {basename(text) for text in texts}
    plain = {name: ENDING.sub("", name.replace("*", "")).replace(ANYTHING, "").removeprefix("lib") for name in names}
    return {name for name, letters in plain.items() if sum(map(str.isalnum, letters)) >= least}


def _spelled(node: ast.AST) -> Iterator[str]:
    """Give the texts in an expression."""
    yield _whole(node)
    if not isinstance(node, (ast.Constant, ast.JoinedStr)):
        for child in ast.iter_child_nodes(node):
            yield from _spelled(child)


def _whole(node: ast.AST) -> str:
    """Give an expression as one text, with NUL for what is not known; empty where it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return FILLED.sub(ANYTHING, node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else ANYTHING for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (_whole(node.left) or ANYTHING) + (_whole(node.right) or ANYTHING)
    return ""


def opens(pattern: str, library: str) -> bool:
    """Say whether a text names a library: its file, or that without what follows the first dot."""
    wanted = ".*".join(map(re.escape, re.split(f"[{ANYTHING}*]", pattern)))
    return any(re.fullmatch(wanted, name) for name in (library, library.partition(".")[0]))


def is_loaded(path: str, needed: Collection[str], wheel: WheelContents) -> bool:
    """Say whether a file is imported or opened by Python, or is `needed` by another library."""
    file = basename(path)
    if ".so" not in file:  # a program, which nothing of the package need start
        return False
    return not file.startswith("lib") or file in needed or any(opens(one.name, file) for one in wheel.opened)


# Which libraries a package can do without: its code catches the error with which one of them does not load.


BROAD = frozenset({"Exception", "BaseException", "OSError", "ImportError", "RuntimeError"})
"""What is raised, or its bases, where a library does not load."""


MODULE = re.compile(r"\.(?:cpython-[\w-]+|abi3)\.so$")


class Scripts(NamedTuple):
    """The Python files of a package, and how one is read."""

    names: list[str]
    read: Callable[[str], bytes]


def scripts_of(one: InstalledDistribution) -> Scripts:
    """Give the Python files of what is installed."""
    return Scripts([join(one.place, path) for path, _ in one.files if path.endswith(".py")], _read_script)


def _read_script(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def find_optional(libraries: Iterable[str], scripts: Scripts, *, others: bool) -> set[str]:
    """Give those of the libraries that Python's files open or import only where an error is caught.

    Where the package has `others` that load, an extension module that no Python file names counts too: only another
    library can import it, as daal4py its module for MPI.
    """
    names, files = scripts.names, {path: basename(path) for path in libraries}
    ways = [(one.name, one.guarded) for one in find_in(names, scripts.read, least=1)]
    ways += _imports({file.partition(".")[0] for file in files.values()}, names, scripts.read)
    found = {path: [guarded for name, guarded in ways if opens(name, file)] for path, file in files.items()}
    modules = {path for path, guards in found.items() if others and not guards and MODULE.search(path)}
    caught = {path for path, guards in found.items() if guards and all(guards)}
    return _unnamed(modules, scripts) | (set() if caught and _needs_operators(scripts) else caught)


FAKES = re.compile(rb"^@(?:torch\.library\.)?(?:register_fake|impl_abstract)\(\s*[\x22\x27]\w+::(\w+)", re.MULTILINE)
"""What a module says of an operator when it is imported, which fails where nobody has defined that."""
DEFINES = re.compile(rb"\b(?:custom_op|triton_op|define)\(\s*[\x22\x27](?:\w+::)?(\w+)")


def _needs_operators(scripts: Scripts) -> bool:
    """Say whether Python files speak of operators that only a library can define, as torchvision's of `nms`."""
    texts = [scripts.read(name) for name in scripts.names]
    return not {name for text in texts for name in FAKES.findall(text)} <= {
        name for text in texts for name in DEFINES.findall(text)
    }


def _unnamed(modules: Iterable[str], scripts: Scripts) -> set[str]:
    """Give the modules whose names stand in no Python file, in whatever way."""
    left = {path: re.compile(rb"\b%s\b" % re.escape(basename(path).partition(".")[0].encode())) for path in modules}
    for name in scripts.names if left else ():
        text = scripts.read(name)
        left = {path: said for path, said in left.items() if not said.search(text)}
    return set(left)


def _imports(modules: set[str], names: Iterable[str], read: Callable[[str], bytes]) -> Iterator[tuple[str, bool]]:
    """Give which of these modules are imported, by the last part of their names, and whether an error is caught."""
    said = re.compile(rb"\bimport\b.*\b(?:%s)\b" % b"|".join(map(re.escape, sorted(map(str.encode, modules)))))
    for name in names:
        if said.search(text := read(name)):
            try:
                tree = ast.parse(text)
            except (SyntaxError, ValueError, RecursionError):
                continue
            safe = set(_guarded(tree))
            for node in ast.walk(tree):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    found = {alias.name.rpartition(".")[2] for alias in node.names} & modules
                    yield from ((module, node in safe) for module in found)


def _guarded(top: ast.AST) -> Iterator[ast.AST]:
    """Give what stands in a `try` that goes on whatever is raised in it."""
    for node in ast.walk(top):
        if isinstance(node, ast.Try) and any(_goes_on(handler) for handler in node.handlers):
            yield from (inner for statement in node.body for inner in ast.walk(statement))


def _goes_on(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    named = {getattr(kind, "attr", None) or getattr(kind, "id", None) for kind in kinds if kind is not None}
    broad = handler.type is None or bool(named & BROAD)
    return broad and not any(isinstance(node, ast.Raise) for each in handler.body for node in ast.walk(each))


# What a wheel needs at run time: libraries from outside, held against the distributions that it requires.


SYSTEM = (
    *(
        "ld-linux*.so.*",
        "libc.musl-*.so.1",
        "libc.so",  # musl by the name that its own linker gives it
        "libc.so.6",
        "libm.so.6",
        "libdl.so.2",
        "librt.so.1",
        "libpthread.so.0",
        "libutil.so.1",
    ),
    *("libresolv.so.2", "libnsl.so.1", "libanl.so.1", "libmvec.so.1", "libgcc_s.so.1", "libstdc++.so.6"),
    *("libz.so.1", "libexpat.so.1", "libatomic.so.1", "libX11.so.6", "libXext.so.6", "libXrender.so.1"),
    *("libICE.so.6", "libSM.so.6", "libGL.so.1", "libglib-2.0.so.0", "libgobject-2.0.so.0", "libgthread-2.0.so.0"),
)
"""What wheels of the manylinux tags may take from any system: PEP 600 and the policies of auditwheel."""
OF_DRIVER = (
    "libze_loader.so.1",
    "libOpenCL.so.1",
    "libcuda.so.1",
    "libnvidia-*.so.*",
    "libascend_hal.so",
    "libdrm*.so.2",
    "libdxcore.so",
    "libd3d12*.so",
)
"""What the driver of a device brings, which no distribution may."""
BROUGHT = {
    "intel-sycl-rt": ("libsycl.so.*", "libsycl-*.so*", "libpstloffload.so.*"),
    "intel-cmplr-lib-ur": ("libur_*.so*",),
    "intel-cmplr-lib-rt": ("libimf.so", "libsvml.so", "libirng.so", "libirc.so", "libintlc.so.5", "libdpcpp*.so*"),
    "intel-openmp": ("libiomp*.so*", "libomptarget*.so*"),
    "intel-opencl-rt": ("libintelocl*.so*",),
    "intel-pti": ("libpti*.so*",),
    "umf": ("libumf.so.*",),
    "tcmlib": ("libtcm.so.*", "libhwloc.so.15"),
    "onednn": ("libdnnl.so.*",),
    "tbb": ("libtbb*.so*",),
    "mkl": ("libmkl_[!s]*.so*", "libmkl_sequential.so*", "libmkl_scalapack*.so*"),
    "onemkl-sycl-blas": ("libmkl_sycl_blas.so*",),
    "onemkl-sycl-lapack": ("libmkl_sycl_lapack.so*",),
    "onemkl-sycl-dft": ("libmkl_sycl_dft.so*",),
    "onemkl-sycl-rng": ("libmkl_sycl_rng.so*",),
    "onemkl-sycl-sparse": ("libmkl_sycl_sparse.so*",),
    "oneccl": ("libccl.so*",),
    "impi-rt": ("libmpi.so*", "libmpicxx.so*", "libmpifort.so*"),
    "torch": ("libtorch*.so", "libc10*.so", "libcaffe2*.so", "libshm.so"),
}
"""Distributions of the package index and the libraries that are in them."""
BRINGS_ALL = {
    "dpcpp-cpp-rt": ("intel-sycl-rt", "intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "intel-openmp", "umf", "tcmlib"),
    "intel-sycl-rt": ("intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "umf", "tcmlib"),
    "intel-cmplr-lib-ur": ("umf",),
    "intel-opencl-rt": ("intel-cmplr-lib-rt", "tbb", "tcmlib"),
    "mkl": ("intel-openmp", "tbb", "tcmlib"),
    "onemkl-sycl-blas": ("mkl", "intel-openmp", "tbb", "tcmlib", "intel-sycl-rt", "dpcpp-cpp-rt"),
    "torch": ("intel-sycl-rt", "intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "mkl", "umf", "tcmlib", "oneccl", "impi-rt"),
}
"""What they require in turn."""
REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)")


def required(wheel: WheelContents) -> set[str]:
    """Give the distributions that a wheel requires, leaving out those of extras, and those that these require."""
    lines = (line for line in wheel.requires if "extra ==" not in line)
    direct = {canonical(match[1]) for match in map(REQUIREMENT.match, lines) if match}
    more = {each for name in direct for each in BRINGS_ALL.get(name, ())}
    return direct | more | {each for name in more for each in BRINGS_ALL.get(name, ())}


def of_driver(name: str) -> bool:
    """Say whether a driver brings a library, so that it is found where the machine has that device."""
    return any(fnmatch(name, glob) for glob in OF_DRIVER)


def from_outside(wheel: WheelContents) -> dict[str, list[str]]:
    """Give the libraries that are neither in the wheel nor any system's or driver's, and the paths of their users."""
    inside = {basename(member.path) for member in wheel.members}
    inside |= {one.soname for one in wheel.libraries if one.soname}
    found: dict[str, list[str]] = {}
    for one in wheel.libraries:
        for name in one.needed:
            if name not in inside and not any(fnmatch(name, glob) for glob in (*SYSTEM, *OF_DRIVER)):
                found.setdefault(name, []).append(one.path)
    return found


class Unrequired(NamedTuple):
    """A library that a distribution brings which is not required; `loaded`: by something that nobody has to ask for."""

    name: str
    owner: str
    by: str
    loaded: bool

    @property
    def text(self) -> str:
        """Say who needs what, and whose it is."""
        return f"{basename(self.by)} needs {self.name}, which {self.owner} brings"


def find_unrequired(wheel: WheelContents) -> Iterator[Unrequired]:
    """Give the libraries from outside that a known distribution brings and the wheel does not require."""
    there = required(wheel)
    needed = {name for one in wheel.libraries for name in one.needed}
    for name, paths in sorted(from_outside(wheel).items()):
        owner = _owner(name)
        if owner not in ("", "torch", *there, canonical(wheel.name)):
            by = next((path for path in paths if is_loaded(path, needed, wheel)), "")
            yield Unrequired(name, owner, by or paths[0], bool(by))


def _owner(name: str) -> str:
    """Give the distribution that brings a library; empty where none is known."""
    return next((one for one, globs in BROUGHT.items() if any(fnmatch(name, glob) for glob in globs)), "")


def check_requires(wheel: WheelContents, _: Wanted) -> WheelFinding:
    """Hold the libraries from outside against the requirements: whoever installs the wheel gets no other."""
    there = required(wheel)
    told = "; ".join(line for line in wheel.requires if "extra ==" not in line) or "requires nothing"
    outside = from_outside(wheel)
    unknown = {name: paths for name, paths in sorted(outside.items()) if not _owner(name)}
    foreign = [f"{basename(paths[0])} needs {name}" for name, paths in unknown.items()]
    claims = bool(there & (BROUGHT.keys() - {"torch"}))
    portable = any("manylinux" in tag for tag in wheel.promised)
    nowhere = f"neither in the wheel nor of a distribution that is known: {some(foreign)}"
    with_torch = any(_owner(name) == "torch" for name in outside)
    alone = portable and not (there - PURE or with_torch)
    if lost := list(find_unrequired(wheel)):
        text = f"not required: {some([each.text for each in lost])}" + (f"; {nowhere}" if foreign else "")
        return WheelFinding("fail" if (claims or alone) and any(each.loaded for each in lost) else "warn", text, told)
    if foreign:  # torch has loaded what it requires itself, of which CUDA's libraries are not known here
        # and what is linked to torch is imported by torch or after it, whether it says so or not
        needed = {name for one in wheel.libraries for name in one.needed}
        loaded = any(is_loaded(path, needed, wheel) for paths in unknown.values() for path in paths)
        return WheelFinding("fail" if alone and loaded else "warn", nowhere, told)
    return WheelFinding("ok" if there else "info", told)


PURE = {"filelock", "typing-extensions", "setuptools", "sympy", "networkx", "jinja2", "fsspec", "packaging", "torch"}
"""Requirements that bring no libraries for others to use."""


def wrong_names(wheel: WheelContents) -> Iterator[tuple[str, bool]]:
    """Name the libraries that are asked for by a SONAME under which no file lies in the wheel.

    With each, whether it may be loaded by then, and answers to that name: others need it as its file is called, as
    in the published torchvision, or Python opens it.
    """
    files = {basename(member.path) for member in wheel.members}
    needed = {need for one in wheel.libraries for need in one.needed}
    names: dict[str, str] = {one.soname: basename(one.path) for one in wheel.libraries if one.soname}
    for name in sorted((needed - files) & names.keys()):
        file = names[name]
        loaded = file in needed or any(opens(one.name, file) for one in wheel.opened)
        yield f"{file} is needed as {name}, and no file is called so", loaded


def check_sizes(wheel: WheelContents, _: Wanted) -> WheelFinding:
    """Say how large the wheel is and which libraries make it so."""
    rows = sorted(wheel.libraries, key=lambda one: -one.size)[:3]
    parts = ", ".join(f"{basename(one.path)} {render_size(one.size)}" for one in rows)
    whole = sum(member.size for member in wheel.members)
    return WheelFinding("info", f"{render_size(whole)} unpacked" + (f"; {parts}" if parts else ""))
