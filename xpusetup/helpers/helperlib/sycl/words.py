"""The words that a call of the compiler may hold, and what becomes of each: one table.

The first row whose pattern matches a word as a whole decides. A word that begins with a dash and has no row is refused
in clang's words. `Kind` says who gets a word; what the driver itself heeds (`own`) is told apart in call.py.

What a word does was seen by compiling with it and without it (tests/e2e/test_sycl_words.py). The library takes some
words and drops them in silence; each of those is `none` or `refused` here. Floating point of device code is clang's
where nothing is said: precise, with multiplications and additions joined within an expression (`-ffp-contract=on`).
Pass `-fp-model=fast` for that of icpx.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

Kind = Literal["both", "device", "host", "link", "own", "none", "refused"]
"""Who gets a word: both passes, the device pass alone, the host pass alone, the linker, the driver; nobody, because it
has no effect here; or it is refused. The last two say why."""


class Word(NamedTuple):
    """A row: how a word is spelled, who gets it, how many words behind it belong to it, why, its spelling for g++."""

    pattern: str
    kind: Kind
    arity: int = 0
    why: str = ""
    host: tuple[str, ...] | None = None


class WordGroup(NamedTuple):
    """Rows that belong together: what they are about, where upstream passes them, the rows."""

    name: str
    source: str
    rows: tuple[Word, ...]


DROPPED = "the compiler's library would drop it in silence"
NOT_JOINED = "host and device code are joined in one object, which a linker cannot optimise as a whole"
OF_A_PROCESSOR = "it names processors for Intel's host compiler; host code is g++'s: -march=native, or another -march="
PRECISE = "host code is compiled as precisely as g++ does by itself"

GROUPS: tuple[WordGroup, ...] = (
    WordGroup(
        "What is to be done",
        "CMake, torch-xpu-ops cmake/Modules/FindSYCL/run_sycl.cmake, torch/utils/cpp_extension.py",
        (
            Word(r"-c|-E|-S|-M|-MM|-v|-###|-fsyntax-only|--version|-dumpversion|-dumpmachine", "own"),
            Word(r"-fsycl|-fno-sycl|-shared|-static|-fpreview-breaking-changes", "own"),
            Word(r"--xpusetup-kernel-suffix=\w+", "own"),
            Word(r"-fsycl-max-parallel-link-jobs=\d+", "own"),
            Word(r"-fsycl-link|-fsycl-targets=.*|-fsycl-host-compiler=.*|-fsycl-host-compiler-options=.*", "own"),
            Word(r"-a?x[A-Z].*", "refused", why=OF_A_PROCESSOR),
            Word(r"-o|-x|-MF|-MT|-MQ", "own", 1),
            Word(r"-o.+|-x.+|-MD|-MMD|-MP|-MG|-MF.+|-MT.+|-MQ.+", "own"),
            Word(r"-Xs|-Xsycl-target-backend|-Xsycl-target-backend=\S+", "own", 1),
            Word(r"-Xs(?!pirv|ycl).+", "own"),
        ),
    ),
    WordGroup(
        "Sources and headers",
        "CMake, torch-xpu-ops cmake/Modules/FindSYCL.cmake, oneDNN cmake/SYCL.cmake",
        (
            Word(r"-I|-D|-U|-isystem|-iquote|-idirafter|-include|-imacros", "both", 1),
            Word(r"-I.+|-D.+|-U.+|-isystem.+|-iquote.+|-idirafter.+|-nostdinc\+\+|-Wp,.+", "both"),
            Word(r"-ffile-prefix-map=.*|-fmacro-prefix-map=.*|-fdebug-prefix-map=.*", "both"),
        ),
    ),
    WordGroup(
        "The language, and the machine as far as it decides how data lies",
        "torch-xpu-ops cmake/BuildFlags.cmake, oneDNN cmake/host_compiler.cmake, PyTorch CMakeLists.txt",
        (
            Word(
                r"-std=.*|-pthread|-fno-exceptions|-fexceptions|-fno-rtti|-frtti|-fshort-enums|-fpack-struct(=\d+)?",
                "both",
            ),
            Word(r"-fsigned-char|-funsigned-char|-fno-signed-char|-ftemplate-depth=\d+|-f(no-)?aligned-new", "both"),
            Word(
                r"-fwrapv|-fno-wrapv|-f(no-)?strict-overflow|-f(no-)?strict-aliasing|-f(no-)?delete-null-pointer-checks",
                "both",
            ),
            Word(r"-m(no-)?omit-leaf-frame-pointer|-m(no-)?red-zone|-mcmodel=.*|-m64", "host"),
            Word(
                r"-m(arch|tune|cpu|sse.*|avx.*|amx.*|fma|f16c|bmi2?|popcnt|lzcnt|pclmul|aes)(=.*)?|-mno-(sse|avx|amx|fma).*",
                "both",
            ),
        ),
    ),
    WordGroup(
        "Optimisation and debugging",
        "torch-xpu-ops cmake/BuildFlags.cmake, oneDNN cmake/platform.cmake, CMake's build types, Python's own flags",
        (
            Word(
                r"-gline-tables-only",
                "none",
                why="debug information of device code is whole (-g) or not there: the compiler's library says that it "
                "ignores the word; host code gets line numbers (-g1)",
                host=("-g1",),
            ),
            Word(r"-O.*|-g(?!cc-).*", "both"),
            Word(r"-Rno-.*", "none", why="nothing here prints the remarks that it would leave out"),
        ),
    ),
    WordGroup(
        "Floating point",
        "torch-xpu-ops cmake/BuildFlags.cmake, oneDNN cmake/platform.cmake, PyTorch CMakeLists.txt",
        (
            Word(r"-f(no-)?fast-math|-ffp-contract=(on|off|fast)|-f(no-)?finite-math-only|-frounding-math", "both"),
            Word(r"-f(no-)?(associative-math|reciprocal-math|signed-zeros|math-errno|trapping-math)", "both"),
            Word(r"-f(no-)?unsafe-math-optimizations", "both"),
            Word(r"-f(no-)?(honor-nans|honor-infinities|approx-func)", "device", why=PRECISE),
            Word(r"-ff?p-model=(precise|strict|fast|aggressive)", "device", why=PRECISE),
            Word(r"-fp-model", "device", 1, why=PRECISE),
            Word(r"-fma|-no-fma", "device", why=PRECISE),
            Word(r"-f(no-)?offload-fp32-prec-(div|sqrt)", "device"),
            Word(r"-no-ftz", "none", why="denormal numbers are kept: nothing here asks for anything else"),
            Word(r"-ftz", "refused", why=f"{DROPPED}, so denormal numbers would be kept"),
        ),
    ),
    WordGroup(
        "Device code",
        "torch-xpu-ops cmake/BuildFlags.cmake, oneDNN cmake/SYCL.cmake and cmake/host_compiler.cmake, cpp_extension",
        (
            Word(r"-sycl-std=.*|-fno-sycl-unnamed-lambda|-f(no-)?sycl-id-queries-fit-in-int", "device"),
            Word(
                r"-fsycl-device-code-split(=.*)?|-fno-sycl-device-code-split|-f(no-)?sycl-dead-args-optimization",
                "device",
            ),
            Word(r"-f(no-)?sycl-allow-device-image-dependencies", "device"),
            Word(r"-Xclang", "device", 1),
            Word(
                r"--offload-compress|--no-offload-compress|--offload-compression-level=\d+",
                "none",
                why="images are kept as they are; the file is larger, and nothing has to be unpacked when it is loaded",
            ),
            Word(
                r"-Xspirv-translator(=\S+)?",
                "none",
                1,
                why="the translator inside the library gets no options; device code that needs an extension which it "
                "does not take (SYCL-TLA: SPV_INTEL_2d_block_io and others) ends the compile with the extension's name",
            ),
            Word(
                r"-fsycl-unnamed-lambda", "refused", why="g++ has no names for kernels that have none; name each kernel"
            ),
            Word(
                r"-fsycl-fp64-conv-emu",
                "refused",
                why="the library makes one SPIR-V for all GPUs and says that it ignores the word; on a GPU without "
                "double precision (Arc A), kernels that only convert from and to it stay out of reach",
            ),
            Word(
                r"-mllvm|-Xdevice-post-link|-Xsycl-target-frontend(=\S+)?|-Xsycl-target-linker(=\S+)?",
                "refused",
                1,
                why=DROPPED,
            ),
            Word(r"--auto-pch|--persistent-auto-pch=.*", "refused", why="each kernel would lose what it asks of a GPU"),
            Word(
                r"-fsanitize=.*|-fsycl-instrument-device-code",
                "refused",
                why="the library has no sanitizer for device code",
            ),
        ),
    ),
    WordGroup(
        "Host code",
        "PyTorch CMakeLists.txt, oneDNN cmake/platform.cmake, CMake's FindOpenMP, Python's own flags",
        (
            Word(r"-fPIC|-fpic|-fPIE|-fpie|-fno-pi[ce]|-fno-PI[CE]|-fno-plt|-f(no-)?semantic-interposition", "host"),
            Word(r"-fvisibility=.*|-fvisibility-inlines-hidden|-f(no-)?omit-frame-pointer|-pipe", "host"),
            Word(
                r"-f(no-)?stack-protector.*|-fcf-protection.*|-fstack-clash-protection|-fasynchronous-unwind-tables",
                "host",
            ),
            Word(
                r"-f(function|data)-sections|-fno-common|-fno-threadsafe-statics|-f(no-)?inline.*|-funroll-loops|-ftree-.*|-fno-gnu-unique|-Wa,.+|-p|-pg",
                "host",
            ),
            Word(r"-fdebug-types-section|-fabi-version=\d+|-ftls-model=.*|-P|-dM|-dD|-save-temps.*", "host"),
            Word(r"-fprofile-.*|--coverage|-ftest-coverage", "host"),
            Word(r"-fopenmp|-fopenmp-simd|-fno-openmp", "host"),
            Word(r"-qopenmp|-fiopenmp|-fopenmp=libgomp", "none", why="it is -fopenmp to g++", host=("-fopenmp",)),
            Word(r"-qopenmp-simd", "none", why="it is -fopenmp-simd to g++", host=("-fopenmp-simd",)),
            Word(r"-f(no-)?lto(=.*)?|-f(no-)?fat-lto-objects|-fuse-linker-plugin", "none", why=NOT_JOINED),
        ),
    ),
    WordGroup(
        "Messages",
        "torch-xpu-ops cmake/BuildFlags.cmake, oneDNN cmake/platform.cmake and src/gpu/intel/CMakeLists.txt, ccache",
        (
            Word(
                r"-fcolor-diagnostics",
                "none",
                why="it is -fdiagnostics-color=always to g++",
                host=("-fdiagnostics-color=always",),
            ),
            Word(
                r"-fno-color-diagnostics",
                "none",
                why="it is -fdiagnostics-color=never to g++",
                host=("-fdiagnostics-color=never",),
            ),
            Word(r"-fdiagnostics-.*|-fmax-errors=\d+|-fmessage-length=\d+", "host"),
            Word(
                r"-W(bitfield-enum|bool|constant|enum|implicit-int|literal|null|non-literal-null)-conversion", "device"
            ),
            Word(
                r"-W(no-)?(error=)?(pass-failed|recommended-option|unknown-warning-option|debug-disables-optimization)",
                "device",
            ),
            Word(
                r"-W(no-)?(tautological-compare|unused-command-line-argument|#pragma-messages|absolute-value)", "device"
            ),
            Word(r"-w|-pedantic|-pedantic-errors|-W(?!l,|a,|p,).*", "both"),
        ),
    ),
    WordGroup(
        "Intel's own",
        "torch-xpu-ops cmake/Modules/FindSYCL/run_sycl.cmake (main)",
        (
            Word(r"-no-intel-lib(=\S+)?", "none", why="none of Intel's own libraries is linked"),
            Word(r"-qmkl.*|-qtbb|-qipp.*|-qdaal.*", "refused", why="the toolkit has the compiler's libraries alone"),
        ),
    ),
    WordGroup(
        "The link",
        "CMake, torch-xpu-ops src/BuildOnLinux.cmake, oneDNN cmake/OpenMP.cmake",
        (
            Word(r"-l|-L|-Xlinker|-T|-z|-u|-e|-rpath", "link", 1),
            Word(r"-l.+|-L.+|-z.+|-Wl,.*|-fuse-ld=.*|-rdynamic|-s|-r|-pie|-no-pie", "link"),
            Word(r"-nostdlib|-nodefaultlibs|-nostartfiles|-static-(libgcc|libstdc\+\+)|-shared-libgcc|-B.+", "link"),
        ),
    ),
)
TABLE: tuple[Word, ...] = tuple(row for group in GROUPS for row in group.rows)


def find_word(word: str) -> Word | None:
    """Give the row of a word, or None where it is unknown."""
    return next((row for row, pattern in _compiled() if pattern.fullmatch(word)), None)


@cache
def _compiled() -> tuple[tuple[Word, re.Pattern[str]], ...]:
    return tuple((row, re.compile(row.pattern, re.DOTALL)) for row in TABLE)
