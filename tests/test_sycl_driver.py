"""The SYCL driver without a compiler: how a call is told apart, what is said, what stands in an object."""

from __future__ import annotations

import base64
import os
import re
import struct
import subprocess
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ahead: Any = import_module("helperlib.sycl.ahead")
cache: Any = import_module("helperlib.sycl.cache")
depend: Any = import_module("helperlib.sycl.depend")
link: Any = import_module("helperlib.sycl.link")
CallError: Any = import_module("helperlib.sycl.call").CallError
Input: Any = import_module("helperlib.sycl.call").Input
parse_call: Any = import_module("helperlib.sycl.call").parse_call
clean_log: Any = import_module("helperlib.sycl.diagnose").clean_log
drop_repeated: Any = import_module("helperlib.sycl.diagnose").drop_repeated
kernel_names: Any = import_module("helperlib.sycl.header").kernel_names
kernel_places: Any = import_module("helperlib.sycl.header").kernel_places
map_header: Any = import_module("helperlib.sycl.header").map_header
HomeError: Any = import_module("helperlib.sycl.home").HomeError
read_home: Any = import_module("helperlib.sycl.home").read_home
Image: Any = import_module("helperlib.sycl.images").DeviceImage
Record: Any = import_module("helperlib.sycl.images").ObjectImages
make_assembly: Any = import_module("helperlib.sycl.images").make_assembly
make_record: Any = import_module("helperlib.sycl.images").make_record
_without_own_headers: Any = import_module("helperlib.sycl.passes")._without_own_headers
find_mixed: Any = import_module("helperlib.sycl.refuse").find_mixed
find_trouble: Any = import_module("helperlib.sycl.refuse").find_trouble
find_undefined: Any = import_module("helperlib.sycl.refuse").find_undefined
rename_image: Any = import_module("helperlib.sycl.rename").rename_image
rename_text: Any = import_module("helperlib.sycl.rename").rename_text
drop_words: Any = import_module("helperlib.sycl.spirv").drop_words
read_imports: Any = import_module("helperlib.sycl.spirv").read_imports
read_kernels: Any = import_module("helperlib.sycl.spirv").read_kernels
FailedError: Any = import_module("helperlib.sycl.work").FailedError

KERNEL = [
    *("-MD", "-MF", "a.o.SYCL-depend", "-c", "AbsKernel.cpp", "-o", "a.o", "-I/src"),
    "-fsycl-host-compiler=/usr/bin/g++",
    '-fsycl-host-compiler-options=-I/src -I"/with blank" -fPIC -std=c++17 -DUSE_XPU ',
    *("-fsycl", "-fsycl-targets=spir64_gen,spir64", "-fno-sycl-unnamed-lambda", "-sycl-std=2020", "-fhonor-nans"),
]
"""What FindSYCL/run_sycl.cmake of torch-xpu-ops passes (28cfac20)."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("AbsKernel.cpp", "a.cpp", "b.cpp", "c.c"):
        Path(name).touch()


def test_a_kernel_of_torch_xpu_ops() -> None:
    call = parse_call("icpx", KERNEL)
    assert (call.stage, call.sycl, call.out) == ("-c", True, "a.o")
    assert call.host_options == ["-I/src", "-I/with blank", "-fPIC", "-std=c++17", "-DUSE_XPU"]
    assert call.both == ["-I/src"]
    assert call.targets == ("spir64_gen", "spir64")
    assert call.notes == ["-MD", "-MF", "a.o.SYCL-depend"]
    assert [each.word for each in call.sources] == ["AbsKernel.cpp"]


def test_the_line_of_a_link_keeps_its_order() -> None:
    call = parse_call("icpx", ["-fsycl", "a.cpp", "-L/x", "-l", "m", "libz.a", "-Wl,--as-needed", "-shared", "b.cpp"])
    words = ["a.cpp", "-L/x", "-l", "m", "libz.a", "-Wl,--as-needed", "-shared", "b.cpp"]
    assert [each.word for each in call.inputs] == words
    assert [each.word for each in call.sources] == ["a.cpp", "b.cpp"]
    assert call.shared


def test_a_language_holds_for_what_stands_behind_it() -> None:
    Path("kernel.inc").touch()
    call = parse_call("icpx", ["-c", "-x", "c++", "kernel.inc", "-xnone", "c.c"])
    assert call.inputs == [Input("kernel.inc", "c++"), Input("c.c", "c")]


def test_words_of_response_files() -> None:
    Path("more").write_text("-O2 '-DNAME=a b' @most")
    Path("most").write_text("-fsycl\na.cpp")
    assert parse_call("icpx", ["-c", "@more"]).both == ["-O2", "-DNAME=a b"]
    Path("most").write_text("@most")
    with pytest.raises(CallError, match="response files within response files"):
        parse_call("icpx", ["@most"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-fsycl-of-tomorrow", "a.cpp"], "unknown argument: '-fsycl-of-tomorrow'"),
        (["-fsycl-targets=spir64,nvptx64"], "invalid target 'nvptx64' in '-fsycl-targets=spir64,nvptx64'"),
        (["-Xs"], "argument to '-Xs' is missing (expected 1 value)"),
        (["-fsycl", "-fsycl-link"], "no input files"),
        (["-c", "gone.cpp"], "no such file or directory: 'gone.cpp'"),
        (["-c", "a.cpp", "b.cpp", "-o", "x.o"], "cannot specify -o when generating multiple output files"),
        (["-x", "fortran", "a.cpp"], "language not recognized: 'fortran'"),
        (["-fsycl", "-fsycl-unnamed-lambda", "a.cpp"], "'-fsycl-unnamed-lambda' is refused: "),
        (["-xHost", "a.cpp"], "'-xHost' is refused: it names processors"),
        (["-axCORE-AVX512", "a.cpp"], "'-axCORE-AVX512' is refused: it names processors"),
    ],
)
def test_what_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(CallError) as refused:
        parse_call("icpx", words)
    assert str(refused.value).startswith(said)


def test_a_toolkit_says_why_it_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match="cannot be read"):
        read_home(tmp_path)
    record = '{"schema": 1, "version": "%s", "jit": "jit.so", "wheels": {}}'
    (tmp_path / "jit.so").touch()
    for version, why in (("2025.3.3", "lacks the device libraries"), ("2027.0.0", "nothing was compiled by it here")):
        (tmp_path / "toolkit.json").write_text(record % version)
        with pytest.raises(HomeError, match=why):
            read_home(tmp_path)
    (tmp_path / "toolkit.json").write_text(record % "2026.1.2")
    assert read_home(tmp_path).interface.number == "20260101"


def test_headers_of_the_toolkit_are_no_headers_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "include/sycl").mkdir(parents=True)
    (tmp_path / "jit.so").touch()
    (tmp_path / "toolkit.json").write_text('{"schema": 1, "version": "2026.1.2", "jit": "jit.so", "wheels": {}}')
    words = ["-I", f"{tmp_path}/include", f"-I{tmp_path}/include/sycl", "-I/other", "-DX", "-isystem", "/more"]
    assert _without_own_headers(words, read_home(tmp_path)) == ["-I/other", "-DX", "-isystem", "/more"]


# What is said.


def test_paths_inside_the_library_are_those_of_the_folder(tmp_path: Path) -> None:
    log = (
        "Device compilation failed\nDetailed information:\n\t"
        "In file included from /sycl-jit-toolchain//bin/compiler/../../include/sycl/sycl.hpp:51:\na.cpp:1:1: error: x\n"
    )
    said = f"In file included from {tmp_path}/include/sycl/sycl.hpp:51:\na.cpp:1:1: error: x\n"
    assert clean_log(log, tmp_path) == said
    assert clean_log("", tmp_path) == ""


IN_HEADER = """\
In file included from vadd.cpp:1:
In file included from /sycl-jit-toolchain/include/sycl/handler.hpp:34:
/sycl-jit-toolchain/include/sycl/detail/kernel_launch_helper.hpp:250:13: error: {}
  250 |             std::forward<decltype(args)>(args)...);
/sycl-jit-toolchain/include/sycl/queue.hpp:2852:12: note: in instantiation of 'X' requested here
 2852 |     return parallel_for_impl<KernelName>(Range, Rest...);
"""
REQUESTED = """\
vadd.cpp:10:5: note: in instantiation of 'parallel_for<auto_name, (lambda at vadd.cpp:10:25)>' requested here
   10 |   q.parallel_for(range, [=](sycl::id<1> i) { a[i] += b[i]; });
      |     ^
"""
NO_NAME = "; provide a kernel name, or use '-fsycl-unnamed-lambda' to enable unnamed kernel lambdas"


def test_a_kernel_without_a_name_is_told_once_at_the_line_that_launches_it(tmp_path: Path) -> None:
    """Each range makes two kernels: the second one rounds it up. From 2026.1.0, on `q.parallel_for(range, [=] ...)`."""
    both = ("'RoundedRangeKernel<1, (lambda at vadd.cpp:10:25)>'", "'(lambda at vadd.cpp:10:25)'")
    log = "".join(IN_HEADER.format(f"unnamed type {each} is invalid{NO_NAME}") + REQUESTED for each in both)
    first, *source = clean_log(log, tmp_path).splitlines()
    assert first.startswith("vadd.cpp:10:5: error: this lambda needs a kernel name, because g++ compiles the host code")
    assert source == REQUESTED.splitlines()[1:]


def test_other_errors_of_a_header_stay_as_they_are(tmp_path: Path) -> None:
    log = IN_HEADER.format("no member named 'x'") + REQUESTED
    assert clean_log(log, tmp_path) == log.replace("/sycl-jit-toolchain", str(tmp_path))


DEVICE = "a.cpp:3:7: warning: unused variable 'x' [-Wunused-variable]\n    3 |   int x;\n"
HOST = """\
In file included from a.hpp:1,
                 from a.cpp:1:
a.cpp: In function ‘int main()’:
a.cpp:3:7: warning: unused variable ‘x’ [-Wunused-variable]
    3 |   int x;
a.cpp:3:9: warning: something else [-Wshadow]
a.cpp:1:1: note: declared here
a.cpp: In function ‘int f()’:
a.cpp:4:1: error: no return [-Werror=return-type]
cc1plus: some warnings being treated as errors
"""


def test_a_warning_of_both_passes_is_said_once() -> None:
    left = drop_repeated(HOST, DEVICE)
    assert left.splitlines() == HOST.splitlines()[5:]
    assert drop_repeated(HOST, "") == HOST


def test_files_of_both_passes_are_noted_once(tmp_path: Path) -> None:
    device = r"a.o: a.cpp \
  /sycl-jit-toolchain//bin/compiler/../../include/sycl/sycl.hpp /with\ blank/b.h"
    host = f"host: a.cpp {tmp_path}/own/header.h /usr/c.h {tmp_path}/include/sycl/sycl.hpp\n"
    files = depend.join_files([depend.read_rule(host), depend.read_rule(device)], tmp_path, tmp_path / "own")
    assert files == ["a.cpp", "/usr/c.h", f"{tmp_path}/include/sycl/sycl.hpp", "/with blank/b.h"]
    notes = depend.parse_notes(["-MD", "-MFx.d", "-MT", "t one", "-MP"], "")
    assert notes == depend.Notes("-MD", "x.d", ("t one",), phony=True)
    written = depend.write_rule(notes, "a.o", files[:2])
    assert written == "t one: \\\n  a.cpp \\\n  /usr/c.h\n\n/usr/c.h:\n"


# What the device pass makes.


HEADER = """\
const char* const kernel_names[] = {
  "_ZTS1A",
  "_ZTS1B",
  "",
};
template <> struct KernelInfo<A> {
  static constexpr const char* getName() { return "_ZTS1A"; }
  static constexpr const char* getFileName() {
#ifndef NDEBUG
    return "/here/a.cpp";
#else
    return "";
#endif
  }
  static constexpr unsigned getLineNumber() {
#ifndef NDEBUG
    return 7;
#else
    return 0;
#endif
  }
  static constexpr unsigned getColumnNumber() {
#ifndef NDEBUG
    return 3;
"""


def test_what_the_integration_header_says() -> None:
    assert kernel_names(HEADER) == ["_ZTS1A", "_ZTS1B"]
    places = kernel_places(HEADER, Path("/kit"), ["-ffile-prefix-map=/here=."])
    assert places["_ZTS1A"]["at"] == "./a.cpp:7"
    assert 'return "./a.cpp";' in map_header(HEADER, ["-ffile-prefix-map=/here=."])


def instruction(number: int, *words: int, text: str = "", behind: tuple[int, ...] = ()) -> bytes:
    """Give an instruction of SPIR-V with a text among its operands."""
    named = text.encode() + b"\0" * (4 - len(text) % 4) if text else b""
    rest = struct.pack(f"<{len(words)}I", *words) + named + struct.pack(f"<{len(behind)}I", *behind)
    return struct.pack("<I", (len(rest) // 4 + 1) << 16 | number) + rest


def module(*imports: str, kernel: str = "_ZTS1A") -> bytes:
    """Give a module with a kernel that lacks functions."""
    lacking = b"".join(instruction(71, 5, 41, text=name, behind=(1,)) for name in imports)
    own = instruction(71, 6, 41, text="exported", behind=(0,))
    entry = instruction(15, 6, 4, text=kernel, behind=(9,))
    return struct.pack("<5I", 0x07230203, 0x10400, 0, 99, 0) + entry + own + lacking + instruction(54, 1, 2, 3, 4)


def image(data: bytes, name: str = "_ZTS1A", **more: dict[str, int | str]) -> Any:
    properties = {f"SYCL/{key.replace('_', ' ')}": value for key, value in more.items()}
    return Image("spir64", {name: {"at": "a.cpp:1", "text": "x"}}, {"SYCL/kernel names": {name: 1}, **properties}, data)


def test_spirv_names_its_kernels_and_what_it_lacks() -> None:
    assert read_imports(module("abcd", "_Z3fooi")) == ["abcd", "_Z3fooi"]
    assert read_kernels(module()) == ["_ZTS1A"]
    for broken in (b"", module()[:40], b"\0" * 40):
        with pytest.raises(ValueError, match="a device image"):
            read_kernels(broken)


def test_what_a_device_pass_may_not_leave_behind() -> None:
    good = image(module("__spirv_BuiltInGlobalSize"))
    assert find_trouble([good], ["_ZTS1A"]) == ""
    assert find_trouble([good], ["_ZTS1A", "_ZTS1B"]) == "kernels that the device pass left out in silence: _ZTS1B"
    constant = image(module("_Z37__sycl_getScalar2020SpecConstantValueIiET_PKcPKvS4_"))
    assert find_trouble([constant], []).startswith("specialization constants are refused")
    assert find_trouble([good] * 65536, []) == "65536 device images in one object; 65535 is the most"


def test_functions_of_other_sources_are_in_one_of_them() -> None:
    asks = Record("a.cpp", (image(module(), imported_symbols={"_Z6thricei": 1, "__devicelib_assert_fail": 1}),))
    has = Record("b.cpp", (image(module(), exported_symbols={"_Z6thricei": 1}),))
    assert find_undefined([asks, has]) == ""
    assert find_mixed([asks, has]) == ""
    with_global = image(module(), exported_symbols={"_Z6thricei": 1}, device_globals={"_Z7counter": 1})
    said = "b.cpp has device globals, and functions for kernels of others (_Z6thricei): part them in two sources"
    assert find_mixed([asks, Record("b.cpp", (with_global,))]) == said
    assert find_undefined([asks]) == "undefined in device code: _Z6thricei (asked for in a.cpp)"


def test_one_name_is_one_kernel() -> None:
    one = Record("a.cpp", (image(b"", "_ZTS4Same"),))
    link.check_names([one, one])
    other = Image("spir64", {"_ZTS4Same": {"at": "b.cpp:9", "text": "y"}}, {}, b"")
    with pytest.raises(
        FailedError, match=r"two kernels are called '_ZTS4Same': a.cpp:1 \(a.cpp\) and b.cpp:9 \(b.cpp\)"
    ):
        link.check_names([one, Record("b.cpp", (other,))])


@pytest.mark.e2e
def test_images_are_read_from_objects_archives_and_linked_files(tmp_path: Path) -> None:
    """The assembly is made for real; as and ld put it into files."""
    bytes_of = base64.b64encode(b"\1\2\3").decode()
    record = Record("a.cpp", (image(module(), requirements={"aspects": bytes_of}), image(b"", "second")))
    parts, starts = make_record(record)
    assert all(each % 16 == 0 for each in starts)
    (tmp_path / "r.bin").write_bytes(b"".join(parts))
    (tmp_path / "r.s").write_text(make_assembly(record, tmp_path / "r.bin", starts, 3))
    (tmp_path / "f.c").write_text(
        "void __sycl_register_lib(void*p){(void)p;}void __sycl_unregister_lib(void*p){(void)p;}"
    )
    for line in (
        "g++ -c r.s -o r.o",
        "cp r.o twice.o",
        "ar rc libr.a r.o",
        "gcc -shared -fPIC f.c r.o twice.o -Wl,--gc-sections -Wl,-z,defs -o r.so",
    ):
        subprocess.run(line.split(), cwd=tmp_path, check=True)
    for name in ("r.o", "libr.a"):
        assert link.read_images(tmp_path / name) == [record]
    assert link.read_images(tmp_path / "r.so") == [record, record]
    (bare, _) = link.read_images(tmp_path / "r.so", bare=True)
    assert [(each.kernels, each.data) for each in bare.images] == [(each.kernels, b"") for each in record.images]
    assert link.read_images(tmp_path / "f.c") == []
    table = subprocess.run(("readelf", "-SW", "r.so"), cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    addresses = {each[1]: int(each[2], 16) for each in re.finditer(r"(\.[\w.]+) +\w+ +([0-9a-f]{16})", table)}
    assert addresses[".lrodata"] > max(addresses[name] for name in (".text", ".data", ".bss", ".data.rel.ro"))
    (tmp_path / "r.bin").write_bytes(b"XPUSYCL0" + b"".join(parts)[8:])
    subprocess.run(("g++", "-c", "r.s", "-o", "r.o"), cwd=tmp_path, check=True)
    with pytest.raises(FailedError, match=r"r.o' has device images in a form that this driver does not know"):
        link.read_images(tmp_path / "r.o")


def test_another_compiler_wheel_or_option_is_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An update of g++, of the wheels or of the library in them must not find what was compiled before it."""
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "kept"))
    told = {"failed": False, "hash": "device"}
    monkeypatch.setattr(cache, "ask_device", lambda *_words, **_more: told)
    monkeypatch.setattr(cache, "_preprocess", lambda *_words: b"host")
    monkeypatch.setattr(cache, "_programs", lambda _driver: ())
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    library, compiler = tmp_path / "libsycl-jit.so", tmp_path / "bin/g++"
    compiler.parent.mkdir()
    for each in (library, compiler):
        each.write_text("#!/bin/sh\necho /none\n")
        each.chmod(0o755)

    def key(version: str = "1", *words: str) -> str:
        home = SimpleNamespace(wheels={"intel-sycl-rt": version}, jit=library)
        call = parse_call("icpx", ["-fsycl", "-c", *words, "a.cpp"])
        work = SimpleNamespace(home=home, call=call, folder=tmp_path)
        return str(cache.find_key(work, Input("a.cpp", "c++"), [], depend.parse_notes([], "")))

    first = key()
    assert first == key()
    keys = [first, key("2"), key("1", "-O2")]
    compiler.write_text("#!/bin/sh\necho /other\n# a newer one\n")
    keys.append(key())
    library.write_text("a newer one")
    keys.append(key())
    told["hash"] = "of a header that the device pass alone reads"
    keys.append(key())
    assert len(set(keys)) == len(keys)


def test_a_cache_that_grew_too_large_loses_what_was_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "kept"))
    monkeypatch.setenv(cache.SIZE, str(3000 / cache.GIB))
    made = tmp_path / "made.o"
    for number in range(3):
        made.write_bytes(b"x" * 900)
        cache.keep(f"1{number}key", made, f"warning {number}\n")
        os.utime(tmp_path / f"kept/1{number}/1{number}key", (number, number))
    assert cache.fetch("10key") == (tmp_path / "kept/10/10key", "warning 0\n")  # asked for now
    cache.keep("0key", made, "")  # the one in sixteen that looks
    assert cache.fetch("11key") is None
    assert cache.fetch("10key") is not None
    assert cache.fetch("0key") is not None
    monkeypatch.setenv(cache.FOLDER, "off")
    assert cache.fetch("0key") is None


@pytest.mark.parametrize(
    "told",
    [
        "-device pvc,bmg -options -cl-one -options '-cl-two -cl-three'",
        r'"-device\ pvc,bmg\ -options\ \'\ -cl-one\ -cl-two\ -cl-three\'"'.replace(r"\'", "'"),
    ],
)
def test_what_is_handed_on_to_the_offline_compiler(told: str) -> None:
    offline = ahead.parse_offline([told])
    assert offline == ahead.Offline(("pvc", "bmg"), ("-cl-one", "-cl-two", "-cl-three"))


def test_without_a_list_of_gpus_there_is_no_machine_code() -> None:
    with pytest.raises(CallError, match="device is not specified"):
        ahead.parse_offline(["-options -cl-one"])
    with pytest.raises(CallError, match="'-revision_id'"):
        ahead.parse_offline(["-device pvc -revision_id 5"])


OCLOC = """\
#!/bin/sh
# ocloc as it answers here: it makes what it was asked for into its folder, but none with double precision for dg2
echo "$@" >> {log}
while [ $# -gt 0 ]; do
    case $1 in -file) file=$2 ;; -device) device=$2 ;; -out_dir) out=$2 ;; esac
    shift
done
case $device in *dg2*) grep -q double "$file" && {{ echo "Double type is not supported"; exit 245; }} ;; esac
{{ echo "code for $device of"; cat "$file"; }} > "$out/made"
"""


@pytest.mark.e2e
def test_an_image_that_a_gpu_refuses_is_made_for_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "kept"))
    log, ocloc = tmp_path / "log", tmp_path / "ocloc"
    ocloc.write_text(OCLOC.format(log=log))
    ocloc.chmod(0o755)
    offline = ahead.Offline(("pvc", "dg2", "bmg"), ("-cl-one",))
    plain, double = image(b"float"), image(b"double", "_ZTS1D")
    made = ahead.compile_image(ocloc, plain, offline)
    assert made.image is not None
    assert (made.image.target, made.image.data) == ("spir64_gen", b"code for pvc,dg2,bmg of\nfloat")
    made = ahead.compile_image(ocloc, double, offline)
    assert made.image is not None
    assert made.image.data == b"code for pvc,bmg of\ndouble"
    assert made.refused == {"dg2": "ocloc ended with 245: Double type is not supported"}
    said = ahead.tell_refused("icpx", [(double, made)])
    assert said.startswith("icpx: note: no machine code for dg2: _ZTS1D (ocloc ended with 245")
    calls = len(log.read_text().splitlines())
    assert ahead.compile_image(ocloc, plain, offline).image is not None
    assert ahead.compile_image(ocloc, double, offline) == made
    assert len(log.read_text().splitlines()) == calls
    ocloc.write_text(OCLOC.format(log=log) + "# another version\n")
    ahead.compile_image(ocloc, plain, offline)
    assert len(log.read_text().splitlines()) == calls + 1
    assert all("-options -cl-one" in line for line in log.read_text().splitlines())


ALONE = """\
#!/bin/sh
mkdir {folder}/lock 2>/dev/null || touch {folder}/together
sleep 0.5
rmdir {folder}/lock 2>/dev/null
while [ "$1" != -out_dir ]; do shift; done
echo code > "$2/made"
"""


@pytest.mark.e2e
@pytest.mark.parametrize("jobs", [1, 3])
def test_as_many_offline_compilers_run_at_once_as_the_build_has_jobs(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch-xpu-ops hands MAX_JOBS on by this word; the largest that was seen took half a gigabyte."""
    monkeypatch.setenv(cache.FOLDER, "off")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "ocloc").write_text(ALONE.format(folder=tmp_path))
    (tmp_path / "ocloc").chmod(0o755)
    words = ["-fsycl", "-fsycl-link", f"-fsycl-max-parallel-link-jobs={jobs}", "-Xs", "-device bmg", "a.o"]
    work = SimpleNamespace(call=parse_call("icpx", words), home=None)
    native = ahead.make_native(work, [Record("a.cpp", (image(b"one"), image(b"two"), image(b"three")))])
    assert len(native.images) == 3
    assert (tmp_path / "together").exists() is (jobs == 3)


LOST = """\
#!/bin/sh
case "$*" in *pvc,bmg*) echo lost; exit 1 ;; esac
while [ "$1" != -out_dir ]; do shift; done
echo code > "$2/made"
"""


@pytest.mark.e2e
def test_an_image_that_each_gpu_takes_and_the_list_does_not_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The image was left out in silence."""
    monkeypatch.setenv(cache.FOLDER, "off")
    ocloc = tmp_path / "ocloc"
    ocloc.write_text(LOST)
    ocloc.chmod(0o755)
    with pytest.raises(FailedError, match="ocloc ended with 1: lost; it was called for pvc,bmg, each of which"):
        ahead.compile_image(ocloc, image(b"float"), ahead.Offline(("pvc", "bmg"), ()))


def test_kernels_under_names_of_a_librarys_own() -> None:
    made = rename_image(
        image(module(), param_opt={"_ZTS1A": 1}, program_metadata={"_ZTS1A@reqd_sub_group_size": 2, "_Z7counter": 3}),
        ["_ZTS1A"],
        "_lib",
    )
    assert read_kernels(made.data) == list(made.kernels) == ["_ZTS1A_lib"]
    assert made.data.endswith(module()[-20:])
    assert made.properties["SYCL/param opt"] == {"_ZTS1A_lib": 1}
    assert set(made.properties["SYCL/program metadata"]) == {"_ZTS1A_lib@reqd_sub_group_size", "_Z7counter"}
    assert kernel_names(rename_text(HEADER, ["_ZTS1A", "_ZTS1B"], "_lib")) == ["_ZTS1A_lib", "_ZTS1B_lib"]


def test_the_words_of_a_compile_do_not_get_into_an_image() -> None:
    told = instruction(7, 9, text=" -fsycl-device-only -Xclang -fsycl-int-header=/tmp/icpx-abcd/header.h")
    plain = module()
    assert drop_words(plain[:20] + told + plain[20:]) == plain[:20] + instruction(7, 9, 0) + plain[20:]
    assert drop_words(plain) == plain
