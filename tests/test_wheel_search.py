"""What a wheel needs of itself and how it is found: by a search path, or because Python opened it before.

The Python texts are those of published wheels, shortened: torchaudio 2.6.0 (torchaudio/_extension, torio/_extension),
torchaudio 2.11.0, bitsandbytes 0.50.2.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import sysconfig
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from test_inspect_wheel import TAG, library, make_wheel, run_inspector

if TYPE_CHECKING:
    from pathlib import Path

contents: Any = importlib.import_module("helperlib.wheel.contents")
checks: Any = importlib.import_module("inspect_wheel")
libraries: Any = importlib.import_module("helperlib.wheel.libraries")
wheel_runtime: Any = importlib.import_module("helperlib.wheel.runtime")

UTILS = b"""
def _get_lib_path(lib: str):
    suffix = "pyd" if os.name == "nt" else "so"
    path = _LIB_DIR / f"{lib}.{suffix}"
    return path

def _load_lib(lib: str) -> bool:
    path = _get_lib_path(lib)
    if not path.exists():
        return False
    torch.ops.load_library(path)
    return True
"""
FFMPEG = b"""
def _find_versionsed_ffmpeg_extension(version: str):
    ext = f"torio.lib._torio_ffmpeg{version}"
    lib = f"libtorio_ffmpeg{version}"
    _load_lib(lib)
    return importlib.import_module(ext)
"""
FINDER = b"""
def find_lib_path():
    name = "libdgl.so"
    return [path for path in (os.path.join(folder, name) for folder in folders()) if os.path.exists(path)]

"""
PACKAGE = {"torchaudio/_extension/utils.py": UTILS}


@pytest.mark.parametrize(
    ("text", "file", "opened"),
    [
        (b'_load_lib("libtorchaudio")\nimport torchaudio.lib._torchaudio', "libtorchaudio.so", True),
        (b'_load_lib("libtorchaudio")\nimport torchaudio.lib._torchaudio', "libtorchaudio_sox.so", False),
        (b'if _load_lib("_torchaudio"):\n    pass', "_torchaudio.abi3.so", True),
        (b'torchaudio._extension._load_lib("libctc_prefix_decoder")', "libctc_prefix_decoder.so", True),
        (FFMPEG, "libtorio_ffmpeg4.so", True),
        (FFMPEG, "libtorio.so", False),
        (b'for name in ["libone", "libtwo"]:\n    _load_lib(name)', "libtwo.so", True),
        (b'ctypes.CDLL(os.path.join(here, "lib", "libfoo.so.1"))', "libfoo.so.1", True),
        (b'ctypes.CDLL(os.path.join(here, "lib", "libfoo.so.1"), mode=ctypes.RTLD_GLOBAL)', "libfoo.so.1", True),
        (b'ctypes.CDLL(here + "/libfoo_" + kind + ".so")', "libfoo_cuda.so", True),
        (b'ctypes.CDLL(here + "/libfoo_" + kind + ".so")', "libfoo.so", False),
        (b'ctypes.cdll.LoadLibrary("%s/libfoo.so" % here)', "libfoo.so", True),
        (b'name = "libfoo"\nctypes.CDLL("{}.so".format(name))', "libfoo.so", True),
        (b'def open_it(*, path):\n    ctypes.CDLL(path)\n\nopen_it(path="libfoo.so")', "libfoo.so", True),
        (FINDER + b"ctypes.CDLL(find_lib_path()[0])", "libdgl.so", True),
        (FINDER + b"path = libinfo.find_lib_path()\nctypes.CDLL(path[0])", "libdgl.so", True),
        # Named, and opened by nobody.
        (FINDER + b"print(find_lib_path())", "libdgl.so", False),
        (FINDER + b"print(find_lib_path())\nctypes.CDLL(other())", "libdgl.so", False),
        (b'"""libtorchaudio is needed."""\n_load_lib(other)', "libtorchaudio.so", False),
        (b'NAMES = ("libtorchaudio",)\nprint("libtorchaudio")', "libtorchaudio.so", False),
        (b'def load(path):\n    return open(path)\n\nload("libtorchaudio")', "libtorchaudio.so", False),
        (b'ctypes.CDLL(f"{here}/{name}.so")', "libtorchaudio.so", False),
        (b'ctypes.CDLL("lib*.so")', "libtorchaudio.so", False),
        (b"this is CDLL(no Python", "libtorchaudio.so", False),
    ],
)
def test_what_python_opens(text: bytes, file: str, opened: bool) -> None:
    files = {**PACKAGE, "torchaudio/_extension/__init__.py": text}
    found = wheel_runtime.find_in(files, files.__getitem__)
    assert any(wheel_runtime.opens(one.name, file) for one in found) is opened


TORCHAO = b"""
try:
    for file in list(Path(__file__).parent.glob("_C*.so")):
        try:
            torch.ops.load_library(str(file))
        except Exception as error:
            logger.warning(f"Failed to load {file}: {error}")
except Exception:
    pass
"""


VISION = b"""
try:
    torch.ops.load_library(here + "/_C.so")
except OSError:
    pass

@torch.library.register_fake("acme::nms")
def nms(a): ...
"""


@pytest.mark.parametrize(
    ("text", "optional"),
    [
        (TORCHAO, True),
        (TORCHAO.replace(b"logger.warning(f", b"raise ImportError(f").replace(b"    pass", b"    raise"), False),
        (TORCHAO.replace(b"except Exception", b"except KeyError"), False),
        (TORCHAO + b'torch.ops.load_library(here + "/_C.so")', False),
        (b"try:\n    from acme import _C\nexcept ImportError:\n    _C = None", True),
        (b"try:\n    import acme._C\nexcept (OSError, ImportError):\n    pass", True),
        (b"try:\n    import acme._C\nexcept ImportError as error:\n    raise Lacking() from error", False),
        (b"from acme import _C", False),
        (b"print(1)", False),
        (VISION, False),
        (VISION + b'torch.library.define("acme::nms", "(Tensor a) -> Tensor")', True),
        (VISION.replace(b"@torch", b"if ready:\n  @torch").replace(b"def", b"  def"), True),
    ],
)
def test_what_a_package_goes_on_without(text: bytes, optional: bool) -> None:
    files = {"acme/__init__.py": text}
    found = wheel_runtime.find_optional(
        ["acme/_C.so"], wheel_runtime.Scripts(list(files), files.__getitem__), others=False
    )
    assert found == ({"acme/_C.so"} if optional else set())


def make(*parts: Any, opened: tuple[Any, ...] = (), tags: tuple[str, ...] = (TAG,), **more: Any) -> Any:
    members = tuple(contents.WheelMember(one.path, library=one) for one in parts)
    name = f"demo-1.0-{tags[0]}.whl"
    return replace(contents.WheelContents(name, 1, "00", "demo", "1.0", tags, (), (), members, opened), **more)


LIB = library("torchaudio/lib/libtorchaudio.so", soname="libtorchaudio.so")
MODULE = library("torchaudio/lib/_torchaudio.so", needed=("libtorchaudio.so",))
OPENED = contents.Opened("torchaudio/_extension/__init__.py", "libtorchaudio")
PLUGIN = library("x/prov/libprov.so", needed=("libfabric.so.1",))
FABRIC = library("x/lib/libfabric.so.1", soname="libfabric.so.1")
LINKED = library("x/lib/libtop.so", soname="libtop.so", needed=("libfabric.so.1",))
LIBS = ("$ORIGIN/lib",)


@pytest.mark.parametrize(
    ("wheel", "level", "seen"),
    [
        (make(LIB, MODULE, opened=(OPENED,)), "ok", "torchaudio/lib/_torchaudio.so needs libtorchaudio.so, which "),
        (make(LIB, MODULE), "fail", "not found beside it: torchaudio/lib/_torchaudio.so needs libtorchaudio.so"),
        (make(LIB, MODULE, opened=(OPENED._replace(name="libother"),)), "fail", "not found beside it"),
        # Opened by its path it answers to its SONAME alone.
        (make(replace(LIB, soname=None), MODULE, opened=(OPENED,)), "fail", "not found beside it"),
        (make(replace(LIB, soname="libx.so"), MODULE, opened=(OPENED,)), "fail", "not found beside it"),
        # A plug-in is opened by what it needs, or by who has loaded that.
        (make(FABRIC, PLUGIN), "warn", "not found beside it: x/prov/libprov.so needs libfabric.so.1"),
        (
            make(FABRIC, PLUGIN, opened=(OPENED._replace(name="libprov"),)),
            "fail",
            "not found beside it: x/prov/libprov.so needs libfabric.so.1",
        ),
        # What is linked by another one is loaded with it, before anybody could open anything.
        (make(FABRIC, LINKED, library("x/_C.so", needed=("libtop.so",), runpath=("$ORIGIN/lib",))), "fail", "not fo"),
        # What all that are linked to it are linked to as well is loaded before it: paddlepaddle, intel-cmplr-lib-rt.
        (make(FABRIC, LINKED, library("x/_C.so", needed=("libtop.so", "libfabric.so.1"), runpath=LIBS)), "ok", ""),
        (make(FABRIC, LINKED, library("x/_C.so", needed=("libfabric.so.1",), runpath=LIBS)), "warn", "not found"),
        (make(library("demo.so", rpath=("/__w/_temp/conda_environment_1/lib",))), "warn", "demo.so looks in /__w/"),
        (make(library("demo.so", rpath=("/opt/rocm-7.2.4/lib",))), "warn", "demo.so looks in /opt/rocm"),
        (
            make(library("demo.so", runpath=("/scratch/me/env/lib",))),
            "fail",
            "demo.so looks in /scratch/me/env/lib",
        ),
        (make(library("demo.so", runpath=("/home/me/lib",))), "warn", "demo.so looks in /home/me/lib"),
        (make(library("demo.so", runpath=("/home/me/intel/oneapi/lib",))), "warn", "demo.so looks in /home/me/intel"),
    ],
)
def test_library_search(wheel: Any, level: str, seen: str) -> None:
    found = libraries.check_rpath(wheel, contents.Wanted())
    assert (found.level, found.seen[: len(seen)]) == (level, seen)


CUDART = library("x.libs/libcudart.41118559.so.12", soname="libcudart.so.12")
ASKS = library("x/_C.so", needed=("libcudart.so.12",))


@pytest.mark.parametrize(
    ("wheel", "level"),
    [
        (make(CUDART, ASKS), "fail"),
        (make(CUDART, ASKS, library("x/image.so", needed=("libcudart.41118559.so.12",))), "warn"),  # torchvision
        (make(CUDART, ASKS, opened=(contents.Opened("x/__init__.py", "libcudart.\0.so.12"),)), "warn"),
    ],
)
def test_a_name_that_no_file_has(wheel: Any, level: str) -> None:
    found = libraries.check_needed(wheel, contents.Wanted())
    text = "libcudart.41118559.so.12 is needed as libcudart.so.12, and no file is called so"
    assert (found.level, found.seen) == (level, text)


@pytest.mark.parametrize(
    ("name", "inside", "level"),
    [
        ("cp311-cp311-manylinux1_x86_64", ("cp311-cp311-linux_x86_64",), "warn"),
        ("py3-none-manylinux_2_28_aarch64", ("py3-none-linux_aarch64",), "warn"),
        ("cp311-cp311-manylinux2014_x86_64", ("cp311-cp311-manylinux_2_17_x86_64",), "ok"),
        ("cp311-cp311-linux_x86_64", ("cp310-cp310-linux_x86_64",), "fail"),
        ("cp311-cp311-linux_x86_64", ("cp311-abi3-linux_x86_64",), "fail"),
        ("cp311-cp311-manylinux_2_28_x86_64", ("cp311-cp311-linux_aarch64",), "fail"),
        ("cp311-cp311-manylinux_2_28_x86_64", ("cp311-cp311-musllinux_1_2_x86_64",), "fail"),
        ("cp311-cp311-manylinux_2_28_x86_64", ("py3-none-any",), "fail"),
        ("cp311-cp311-linux_x86_64", (), "fail"),
    ],
)
def test_tags_inside_and_outside(name: str, inside: tuple[str, ...], level: str) -> None:
    """Publishers put another platform tag into the name alone; pip never looks at the other one."""
    wheel = make(tags=(TAG,), file_name=f"demo-1.0-{name}.whl")
    found = checks.check_tags(replace(wheel, tags=inside), contents.Wanted(any_python=True))
    assert found.level == level


@pytest.mark.parametrize(
    ("needed", "level"), [(("libcudart.so.13",), "fail"), (("libcudart.so.13", "libtorch_cpu.so"), "warn")]
)
def test_what_is_linked_to_torch_finds_what_torch_brings(needed: tuple[str, ...], level: str) -> None:
    """As torchaudio 2.11 and torchao, which require nothing, not even torch."""
    tag = "cp311-cp311-manylinux_2_28_x86_64"
    wheel = make(library("x/_C.so", needed=needed), tags=(tag,))
    assert wheel_runtime.check_requires(wheel, contents.Wanted()).level == level


OPENING = b"import ctypes, pathlib\n\ndef _load(name):\n    ctypes.CDLL(str(pathlib.Path(__file__).parent / name))\n\n"
IMPORTING = b"import demo._demo\n"


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("init", "works"),
    [
        (OPENING + b'_load("libcore_of_demo.so")\n' + IMPORTING, True),
        (OPENING + IMPORTING, False),
        (OPENING + b'_load("libm_of_demo.so")\n' + IMPORTING, False),
    ],
    ids=["opened before", "opened by nobody", "another one opened"],
)
def test_the_inspector_and_the_loader_agree(tmp_path: Path, init: bytes, works: bool) -> None:
    """The wheel is compiled, inspected, and then imported by a real process."""
    (tmp_path / "core.c").write_text("int one(void) { return 1; }\n")
    module = "#include <Python.h>\nint one(void);\nstatic struct PyModuleDef def = {PyModuleDef_HEAD_INIT};\n"
    (tmp_path / "demo.c").write_text(
        f'{module}PyMODINIT_FUNC PyInit__demo(void) {{ def.m_name = "_demo"; one(); return PyModule_Create(&def); }}\n'
    )
    for words in (
        ("-o", "libcore_of_demo.so", "-Wl,-soname,libcore_of_demo.so", "core.c"),
        ("-o", "libm_of_demo.so", "-Wl,-soname,libm_of_demo.so", "core.c"),
        ("-o", "_demo.so", f"-I{sysconfig.get_path('include')}", "demo.c", "-L.", "-lcore_of_demo"),
    ):
        subprocess.run(("gcc", "-shared", "-fPIC", *words), cwd=tmp_path, check=True, capture_output=True)
    built = {f"demo/{name}": (tmp_path / name).read_bytes() for name in ("libcore_of_demo.so", "libm_of_demo.so")}
    files = {"demo/__init__.py": init, **built, "demo/_demo.so": (tmp_path / "_demo.so").read_bytes()}
    wheel = make_wheel(tmp_path / "wheels", files)
    code, _ = run_inspector(tmp_path, "--wheel", wheel)
    place = tmp_path / "site"
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    done = subprocess.run((sys.executable, "-c", "import demo"), cwd=place, check=False, capture_output=True, text=True)
    assert (done.returncode == 0) is works, done.stderr
    assert (code == 0) is works
