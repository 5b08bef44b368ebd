"""The model of the loader and the rules of conflicts, on libraries that are values: nothing of them lies on a disk."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

rules: Any = importlib.import_module("helperlib.elf.conflicts")
elf_loader: Any = importlib.import_module("helperlib.elf.loader")
elf_file: Any = importlib.import_module("helperlib.elf.file")
env_distributions: Any = importlib.import_module("helperlib.env.distributions")
environments: Any = importlib.import_module("environment_libraries")

NODE = "LIBUR_LOADER_0.12"


@dataclass
class World:
    """Files by path and what symbols they have."""

    files: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    symbols: dict[str, Any] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)

    def add(self, path: str, *, asks: tuple[Any, ...] = (), names: tuple[str, ...] = (), **words: Any) -> Any:
        """Put a library there; `asks` are symbols, `names` those that it has, with the version node `node`."""
        node = words.pop("node", "")
        nodes = {(one.file, one.version) for one in asks if one.version}
        library = elf_loader.LoaderFile(
            path,
            path,
            62,
            words.pop("soname", path.rpartition("/")[2]),
            asks=tuple(elf_file.Asked(file, version, weak=False) for file, version in sorted(nodes)),
            has=frozenset((path.rpartition("/")[2], node)) if node else frozenset(),
            **words,
        )
        versioned = frozenset(f"{name}@{node}" for name in names) if node else frozenset()
        self.files[path] = library
        self.asked[path] = asks
        self.symbols[path] = elf_file.Symbols(frozenset(names), versioned, bool(node))
        return library

    def known(self, *own: Any) -> Any:
        def others(name: str) -> list[Any]:
            return [one for one in own if name and name in (one.soname, rules.stem_of(one.soname))]

        shelf = Shelf(self)
        return rules.KnownFiles(shelf.asked, shelf.wanted, shelf.nodes, shelf.lacking, shelf.symbols, others)

    def process(self, *variable: str) -> Any:
        return elf_loader.Process(elf_loader.Places(self.files.get, variable, {}, ("/usr/lib",)))


def asked(name: str, version: str = "", file: str = "", *, weak: bool = False) -> Any:
    return elf_file.Symbol(name, version, weak, file)


def judge(world: World, path: str, *own: Any, variable: tuple[str, ...] = ()) -> list[tuple[str, str, tuple[str, ...]]]:
    """Open a library alone and give kind, level and names of what all rules say."""
    process, known = world.process(*variable), world.known(*own)
    scope = process.open(path)
    found = [*rules.judge_versions(process, scope)]
    for one in scope:
        found += rules.judge_symbols(process, one, scope, known)
    found += [*rules.judge_majors(process, scope), *rules.judge_missing(process, process.missing, known)]
    return [(one.kind, one.level, one.names) for one in found]


UR = "libur_loader.so.0"
WAIT = asked("urDeviceWaitExp", NODE, UR)


def world_of_loaders() -> World:
    world = World()
    world.add("/venv/lib/libsycl.so.9", asks=(WAIT,), needed=(UR,), runpath=("$ORIGIN",))
    world.add(f"/venv/lib/{UR}", names=("urDeviceGet", "urDeviceWaitExp"), node=NODE)
    world.add(f"/old/{UR}", names=("urDeviceGet",), node=NODE)
    world.add(f"/bare/{UR}", names=("urDeviceGet",))
    world.add(f"/other/{UR}", names=("urDeviceGet", "urDeviceWaitExp"), node="LIBUR_LOADER_0.11")
    return world


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ((), []),
        (("/venv/lib",), []),
        (("/old",), [("symbol", "fail", ("urDeviceWaitExp",))]),
        (("/none", "/venv/lib", "/old"), []),
        (("/bare",), [("symbol", "fail", ("urDeviceWaitExp",))]),
        (("/other",), [("version", "fail", (NODE,))]),
    ],
)
def test_what_is_found_first_decides(variable: tuple[str, ...], told: list[Any]) -> None:
    world = world_of_loaders()
    own = world.files[f"/venv/lib/{UR}"]
    assert judge(world, "/venv/lib/libsycl.so.9", own, variable=variable) == told


def test_a_conflict_names_who_has_it() -> None:
    world = world_of_loaders()
    process, own = world.process("/old"), world.files[f"/venv/lib/{UR}"]
    scope = process.open("/venv/lib/libsycl.so.9")
    (one,) = rules.judge_symbols(process, scope[0], scope, world.known(own))
    assert (one.library, one.first, one.has) == ("/venv/lib/libsycl.so.9", f"/old/{UR}", own.path)


def test_weak_symbols_and_nodes_may_be_missing() -> None:
    world = World()
    world.add("/a/libx.so", asks=(asked("gone", weak=True),), needed=("liby.so",), runpath=("/a",))
    world.add("/a/liby.so", names=("there",), node="V1")
    assert judge(world, "/a/libx.so") == []


def test_a_symbol_that_nobody_can_be_blamed_for_is_not_told() -> None:
    world = World()
    world.add("/a/module.so", asks=(asked("PyLong_FromLong"), asked("application_hook")))
    assert judge(world, "/a/module.so") == []


def test_a_symbol_of_a_hidden_file_is_told_without_a_version_too() -> None:
    world = World()
    world.add("/a/module.so", asks=(asked("newer"),), needed=("libx.so.1",), runpath=("/a",))
    own = world.add("/a/libx.so.1", names=("older", "newer"))
    world.add("/b/libx.so.1", names=("older",))
    assert judge(world, "/a/module.so", own, variable=("/b",)) == [("symbol", "fail", ("newer",))]


@pytest.mark.parametrize(
    ("wanted", "there", "kind"),
    [
        ("_ZN3c104failERKSs", "_ZN3c104failERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "abi"),
        ("_ZN3c104failERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "_ZN3c104failERKSs", "abi"),
        ("_ZN3c104failERKSs", "_ZN3c105fail2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "torch"),
        ("_ZN3c104goneEi", "_ZN3c104failERKSs", "torch"),
        ("_ZNK2at6Tensor4goneEv", "_ZNK2at6Tensor4hereEv", "torch"),
    ],
)
def test_an_extension_for_another_torch(wanted: str, there: str, kind: str) -> None:
    world = World()
    world.add("/t/libc10.so", names=(there,))
    world.add("/x/_C.so", asks=(asked(wanted), asked("_ZN4acme3runEv")), needed=("libc10.so",), rpath=("/t",))
    assert judge(world, "/x/_C.so") == [(kind, "fail", (wanted,))]


def test_two_majors_where_one_may_be() -> None:
    world = World()
    for name in ("libsycl.so.8", "libsycl.so.9", "libpng.so.1", "libpng.so.2"):
        world.add(f"/a/{name}")
    world.add("/a/both.so", needed=("libsycl.so.8", "libsycl.so.9", "libpng.so.1", "libpng.so.2"), rpath=("/a",))
    assert {names for kind, _, names in judge(world, "/a/both.so") if kind == "majors"} == {
        ("libsycl.so.8",),
        ("libsycl.so.9",),
    }


def test_missing_libraries_are_told_where_it_is_certain() -> None:
    world = World()
    world.add("/a/plugin.so", needed=("libcuda.so.1", "libumf.so.0"))
    umf = world.add("/a/libumf.so.1")
    assert judge(world, "/a/plugin.so") == []
    assert judge(world, "/a/plugin.so", umf) == [("majors", "fail", ("libumf.so.0",))]
    world.add("/a/libtorch_cuda.so", needed=("libcuda.so.1", "libze_loader.so.1"))
    assert judge(world, "/a/libtorch_cuda.so") == []
    world.add("/a/libc10_xpu.so", needed=("libsycl.so.9",))
    assert judge(world, "/a/libc10_xpu.so") == [("missing", "fail", ("libsycl.so.9",))]


def test_what_the_library_path_hides_and_offers() -> None:
    world = world_of_loaders()
    own = world.files[f"/venv/lib/{UR}"]
    sycl = world.files["/venv/lib/libsycl.so.9"]
    older = world.add("/old/libsycl.so.8")
    same = world.add(f"/copy/{UR}", names=("urDeviceGet", "urDeviceWaitExp"), node=NODE)
    known = world.known(own, sycl)
    told = [*rules.judge_hidden((own, sycl), (world.files[f"/old/{UR}"], older), known)]
    assert [(one.kind, one.level, one.names) for one in told] == [
        ("hidden", "warn", ("urDeviceWaitExp",)),
        ("offered", "warn", ("libsycl.so.8",)),
    ]
    assert [*rules.judge_hidden((own, sycl), (same, sycl), known)] == []


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("libsycl.so.9", "libsycl"),
        ("/a/libur_loader.so.0.12.0", "libur_loader"),
        ("libsycl-preview.so.9", "libsycl-preview"),
        ("libstdc++.so.6", "libstdc++"),
        ("_C.cpython-311-x86_64-linux-gnu.so", ""),
        ("", ""),
    ],
)
def test_stems(name: str, stem: str) -> None:
    assert rules.stem_of(name) == stem


def test_the_rpath_of_a_library_with_both_is_not_looked_at() -> None:
    world = World()
    world.add("/b/libx.so")
    world.add("/a/main.so", needed=("libx.so",), rpath=None, runpath=("/none",))
    process = world.process()
    process.open("/a/main.so")
    assert [name for name, _ in process.missing] == ["libx.so"]


def test_a_fork_leaves_the_process_as_it_was() -> None:
    world = World()
    world.add("/a/libx.so")
    world.add("/b/copy.so", soname="libx.so")
    process = world.process()
    process.open("/a/libx.so")
    fork = process.fork()
    fork.open("/b/copy.so")
    assert [one.library.path for one in fork.order] == ["/a/libx.so", "/b/copy.so"]
    assert [one.library.path for one in process.order] == ["/a/libx.so"]


@pytest.mark.parametrize("needed", ["libtorch.so", "libhccl.so"])
def test_what_a_plug_in_lacks_is_no_conflict(needed: str) -> None:
    """Of a package that does without torch, as open3d; of torch_npu, where CANN is not switched on."""
    world = World()
    world.add("/venv/site/x/libtorch_npu.so", needed=(needed,))
    assert judge(world, "/venv/site/x/libtorch_npu.so") == []


def test_a_plug_in_for_another_build_of_torch_is_no_matter_of_symbols() -> None:
    world = World()
    world.add("/venv/torch/lib/libtorch.so", needed=("libc10.so",), runpath=("$ORIGIN",))
    world.add("/venv/torch/lib/libc10.so", names=("_ZN3c105ErrorC1E",))
    asks = (asked("_ZN3c103xpu16getCurrentStreamEa"),)
    for name, needed in (("of_xpu.so", ("libc10.so", "libc10_xpu.so")), ("other.so", ("libc10.so",))):
        world.add(f"/venv/x/{name}", asks=asks, needed=needed)
    own = tuple(world.files.values())
    first = (world.files["/venv/torch/lib/libtorch.so"],)
    place = environments.Environment("/venv", (), None, first, own, [], {}, Shelf(world))
    found = environments.Prover(place, "", "").prove()
    assert [(one.kind, one.library) for one in found] == [("torch", "/venv/x/other.so")]


def files(title: str, **digests: str) -> Any:
    name, _, version = title.partition(" ")
    listed = tuple((path.replace("__", "/") + ".py", digest) for path, digest in digests.items())
    return env_distributions.InstalledDistribution(name, version, "/site", listed)


def test_files_of_two_packages() -> None:
    one = files("triton 3.5.0", triton__a="1", triton__b="2", shared__c="3", tests__d="4")
    two = files("triton-xpu 3.6.0", triton__a="9", triton__b="9", shared__c="3", tests__d="5")
    (overlap,) = env_distributions.find_overlaps([one, two])
    assert overlap == (("triton 3.5.0", "triton-xpu 3.6.0"), ("triton/a.py", "triton/b.py"))
    again = files("triton 3.6.0", triton__a="9")
    assert env_distributions.find_overlaps([one, again]) == []


def test_owners_without_a_list(tmp_path: Path) -> None:
    known = env_distributions.Owners({"/venv/lib/libx.so": "acme 1.0"}, "/venv", str(tmp_path))
    assert known.of("/venv/lib/libx.so") == "acme 1.0"
    assert known.of("/opt/intel/oneapi/compiler/2025.3/lib/libsycl.so.8") == "oneAPI compiler 2025.3"
    assert known.of("/somewhere/libx.so") == ""
    listing = tmp_path / "var/lib/dpkg/info/libx1:amd64.list"
    listing.parent.mkdir(parents=True)
    listing.write_text("/.\n/usr/lib/libx.so.1\n")
    assert known.of(f"{tmp_path}/usr/lib/libx.so.1") == "libx1"
    assert known.of(f"{tmp_path}/lib/libx.so.1") == "libx1"


@pytest.mark.parametrize(("other_class", "found"), [(True, ["/usr/lib/libx.so"]), (False, [])])
def test_one_of_another_word_size_is_passed_over_and_a_broken_one_is_not(other_class: bool, found: list[str]) -> None:
    world = World()
    world.add("/venv/a.so", needed=("libx.so",))
    world.add("/usr/lib/libx.so")
    world.add("/old/libx.so", broken="it is for i686", other_class=other_class)
    assert [one.library.path for one in world.process("/old").open("/venv/a.so")][1:] == found


@dataclass(frozen=True)
class Shelf:
    """What a Disk answers, of a world."""

    world: World

    def look(self, path: str) -> Any:
        return self.world.files.get(path)

    def symbols(self, library: Any) -> Any:
        self.world.read.append(library.path)
        return self.world.symbols[library.path]

    def asked(self, library: Any) -> Any:
        return self.world.asked[library.path]

    def wanted(self, library: Any) -> Any:
        return frozenset(one.name for one in self.world.asked[library.path] if not one.weak and not one.version)

    def nodes(self, library: Any) -> Any:
        asks = (one for one in self.world.asked[library.path] if not one.weak)
        return frozenset(f"{one.name}@{one.version}" for one in asks if one.version)

    def lacking(self, library: Any, *names: set[str]) -> Any:
        return self.symbols(library).lacking(*names)

    def places(self, _variable: str) -> Any:
        return elf_loader.Places(self.look, (), {}, ("/usr/lib",))


def calls_to_prove(count: int) -> int:
    """Count what is called to judge libraries of which each is linked with four, and asks for names of nobody."""
    world, hub = World(), tuple(f"libhub{number}.so.1" for number in range(4))
    for name in hub:
        world.add(f"/venv/lib/{name}", names=("hub",))
    for number in range(count):
        asks = tuple(asked(f"of_nobody_{each}") for each in range(20))
        world.add(f"/venv/lib/libkernels{number}.so.2", asks=asks, needed=hub, runpath=("$ORIGIN",))
    own = tuple(world.files.values())
    listed = {one.path: "kernels 1.0" for one in own}
    prover = environments.Prover(environments.Environment("/venv", (), None, (), own, [], listed, Shelf(world)), "", "")
    calls = 0

    def watch(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        assert prover.prove() == []
    finally:
        sys.setprofile(before)
    return calls


def test_what_another_library_brings_is_judged_with_that_one() -> None:
    """As libavutil of PyQt6, whose stub of OpenSSL lacks a name that the plug-in has: Python never opens it alone."""
    world = World()
    lacks = (asked("RAND_bytes", "OPENSSL_3.0.0", "libcrypto.so.3"),)
    world.add("/venv/Qt6/lib/libavutil.so.59", asks=lacks, needed=("libcrypto.so.3",), runpath=("$ORIGIN",))
    world.add("/venv/Qt6/lib/libcrypto.so.3")
    plugin = "/venv/Qt6/plugins/libffmpeg.so"
    world.add(
        plugin, needed=("libavutil.so.59",), runpath=("$ORIGIN/../lib",), names=("RAND_bytes",), node="OPENSSL_3.0.0"
    )
    own = tuple(world.files.values())
    place = environments.Environment("/venv", (), None, (), own, [], {}, Shelf(world))
    assert environments.Prover(place, "", "").prove() == []


@pytest.mark.parametrize(("name", "told"), [("libx_{}.so", []), ("libtorch_{}.so", ["missing"])])
def test_a_variant_for_a_device_that_is_not_here_lacks_nothing(name: str, told: list[str]) -> None:
    """As bitsandbytes' for each release of SYCL; of torch itself each library is needed."""
    world = World()
    world.add(f"/venv/x/{name.format('cpu')}")
    world.add(f"/venv/x/{name.format('xpu2025')}", needed=("libsycl.so.8",))
    own = tuple(world.files.values())
    place = environments.Environment("/venv", (), None, (), own, [], {}, Shelf(world))
    assert [one.kind for one in environments.Prover(place, "", "").prove()] == told


@pytest.mark.parametrize(
    ("code", "other", "told"),
    [
        ("from acme import _C", "_C.abi3.so", []),
        ("from acme import _C, _far", "_C.abi3.so", ["missing"]),
        ("", "libfar.so.1", ["missing"]),
        ("", ".libs/libother.so", ["missing"]),
    ],
)
def test_a_module_for_mpi_that_no_python_file_names_is_not_missed(
    tmp_path: Path, code: str, other: str, told: list[str]
) -> None:
    """As daal4py's, which works without; where it is all that the package has, the package does not."""
    (tmp_path / "acme.py").write_text(code)
    world = World()
    far = world.add(f"{tmp_path}/_far.abi3.so", needed=("libmpi.so.12", "libfar.so.1"))
    own = (far, world.add(f"{tmp_path}/{other}"))
    acme = env_distributions.InstalledDistribution("acme", "1.0", str(tmp_path), (("acme.py", ""),))
    listed = dict.fromkeys((one.path for one in own), acme.title)
    place = environments.Environment(str(tmp_path), (), None, (), own, [acme], listed, Shelf(world))
    assert [one.kind for one in environments.Prover(place, "", "").prove()] == told


def test_what_nobody_asks_of_a_file_is_not_read() -> None:
    """Names of oneMKL and oneCCL are 400,000; of a name without a version nobody could say whose it would be."""
    world, malloc = World(), asked("malloc", "GLIBC_2.2.5", file="libc.so")
    world.add("/venv/lib/libhuge.so", names=("a", "b"), asks=(malloc,), needed=("libc.so",))
    world.add("/usr/lib/libc.so", names=("malloc",), node="GLIBC_2.2.5")
    world.add("/venv/lib/user.so", asks=(malloc, asked("a")), needed=("libc.so", "libhuge.so"), runpath=("$ORIGIN",))
    own = tuple(one for one in world.files.values() if one.path.startswith("/venv"))
    place = environments.Environment("/venv", (), None, (), own, [], {}, Shelf(world))
    assert environments.Prover(place, "", "").prove() == []
    assert set(world.read) == {"/usr/lib/libc.so"}


def test_what_was_served_once_is_not_looked_up_in_every_process() -> None:
    """A package of hundreds of modules, each linked with the same libraries: these were judged once a module."""
    world = World()
    world.add("/venv/lib/libbase.so", names=("a",), node="BASE_1")
    world.add(
        "/venv/lib/libcore.so",
        asks=(asked("a", "BASE_1", file="libbase.so"),),
        needed=("libbase.so",),
        runpath=("$ORIGIN",),
    )
    for number in range(20):
        world.add(f"/venv/lib/of{number}.so", needed=("libcore.so",), runpath=("$ORIGIN",))
    own = tuple(world.files.values())
    place = environments.Environment("/venv", (), None, (), own, [], {}, Shelf(world))
    assert environments.Prover(place, "", "").prove() == []
    assert world.read == ["/venv/lib/libbase.so"]


def test_twice_as_many_libraries_cost_twice_as_much() -> None:
    assert calls_to_prove(200) < 2.1 * calls_to_prove(100)
