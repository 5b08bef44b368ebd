"""The words that a call of the compiler may hold, and what becomes of each: one table.

The first row whose pattern matches a word as a whole decides. A word that begins with a dash and has no row is refused
in clang's words. `Kind` says who gets a word; what the driver itself heeds (`own`) is told apart in call.py.
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


TABLE: tuple[Word, ...] = (
    # what the driver heeds itself
    Word(r"-c|-E|-S|-M|-MM|-fsyntax-only|-v|-###|--version|-dumpversion|-dumpmachine|-fsycl|-fno-sycl", "own"),
    Word(r"-fsycl-link|-fsycl-targets=.*|-fsycl-host-compiler=.*|-fsycl-host-compiler-options=.*", "own"),
    Word(r"-o|-x|-Xs|-MF|-MT|-MQ|-Xsycl-target-backend|-Xsycl-target-backend=\S+", "own", 1),
    Word(r"-shared|-static|-fpreview-breaking-changes|-o.+|-x.+|-MD|-MMD|-MP|-MG|-MF.+|-MT.+|-MQ.+|-Xs.+", "own"),
    # links
    Word(r"-L|-l|-T|-u|-z|-e|-Xlinker|-rpath", "link", 1),
    Word(
        r"-[Llz].+|-Wl,.*|-rdynamic|-pie|-no-pie|-static-(libgcc|libstdc\+\+)|-nostdlib|-nodefaultlibs|-nostartfiles",
        "link",
    ),
    Word(r"-fuse-ld=.*|-s|--sysroot=.*", "link"),
    # sources and headers, the same for both
    Word(r"-I|-D|-U|-isystem|-iquote|-idirafter|-include|-imacros", "both", 1),
    Word(r"-I.+|-D.+|-U.+|-isystem.+|-iquote.+|-idirafter.+|-nostdinc\+\+", "both"),
    Word(r"-std=.*|-pthread|-fno-exceptions|-fexceptions|-fno-rtti|-frtti|-fshort-enums|-fpack-struct(=\d+)?", "both"),
    Word(r"-m(arch|tune|cpu|sse.*|avx.*|fma|f16c|bmi2?)(=.*)?|-m(no-)?(sse|avx).*", "both"),
    Word(
        r"-O.*|-g.*|-w|-pedantic|-pedantic-errors|-f(no-)?(fast-math|associative-math|math-errno|signed-zeros)", "both"
    ),
    Word(r"-ffp-contract=.*|-ffile-prefix-map=.*|-fmacro-prefix-map=.*|-fdebug-prefix-map=.*", "both"),
    Word(r"-Wno-.*", "both"),
    Word(r"-W(a|p),.*|-dM|-dD|-P|-save-temps.*|-p|-pg|-pipe", "host"),
    Word(r"-W(error(=.*)?|all|extra|)", "both"),
    Word(r"-W.*", "both"),
    # code of the host alone
    Word(
        r"-f(no-)?(PIC|pic|PIE|pie|plt|omit-frame-pointer|semantic-interposition|lto-none|common|strict-aliasing)",
        "host",
    ),
    Word(
        r"-f(no-)?(function-sections|data-sections|visibility-inlines-hidden|openmp|trapping-math|diagnostics-\S+)",
        "host",
    ),
    Word(
        r"-f(visibility|stack-protector|cf-protection|debug-types-section|abi-version|tls-model|max-errors)\S*", "host"
    ),
    Word(r"-f(no-)?color-diagnostics", "host", host=("-fdiagnostics-color=auto",)),
    Word(r"-qopenmp|-fiopenmp", "host", host=("-fopenmp",)),
    Word(
        r"-flto.*",
        "refused",
        why="objects of both passes are joined by ld -r, which knows no code that is not compiled",
    ),
    # code of the device alone
    Word(r"-Xclang", "device", 1),
    Word(
        r"-sycl-std=2020|-fsycl-device-code-split(=(auto|per_kernel|per_source|off))?|-fno-sycl-unnamed-lambda",
        "device",
    ),
    Word(
        r"-f(no-)?sycl-(id-queries-fit-in-int|allow-device-image-dependencies|device-lib=\S+|early-optimizations)",
        "device",
    ),
    Word(
        r"-f(no-)?sycl-(dead-args-optimization|esimd-force-stateless-mem|instrument-device-code|rdc|force-inline-kernel-lambda)",
        "device",
    ),
    Word(r"-f(no-)?(honor-nans|honor-infinities|approx-func)|-foffload-fp32-prec-(div|sqrt)|-R\S+", "device"),
    Word(r"-fsycl-unnamed-lambda", "refused", why="g++ knows no names for kernels without one; name each kernel"),
    Word(r"--auto-pch|--persistent-auto-pch=.*", "refused", why="it loses what each kernel asks of a GPU"),
    # without effect
    Word(r"-f(no-)?sycl-fp64-conv-emu", "none", why="the library drops it: fp64 is not emulated where a GPU lacks it"),
    Word(r"-no-ftz", "none", why="the library drops it; SPIR-V keeps denormals unless a driver is told otherwise"),
    Word(
        r"-fsycl-max-parallel-link-jobs=\d+|--offload-compress|-no-intel-lib(=\S+)?",
        "none",
        why="there is no such step",
    ),
)


def find_word(word: str) -> Word | None:
    """Give the row of a word, or None where it is unknown."""
    return next((row for row, pattern in _compiled() if pattern.fullmatch(word)), None)


@cache
def _compiled() -> tuple[tuple[Word, re.Pattern[str]], ...]:
    return tuple((row, re.compile(row.pattern, re.DOTALL)) for row in TABLE)
