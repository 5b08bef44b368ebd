"""Environments whose libraries cannot work together, real wheels among them, and such as can: nothing else is told.

What a conflict says of a symbol is held against a real process that loads the library: it dies of that very symbol.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from e2e.environments import Place, Shop, link

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("conflicts")]
OLD_UR, NEW_UR = "intel-cmplr-lib-ur 2025.3.1", "intel-cmplr-lib-ur 2026.2.0"
OLD_UMF, NEW_UMF = "umf 1.0.2", "umf 1.2.0"
SMALL = ("dpctl==0.22.1", "tcmlib==1.6.0", "intel-pti==1.2.0")
NEAR = "-Wl,-rpath,$ORIGIN"
TO_ENVIRONMENT = "-Wl,-rpath,$ORIGIN/../../..:$ORIGIN/../../../.."
ASKS = "int urDeviceGet(void); int urDeviceWaitExp(void);\nint go(void) { return urDeviceGet() + urDeviceWaitExp(); }\n"
PROVEN = ("symbol", "version", "abi", "torch")


def pin(title: str) -> str:
    return title.replace(" ", "==")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return Shop.open(tmp_path_factory.mktemp("shop"), *map(pin, (OLD_UR, NEW_UR, OLD_UMF, NEW_UMF)), *SMALL)


@dataclass(frozen=True)
class Kits:
    """Environments with Intel's wheels, to be copied; and the folder of a test."""

    shop: Shop
    old: Place
    new: Place
    here: Path

    def like(self, which: Place) -> Place:
        return which.copy(self.here / "env")

    def empty(self) -> Place:
        return Place.make(self.here / "env")


@pytest.fixture(scope="module")
def pair(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Place]:
    folder = tmp_path_factory.mktemp("kits")
    old = shop.install(Place.make(folder / "old"), pin(OLD_UR), pin(OLD_UMF))
    return old, shop.install(Place.make(folder / "new"), pin(NEW_UR), pin(NEW_UMF), *SMALL[1:])


@pytest.fixture
def kits(shop: Shop, pair: tuple[Place, Place], tmp_path: Path) -> Kits:
    return Kits(shop, *pair, tmp_path)


@dataclass(frozen=True)
class Told:
    """What has to be told first: kind, a name, the file that asks, that which lacks it, and whose those are."""

    place: Place
    kind: str
    name: str
    library: str = ""
    first: str = ""
    owners: dict[str, str] = field(default_factory=dict)
    variable: str = ""
    options: tuple[str, ...] = ()


def sycl(place: Place, against: Place, name: str = "libsycl.so.9") -> Path:
    """Put a libsycl there that asks for what only the newer Unified Runtime has."""
    path = link(place.lib / name, ASKS, against.lib / "libur_loader.so.0", NEAR)
    place.record(f"intel-sycl-rt {'2026.2.0' if name.endswith('9') else '2025.3.1'}", path)
    return path


def plain_sycl(place: Place, name: str) -> Path:
    path = link(place.lib / name, f"int sycl_{name[-1]}(void) {{ return 1; }}\n", NEAR)
    place.record(f"intel-sycl-rt {'2026.2.0' if name.endswith('9') else '2025.3.1'}", path)
    return path


def torch(place: Place, *needs: str | Path, text: str = "int at(void) { return 1; }\n", compiler: str = "gcc") -> Path:
    """Put there what looks like a torch: its libc10, its python library and its module."""
    folder = place.packages / "torch/lib"
    core = link(folder / "libc10.so", text, *needs, TO_ENVIRONMENT, "-Wl,-rpath,$ORIGIN", compiler=compiler)
    python = link(folder / "libtorch_python.so", "int th(void) { return 1; }\n", core, NEAR)
    module = link(place.module("torch"), "int c(void) { return 1; }\n", python, "-Wl,-rpath,$ORIGIN/lib")
    place.record("torch 2.14.1+xpu", core, python, module)
    return core


def extension(place: Place, *needs: str | Path, text: str = "int e(void) { return 1; }\n", **words: Any) -> Path:
    module = link(place.module("acme"), text, *needs, TO_ENVIRONMENT, **words)
    place.record("acme 1.0", module)
    return module


def older_runtime_first(kits: Kits) -> Told:
    place = kits.like(kits.new)
    sycl(place, kits.new)
    owners = {"library": "intel-sycl-rt 2026.2.0", "first": OLD_UR, "has": NEW_UR}
    path = str(kits.old.lib)
    return Told(place, "symbol", "urDeviceWaitExp", "libsycl.so.9", f"{path}/libur_loader.so.0", owners, path)


def older_runtime_installed(kits: Kits) -> Told:
    place = kits.like(kits.old)
    sycl(place, kits.new)
    owners = {"library": "intel-sycl-rt 2026.2.0", "first": OLD_UR}
    return Told(place, "symbol", "urDeviceWaitExp", "libsycl.so.9", f"{place.lib}/libur_loader.so.0", owners)


def hidden_runtime(kits: Kits) -> Told:
    path = str(kits.old.lib)
    owners = {"first": OLD_UR, "has": NEW_UR}
    return Told(kits.new, "hidden", "urDeviceWaitExp", "", f"{path}/libur_loader.so.0", owners, path)


def newer_runtime_first(kits: Kits) -> Told:
    """Put the newer one first: it has left functions out that the older has."""
    path = str(kits.new.lib)
    owners = {"first": NEW_UR, "has": OLD_UR}
    return Told(kits.old, "hidden", "urEnqueueKernelLaunch", "", f"{path}/libur_loader.so.0", owners, path)


def older_umf_installed(kits: Kits) -> Told:
    place = kits.shop.install(kits.empty(), pin(NEW_UR), pin(OLD_UMF))
    owners = {"library": NEW_UR, "first": OLD_UMF}
    first = f"{place.lib}/libumf.so.1"
    return Told(place, "version", "UMF_1.1", "libur_adapter_level_zero_v2.so.0", first, owners)


def older_umf_first(kits: Kits) -> Told:
    folder = kits.here / "umf"
    folder.mkdir()
    (folder / "libumf.so.1").symlink_to(kits.old.lib / "libumf.so.1")
    owners = {"library": NEW_UR, "has": NEW_UMF}
    first = f"{folder}/libumf.so.1"
    return Told(kits.new, "version", "UMF_1.1", "libur_adapter_level_zero_v2.so.0", first, owners, str(folder))


def other_major_installed(kits: Kits) -> Told:
    place = kits.shop.install(kits.empty(), "dpctl==0.22.1")
    plain_sycl(place, "libsycl.so.8")
    owners = {"library": "dpctl 0.22.1", "first": "intel-sycl-rt 2025.3.1"}
    return Told(place, "majors", "libsycl.so.9", "libDPCTLSyclInterface.so", f"{place.lib}/libsycl.so.8", owners)


def other_major_on_the_path(kits: Kits) -> Told:
    place = kits.empty()
    torch(place, plain_sycl(place, "libsycl.so.9"))
    first = link(kits.here / "opt/intel/oneapi/compiler/2025.3/lib/libsycl.so.8", "int a;\n")
    owners = {"first": "oneAPI compiler 2025.3", "has": "intel-sycl-rt 2026.2.0"}
    return Told(place, "offered", "libsycl.so.8", "", str(first), owners, str(first.parent))


def two_majors_in_a_process(kits: Kits) -> Told:
    place = kits.empty()
    old, new = plain_sycl(place, "libsycl.so.8"), plain_sycl(place, "libsycl.so.9")
    torch(place, new)
    extension(place, old)
    owners = {"library": "acme 1.0"}
    return Told(place, "majors", "libsycl.so.8", "_C.abi3.so", str(new), owners)


def extension_for_the_other_major(kits: Kits) -> Told:
    place = kits.empty()
    old = link(kits.here / "libsycl.so.8", "int a;\n")
    torch(place, new := plain_sycl(place, "libsycl.so.9"))
    extension(place, old)
    owners = {"library": "acme 1.0", "first": "intel-sycl-rt 2026.2.0"}
    return Told(place, "majors", "libsycl.so.8", "_C.abi3.so", str(new), owners)


THROWS = "#include <string>\nnamespace c10 { void fail(const std::string& text) { throw text; } }\n"
CALLS = "#include <string>\nnamespace c10 { void fail(const std::string&); }\nvoid go() { c10::fail(std::string()); }\n"


def extension_of_the_other_abi(kits: Kits) -> Told:
    place = kits.empty()
    core = torch(place, "-D_GLIBCXX_USE_CXX11_ABI=1", text=THROWS, compiler="g++")
    extension(place, "-D_GLIBCXX_USE_CXX11_ABI=0", core, text=CALLS, compiler="g++")
    owners = {"library": "acme 1.0", "first": "torch 2.14.1+xpu"}
    return Told(place, "abi", "_ZN3c104failERKSs", "_C.abi3.so", str(core), owners)


def extension_for_another_torch(kits: Kits) -> Told:
    place = kits.empty()
    core = torch(place, text=THROWS, compiler="g++")
    extension(place, core, text="namespace c10 { void gone(int); }\nvoid go() { c10::gone(1); }\n", compiler="g++")
    return Told(place, "torch", "_ZN3c104goneEi", "_C.abi3.so", str(core), {"library": "acme 1.0"})


def no_runtime_for_torch(kits: Kits) -> Told:
    place = kits.empty()
    torch(place, link(kits.here / "libsycl.so.9", "int a;\n"))
    return Told(place, "missing", "libsycl.so.9", "libc10.so", "", {"library": "torch 2.14.1+xpu"})


def old_libstdcxx_of_conda(kits: Kits) -> Told:
    """Make an environment of conda by hand: its program looks in its lib folder, and the driver comes to live there."""
    place, slash = Place(kits.here / "conda"), kits.here / "slash"
    (place.prefix / "bin").mkdir(parents=True)
    (place.lib / "python3.11/site-packages").mkdir(parents=True)
    text = "int std_one(void) { return 1; }\n"
    newer = link(slash / "usr/lib/x86_64-linux-gnu/libstdc++.so.6", text, node="GLIBCXX_3.4.32")
    older = link(place.lib / "libstdc++.so.6", text, node="GLIBCXX_3.4.29")
    asks = "int std_one(void);\nint zeInit(void) { return std_one(); }\n"
    link(newer.parent / "libze_intel_gpu.so.1", asks, newer)
    link(place.prefix / "bin/python3", text, "-Wl,-rpath,$ORIGIN/../lib", "-Wl,--disable-new-dtags")
    (place.prefix / "conda-meta").mkdir()
    about = {"name": "libstdcxx", "version": "13.2.0", "files": ["lib/libstdc++.so.6"]}
    (place.prefix / "conda-meta/libstdcxx-13.2.0-0.json").write_text(json.dumps(about))
    options = ("--sysroot", str(slash))
    owners = {"first": "libstdcxx 13.2.0"}
    return Told(place, "version", "GLIBCXX_3.4.32", "libze_intel_gpu.so.1", str(older), owners, "", options)


def triton_twice(kits: Kits) -> Told:
    place = kits.empty()
    path = place.packages / "triton/__init__.py"
    path.parent.mkdir()
    for title in ("triton 3.5.0", "triton-xpu 3.6.0"):
        path.write_text(f"__version__ = '{title}'\n")
        place.record(title, path)
    owners = {"library": "triton 3.5.0", "first": "triton-xpu 3.6.0"}
    return Told(place, "files", "triton/__init__.py", "", "", owners)


CONFLICTS: tuple[Callable[[Kits], Told], ...] = (
    older_runtime_first,
    older_runtime_installed,
    hidden_runtime,
    newer_runtime_first,
    older_umf_installed,
    older_umf_first,
    other_major_installed,
    other_major_on_the_path,
    two_majors_in_a_process,
    extension_for_the_other_major,
    extension_of_the_other_abi,
    extension_for_another_torch,
    no_runtime_for_torch,
    old_libstdcxx_of_conda,
    triton_twice,
)


@pytest.mark.parametrize("case", CONFLICTS, ids=[case.__name__ for case in CONFLICTS])
def test_a_conflict_is_told_by_symbol_file_and_package(kits: Kits, case: Callable[[Kits], Told]) -> None:
    told = case(kits)
    found = told.place.look(*told.options, variable=told.variable)["conflicts"]
    fitting = [one for one in found if one["kind"] == told.kind and told.name in one["names"]]
    fitting = [one for one in fitting if Path(one["library"]).name == told.library]
    assert fitting, found
    (one,) = fitting
    assert one["first"] == told.first
    assert {**one["owners"], **told.owners} == one["owners"]
    if told.kind in PROVEN and not told.options:
        core = told.place.packages / "torch/lib/libc10.so"
        before = (str(core),) if core.exists() else ()
        assert told.name in told.place.loads(*before, one["library"], variable=told.variable, stubs=kits.here / "stubs")


@dataclass(frozen=True)
class Sound:
    """An environment in which nothing is wrong."""

    place: Place
    variable: str = ""


def newer_wheels(kits: Kits) -> Sound:
    return Sound(kits.new)


def older_wheels(kits: Kits) -> Sound:
    return Sound(kits.old)


def same_runtime_first(kits: Kits) -> Sound:
    place = kits.like(kits.new)
    sycl(place, kits.new)
    return Sound(place, str(kits.new.lib))


def dpctl_and_its_major(kits: Kits) -> Sound:
    place = kits.shop.install(kits.empty(), "dpctl==0.22.1")
    plain_sycl(place, "libsycl.so.9")
    return Sound(place)


def torch_and_its_extension(kits: Kits) -> Sound:
    place = kits.empty()
    core = torch(place, plain_sycl(place, "libsycl.so.9"), text=THROWS, compiler="g++")
    extension(place, core, text=CALLS, compiler="g++")
    return Sound(place)


def variants_for_both_majors(kits: Kits) -> Sound:
    place = kits.empty()
    new = plain_sycl(place, "libsycl.so.9")
    torch(place, new)
    folder = place.packages / "acme"
    variants = [link(kits.here / "libsycl.so.8", "int a;\n"), new]
    paths = [link(folder / f"libacme{one.name[-1]}.so", "int a;\n", one, TO_ENVIRONMENT) for one in variants]
    place.record("acme 1.0", *paths)
    return Sound(place)


def a_module_for_each_library(kits: Kits) -> Sound:
    """As mpi4py's: Python imports neither by itself, and the package takes that whose library is here."""
    place = kits.empty()
    torch(place, plain_sycl(place, "libsycl.so.9"))
    folder = place.packages / "acme"
    gone, here = (link(kits.here / name, "int a;\n") for name in ("libmpi.so.12", "libmpi.so.40"))
    paths = [
        link(folder / f"ACME.{which}.cpython-312-x86_64-linux-gnu.so", "int b;\n", one, near)
        for which, one, near in (("old", gone, NEAR), ("new", here, f"-Wl,-rpath,{kits.here}"))
    ]
    gone.unlink()
    place.record("acme 1.0", *paths)
    return Sound(place)


def folder_of_several(kits: Kits) -> Sound:
    place = kits.empty()
    path = place.packages / "vendor/__init__.py"
    path.parent.mkdir()
    for number in (1, 2):
        path.write_text(f"# {number}\n__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n")
        place.record(f"vendor-{number} 1.0", path)
    return Sound(place)


CLEAN: tuple[Callable[[Kits], Sound], ...] = (
    newer_wheels,
    older_wheels,
    same_runtime_first,
    dpctl_and_its_major,
    torch_and_its_extension,
    variants_for_both_majors,
    a_module_for_each_library,
    folder_of_several,
)


@pytest.mark.parametrize("case", CLEAN, ids=[case.__name__ for case in CLEAN])
def test_what_works_together_is_not_told_of(kits: Kits, case: Callable[[Kits], Sound]) -> None:
    sound = case(kits)
    found = sound.place.look(variable=sound.variable)
    assert found["conflicts"] == []
    assert found["looked"] > 0 or case is folder_of_several


def test_the_environment_of_these_tests_is_sound() -> None:
    found = Place(Path(psutil.__file__).parents[4]).look()
    assert found["conflicts"] == []
    assert found["looked"] > 0
