"""The results of Level Zero, the Unified Runtime and OpenCL: how a log tells one, by name or by number."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

Api = Literal["ze", "ur", "cl"]
Results = dict[Api, dict[str, int]]
"""By interface, the numbers by their names without prefix."""

COMMON = 0x7F000000
NAMED = r"\b(?:ZE_RESULT|UR_RESULT|PI|CL|SYCL)_(?:EXP_)?(?:ERROR_)?(?:{names})(?!\w)"
HEX = r"0x(?:{numbers})(?!\w)"
BARE = (
    r"(?:\b(?:zes?|zet|zer)[A-Z]\w*(?=\W)[^\n]{{0,80}}?(?<![\w.])(?:{numbers})(?!\w|\.\d)"
    r"|(?:rror|\bcode|result|return(?:s|ed)?|status)[\s:=(]{{1,4}}(?:{numbers})(?=[\s).,;\]]*(?:$|[(\[])))"
)
"""A number without 0x, as XPU Manager (hexadecimal) and llama.cpp (decimal) write it."""

TRITON = r"\[ZE\](?: [^\s:]+:\d+)?: ?(?:{numbers})(?!\w|\.\d)"
"""Level Zero's number as Triton for XPU writes it, in decimal."""

RUNTIME = (
    r"(?:backend failed(?: with error:|\. UR backend returns:)|\bUR error:?|Native API returns:)"
    r" ?(?:{numbers})(?!\w|\.\d)"
)
OPENCL = (
    r"(?:Native API returns: ?|\bcl(?:[A-Z][a-z]\w*|_\w+)[^\n]{{0,60}}?|\bOpenCL[^\n]{{0,60}}?"
    r"|\bCL (?:error|call)[^\n]{{0,40}}?)"
    r"(?<![\w.-])\(?-(?:{numbers})(?!\w|\.\d)"
)
WORDS = ("ze_result_e", "ur_result_e", "pi_error_", "cl_out_of", "cl_invalid_", "rror|cl_", "fail|cl_")
PLAIN = ("rror", "fail")
DECIMAL = ("2013265", "18790", "18791")
"""How Level Zero's numbers begin in decimal."""
NUMBERED: Mapping[Api, tuple[str, ...]] = {
    "ze": (
        "780000",
        "700000",
        "7001000",
        "7002000",
        "rror|[ze]",
        *(f"{word}|{head}" for word in PLAIN for head in DECIMAL),
    ),
    "ur": ("fail|backend failed", "rror|ur error", "fail|native api"),
    "cl": ("fail|native api", "rror|opencl", "fail|opencl", "rror|(-", "fail|(-"),
}
"""What is in the line of a number; `rror` and `fail` cost no search of their own."""


def unknown_names(names: Sequence[str], results: Results) -> set[str]:
    """Give those that no interface has."""
    return set(names) - {name for numbers in results.values() for name in numbers}


def make_words(names: Sequence[str], results: Results) -> tuple[str, ...]:
    """Give what to look for before any of the patterns is tried."""
    here = [api for api, numbers in results.items() if set(names) & set(numbers)]
    return tuple(dict.fromkeys([*WORDS, *(word for api in here for word in NUMBERED[api])])) if names else ()


def make_patterns(names: Sequence[str], results: Results) -> tuple[str, ...]:
    """Give how these results are written."""
    return tuple(_patterns(names, results)) if names else ()


def _patterns(names: Sequence[str], results: Results) -> Iterator[str]:
    longest_first = "|".join(sorted(names, key=len, reverse=True))
    yield NAMED.format(names=longest_first)
    numbers = {api: [known[name] for name in names if name in known] for api, known in results.items()}
    if zero := [number for number in numbers.get("ze", []) if _is_telling(number)]:
        yield HEX.format(numbers="|".join(f"{number:x}" for number in zero))
        yield BARE.format(numbers="|".join(f"{number:x}|{number}" for number in zero))
    if triton := numbers.get("ze"):
        yield TRITON.format(numbers="|".join(map(str, triton)))
    if runtime := numbers.get("ur"):
        yield RUNTIME.format(numbers="|".join(map(str, runtime)))
    if opencl := numbers.get("cl"):
        yield OPENCL.format(numbers="|".join(str(-number) for number in opencl))


def _is_telling(number: int) -> bool:
    """Say whether nobody else counts so far: numbers near the largest of 31 bits stand for anything."""
    return number < COMMON
