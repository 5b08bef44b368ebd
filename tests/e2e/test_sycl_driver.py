"""Programs that the SYCL tool chain of Intel's wheels compiles, links and runs on this machine's processor."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from e2e.support import wait_until

if TYPE_CHECKING:
    from e2e.sycl_chain import Chain

read_images: Any = import_module("helperlib.sycl.link").read_images
read_targets: Any = import_module("helperlib.wheel.images").read_targets
Elf: Any = import_module("helperlib.elf.file").Elf
TRUE_OCLOC = os.environ.get("XPUSETUP_TEST_OCLOC")
pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("sycl")]
SOURCES = Path(__file__).with_name("files") / "sycl"


class Sycl(NamedTuple):
    """A tool chain, and a folder with the sources to work in."""

    home: Path
    env: dict[str, str]
    folder: Path

    def try_icpx(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Call icpx."""
        line = ("icpx", *words)
        return subprocess.run(line, cwd=self.folder, env=self.env, check=False, capture_output=True, text=True)

    def icpx(self, *words: str) -> str:
        """Call icpx, which has to succeed; gives what it said."""
        done = self.try_icpx(*words)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def write(self, name: str, text: str) -> str:
        """Write a source; gives its name."""
        (self.folder / name).write_text(text)
        return name

    def run(self, *line: str) -> list[str]:
        """Run a program, which has to succeed; gives its lines."""
        done = subprocess.run(line, cwd=self.folder, env=self.env, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()


@pytest.fixture
def sycl(sycl_chain: Chain, tmp_path: Path) -> Sycl:
    """Give the tool chain with a folder of its own."""
    shutil.copytree(SOURCES, tmp_path, dirs_exist_ok=True)
    return Sycl(sycl_chain.home, sycl_chain.env, tmp_path)


@pytest.mark.long
def test_kernels_that_ask_for_different_aspects(sycl: Sycl) -> None:
    """Every one has its own image, so that a device that lacks one aspect takes the others."""
    assert sycl.icpx("-fsycl", "-Wall", "-Wextra", "-Werror", "-O2", "aspects.cpp", "-o", "aspects") == ""
    assert sycl.run("./aspects")[0] == "float 4032"
    assert {line.split()[1] for line in sycl.run("./aspects")} == {"4032"}
    path = subprocess.run(("readelf", "-d", sycl.folder / "aspects"), check=True, capture_output=True, text=True).stdout
    assert f"[{sycl.home}/lib]" in path


def test_local_memory_subgroups_and_atomics(sycl: Sycl) -> None:
    assert sycl.icpx("-fsycl", "-Wall", "-Werror", "reduce.cpp", "-o", "reduce", "-MD", "-MF", "reduce.d") == ""
    assert sycl.run("./reduce") == ["523776"]
    listed = [line.strip(" \\") for line in (sycl.folder / "reduce.d").read_text().splitlines()[1:]]
    assert "reduce.cpp" in listed
    assert str(sycl.home / "include/sycl/sycl.hpp") in listed
    assert [name for name in listed if not (sycl.folder / name).exists()] == []


@pytest.mark.long
def test_two_sources_with_one_kernel_through_an_archive(sycl: Sycl) -> None:
    sycl.icpx("-fsycl", "-c", "-g", "-O0", "-fPIC", "-ffunction-sections", "first.cpp", "second.cpp")
    subprocess.run(("ar", "rcs", "libfirst.a", "first.o"), cwd=sycl.folder, check=True)
    sycl.icpx("-fsycl", "-Wl,--gc-sections", "second.o", "libfirst.a", "-o", "both")
    assert sycl.run("./both") == ["42"]


@pytest.mark.long
def test_libraries_are_opened_and_closed(sycl: Sycl) -> None:
    """Of different kernels with one name the run time knows those that are loaded, once others were unloaded."""
    for summand in ("1", "2"):
        words = ("-shared", "-fPIC", "-fvisibility=hidden", f"-DSUMMAND={summand}", "library.cpp")
        sycl.icpx("-fsycl", *words, "-o", f"lib{summand}.so")
    read = subprocess.run(("readelf", "-d", sycl.folder / "lib1.so"), check=True, capture_output=True, text=True).stdout
    assert "RUNPATH" not in read
    assert "RPATH" not in read
    # a program without libm that opens libsycl crashes in libimf.so, whose IFUNC symbols are those of libm
    opener = ("g++", "opener.cpp", "-o", "opener", "-ldl", "-Wl,--no-as-needed", "-lm")
    subprocess.run(opener, cwd=sycl.folder, check=True)
    assert sycl.run("./opener", "./lib1.so", "./lib2.so", "./lib1.so") == ["41", "42", "41"]


@pytest.mark.long
def test_libraries_with_different_kernels_of_one_name_at_once(sycl: Sycl) -> None:
    """The run time takes the first for both; under names of a library's own each has its kernel."""
    text = (sycl.folder / "opener.cpp").read_text().replace("dlclose(library);", "")
    sycl.write("keeper.cpp", text.replace("RTLD_NOW", "RTLD_NOW | RTLD_GLOBAL"))
    opener = ("g++", "keeper.cpp", "-o", "keeper", "-ldl", "-Wl,--no-as-needed", "-lm")
    subprocess.run(opener, cwd=sycl.folder, check=True)
    for summand in ("1", "2"):
        words = ("-fsycl", "-shared", "-fPIC", f"-DSUMMAND={summand}", "library.cpp")
        sycl.icpx(*words, "-o", f"plain{summand}.so")
        sycl.icpx(*words, f"--xpusetup-kernel-suffix=of{summand}", "-o", f"own{summand}.so")
    assert sycl.run("./keeper", "./plain1.so", "./plain2.so") == ["41", "41"]
    assert sycl.run("./keeper", "./own1.so", "./own2.so") == ["41", "42"]


@pytest.mark.long
def test_features_that_run(sycl: Sycl) -> None:
    joined = "-fsycl-allow-device-image-dependencies"
    sycl.icpx("-fsycl", joined, "features.cpp", "elsewhere.cpp", "thrice.cpp", "-o", "features")
    found = sycl.run("./features")
    assert sorted(found) == sorted(["printed 42", "streamed 7", "counted 42, elsewhere 7", "called 42", "assembled 43"])


@pytest.mark.long
def test_a_function_that_another_source_has_is_told_how_to_be_found(sycl: Sycl) -> None:
    said = sycl.icpx("-fsycl", "-c", "features.cpp")
    assert (
        "warning: Undefined function _Z6thricei found in features.cpp; if another source has it, compile both" in said
    )


def test_an_assert_prints_and_aborts(sycl: Sycl) -> None:
    sycl.icpx("-fsycl", "asserts.cpp", "-o", "asserts")
    done = subprocess.run(("./asserts",), cwd=sycl.folder, env=sycl.env, check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGABRT
    assert 'Assertion `*value == 4 && "the sum is four"` failed.' in done.stdout + done.stderr


HOST_ERROR = "#include <sycl/sycl.hpp>\n#ifndef __SYCL_DEVICE_ONLY__\nint host = nothing;\n#endif\n"
DEVICE_ERROR = "#include <sycl/sycl.hpp>\n#ifdef __SYCL_DEVICE_ONLY__\nint device = nothing;\n#endif\n"
UNNAMED = "#include <sycl/sycl.hpp>\nint main() {\n  sycl::queue q;\n  q.parallel_for(4, [=](sycl::id<1>) {});\n}\n"
CONSTANT = """\
#include <sycl/sycl.hpp>
constexpr sycl::specialization_id<int> factor(7);
class Reads;
int main() {
  sycl::queue queue;
  int *value = sycl::malloc_shared<int>(1, queue);
  queue.submit([&](sycl::handler &handler) {
    handler.single_task<Reads>([=](sycl::kernel_handler k) { *value = k.get_specialization_constant<factor>(); });
  });
}
"""
ESIMD = "#include <sycl/sycl.hpp>\n#include <sycl/ext/intel/esimd.hpp>\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HOST_ERROR, "wrong.cpp:3:12: error: ‘nothing’ was not declared in this scope"),
        (DEVICE_ERROR, "wrong.cpp:3:14: error: use of undeclared identifier 'nothing'"),
        (UNNAMED, "wrong.cpp:4:5: error: this lambda needs a kernel name"),
        (CONSTANT, "icpx: error: wrong.cpp: specialization constants are refused"),
        (ESIMD, "icpx: error: wrong.cpp: kernels of ESIMD are refused"),
    ],
    ids=["host", "device", "unnamed", "constant", "esimd"],
)
def test_an_error_of_either_pass_is_said_once_and_leaves_no_object(sycl: Sycl, text: str, said: str) -> None:
    done = sycl.try_icpx("-fsycl", "-c", sycl.write("wrong.cpp", text), "-o", "wrong.o")
    assert done.returncode == 1
    assert done.stderr.count(said) == 1, done.stderr
    assert "sycl-jit-toolchain" not in done.stderr
    assert list(sycl.folder.glob("*wrong*")) == [sycl.folder / "wrong.cpp"]


@pytest.mark.long
def test_different_kernels_of_one_name_are_not_linked(sycl: Sycl) -> None:
    for name, number in (("one", "1"), ("two", "2")):
        text = f"#include <sycl/sycl.hpp>\nclass Same;\nvoid {name}(sycl::queue &q, int *p) {{\n"
        sycl.write(f"{name}.cpp", f"{text}  q.single_task<Same>([=] {{ *p = {number}; }});\n}}\n")
    done = sycl.try_icpx("-fsycl", "-shared", "-fPIC", "one.cpp", "two.cpp", "-o", "same.so")
    assert done.returncode == 1
    assert "two kernels are called '_ZTS4Same': one.cpp:4 (one.cpp) and two.cpp:4 (two.cpp)" in done.stderr
    assert not (sycl.folder / "same.so").exists()


TINY = """\
#include <sycl/sycl.hpp>
class Tiny;
void tiny(sycl::queue &queue, int *value) {
  queue.single_task<Tiny>([=] {
#ifdef __SYCL_DEVICE_ONLY__
#include "device.hpp"
#endif
    (void)value;
  });
}
"""


@pytest.mark.long
def test_an_object_is_found_where_nothing_changed_and_has_the_same_bytes_elsewhere(sycl: Sycl) -> None:
    def compile_in(folder: str, **more: str) -> tuple[bytes, str]:
        (sycl.folder / folder).mkdir(exist_ok=True)
        for name, text in {"tiny.cpp": TINY, "device.hpp": "*value = 1;\n", **more}.items():
            sycl.write(f"{folder}/{name}", text)
        where = sycl.folder / folder
        words = ("-fsycl", "-c", "-v", "-g", f"-ffile-prefix-map={where}=.", f"{where}/tiny.cpp", "-o", f"{folder}.o")
        told = [line for line in sycl.icpx(*words).splitlines() if line.startswith(" (cache)")]
        return (sycl.folder / f"{folder}.o").read_bytes(), told[0].rpartition(" ")[2]

    first, _ = compile_in("one")
    assert compile_in("one") == (first, "found")
    assert compile_in("two")[0] == first
    changed, told = compile_in("one", **{"device.hpp": "*value = 2;\n"})
    assert (changed == first, told) == (False, "there")
    text = subprocess.run(
        ("icpx", "-fsycl", "-E", "one/tiny.cpp"),
        cwd=sycl.folder,
        env=sycl.env,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert '# 1 "one/device.hpp"' in text


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param({}, marks=pytest.mark.long),
        {"CCACHE_DEPEND": "1"},
        pytest.param({"CCACHE_NODIRECT": "1"}, marks=pytest.mark.long),
    ],
)
def test_a_compiler_cache_before_icpx_sees_headers_of_either_pass(sycl: Sycl, mode: dict[str, str]) -> None:
    """With clang's own -fsycl it gives the old object: what that lists and preprocesses is the host's pass alone."""
    assert shutil.which("ccache"), "apt-get install ccache"
    own = {"CCACHE_DIR": str(sycl.folder / "ccache"), "CCACHE_STATSLOG": str(sycl.folder / "log"), **mode}
    words = ("ccache", "icpx", "-fsycl", "-MD", "-MF", "tiny.d", "-c", "tiny.cpp", "-o", "tiny.o")
    sycl.write("tiny.cpp", TINY)

    def compile_with(value: int) -> bytes:
        sycl.write("device.hpp", f"*value = {value};\n")
        subprocess.run(words, cwd=sycl.folder, env={**sycl.env, **own}, check=True)
        assert "device.hpp" in (sycl.folder / "tiny.d").read_text()
        return (sycl.folder / "tiny.o").read_bytes()

    first = compile_with(1)
    assert compile_with(2) != first
    assert compile_with(1) == first
    assert "_cache_hit" in (sycl.folder / "log").read_text(), "the cache has nothing to do with it"


OCLOC = """\
#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in -out_dir) out=$2 ;; esac
    shift
done
echo "not really machine code" > "$out/made"
"""


def test_a_device_link_with_and_without_an_offline_compiler(sycl: Sycl) -> None:
    """Machine code stands beside the SPIR-V, which the processor takes."""
    link = ("-fsycl", "-fPIC", "-fsycl-link", "aspects.o", "-fsycl-targets=spir64_gen,spir64", "-Xs", "-device bmg")
    sycl.icpx("-fsycl", "-fPIC", "-fsycl-targets=spir64_gen,spir64", "-c", "aspects.cpp")
    images = [each for record in read_images(sycl.folder / "aspects.o") for each in record.images]
    assert len(images) == 3
    assert [each for each in images if "SYCL/imported symbols" in each.properties] == []  # of bfloat16
    refused = sycl.try_icpx(*link, "-o", "device.o")
    assert refused.returncode == 3
    assert "Debian sid: intel-ocloc and libigc2" in refused.stderr
    assert not (sycl.folder / "device.o").exists()
    (sycl.folder / "bin").mkdir()
    (sycl.folder / sycl.write("bin/ocloc", OCLOC)).chmod(0o755)
    there = sycl._replace(env={**sycl.env, "PATH": f"{sycl.folder}/bin:{sycl.env['PATH']}"})
    there.icpx(*link, "-o", "device.o")
    assert b"not really machine code" in (sycl.folder / "device.o").read_bytes()
    sycl.icpx("-fsycl", "-fsycl-link", "aspects.o", "-o", "nothing.o")
    sycl.icpx("-fsycl", "aspects.o", "device.o", "nothing.o", "-o", "aspects")
    assert sycl.run("./aspects")[0] == "float 4032"


@pytest.mark.long
@pytest.mark.skipif(not TRUE_OCLOC, reason="XPUSETUP_TEST_OCLOC names no ocloc (Debian sid: intel-ocloc and libigc2)")
def test_machine_code_by_a_true_ocloc(sycl: Sycl) -> None:
    """An edited kernel costs ocloc for its own image; kernels with fp64 are left out for Arc A unless it is told."""
    (sycl.folder / "bin").mkdir()
    noted = sycl.write("bin/ocloc", f'#!/bin/sh\necho "$@" >> {sycl.folder}/calls\nexec {TRUE_OCLOC} "$@"\n')
    (sycl.folder / noted).chmod(0o755)
    path = f"{sycl.folder}/bin:{sycl.env['PATH']}"
    there = sycl._replace(env={**sycl.env, "PATH": path, "XPUSETUP_SYCL_CACHE": str(sycl.folder / "cache")})

    def link(options: str) -> tuple[str, int]:
        there.icpx("-fsycl", "-fPIC", "-fsycl-targets=spir64_gen,spir64", "-c", "aspects.cpp", "first.cpp")
        words = ("-fsycl-targets=spir64_gen,spir64", "-Xs", f"-device bmg,dg2 {options}", "-o", "device.o")
        said = there.icpx("-fsycl", "-fPIC", "-fsycl-link", "aspects.o", "first.o", *words)
        calls = (sycl.folder / "calls").read_text().splitlines()
        (sycl.folder / "calls").write_text("")
        return said, len(calls)

    said, calls = link("")
    assert "note: no machine code for dg2: _ZTS5ScaleIdE" in said
    assert "Double type is not supported on this platform" in said
    assert calls == 6  # four images; that with fp64 once more for each GPU
    targets = read_targets(Elf((sycl.folder / "device.o").read_bytes()))
    assert (targets.versions, targets.images) == ({"bmg", "dg2", "20.1"}, 4)  # by its version where it stands alone
    assert ("dg2", "_ZTS5ScaleIdE") in targets.refused
    text = (sycl.folder / "shared_kernel.hpp").read_text()
    sycl.write("shared_kernel.hpp", text.replace("+= 1", "+= 2"))
    assert link("") == (said, 1)
    assert link("-options -cl-poison-unsupported-fp64-kernels") == ("", 4)


def test_a_device_compiler_that_is_killed_is_an_exit_code(sycl: Sycl) -> None:
    line = ("icpx", "-fsycl", "-c", "aspects.cpp", "-o", "aspects.o")
    started = subprocess.Popen(line, cwd=sycl.folder, env=sycl.env, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: bool(device_passes(started.pid)))
    os.kill(device_passes(started.pid)[0], signal.SIGKILL)
    _, said = started.communicate()
    assert started.returncode == 70
    assert "the device compiler was ended by signal 9; that is what the kernel sends where memory is short" in said
    assert not (sycl.folder / "aspects.o").exists()


def device_passes(parent: int) -> list[int]:
    """Give the device passes that a driver started."""
    children = Path(f"/proc/{parent}/task/{parent}/children")
    found = [int(each) for each in children.read_text().split()] if children.exists() else []
    return [each for each in found if "device-pass" in Path(f"/proc/{each}/cmdline").read_text().split("\0")]


def test_a_disk_that_is_full_leaves_no_object(sycl: Sycl) -> None:
    """A limit of the size of files stands for it: writing ends after the first kilobytes."""
    limited = ("bash", "-c", 'trap "" XFSZ; ulimit -f 4; exec icpx -fsycl -c first.cpp -o first.o')
    done = subprocess.run(limited, cwd=sycl.folder, env=sycl.env, check=False, capture_output=True, text=True)
    assert done.returncode not in {0, 1}
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr
    assert not (sycl.folder / "first.o").exists()


def test_an_interrupted_compile_leaves_nothing(sycl: Sycl, tmp_path_factory: pytest.TempPathFactory) -> None:
    temporary = tmp_path_factory.mktemp("interrupted")
    env = {**sycl.env, "TMPDIR": str(temporary)}
    heeds = ("env", "--default-signal=INT")  # what runs in the background of a script has it ignored
    line = (*heeds, "icpx", "-fsycl", "-c", "aspects.cpp", "-o", "aspects.o")
    started = subprocess.Popen(line, cwd=sycl.folder, env=env, start_new_session=True)
    wait_until(lambda: bool(device_passes(started.pid)))
    time.sleep(0.3)
    os.killpg(started.pid, signal.SIGINT)
    assert started.wait() == 130
    assert list(temporary.iterdir()) == []
    assert list(sycl.folder.glob("*aspects*")) == [sycl.folder / "aspects.cpp"]
