"""Which operators an add-on has where only some of the kernels are compiled; the others fall back to the CPU.

An operator of native_functions.yaml names a function. Its text, and that of the functions of the same file that it
names, shows which kernels and which stubs it needs. That is read from the sources, not compiled: an operator whose
function is not found is left out, and a kernel that is called from yet another file is not seen. Calling such a one
raises an error with the kernel's name (graph.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from helperlib.addon.installed import AddonError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

KERNELS = "src/ATen/native/**/sycl/*.cpp"
NATIVE = "aten/src/ATen/native"
OTHERS = {"cuda", "cudnn", "hip", "miopen", "mps", "vulkan", "metal", "mkldnn", "mtia"}
"""Folders of PyTorch's native operators that are another device's."""
SETS = {
    "processor": (
        *("AbsKernel", "BinaryKernels", "CopyKernel", "FillKernel", "Indexing", "ReduceSumProdKernels", "ResizeKernel"),
        *("DistributionBernoulli", "DistributionNormal", "DistributionRandomKernel", "DistributionUniform"),
        *("RandpermKernel", "UnaryComplexKernels"),
    )
}
"""Named sets of sources. `processor` is what the checks need there: what draws by a generator of XPU cannot fall back,
and the rest of it is what every program uses."""
NOT_ON = {"processor": ("DistanceKernels", "TensorTopKKernel")}
"""Sources that `all` leaves out for a device, as seen with 2.6: their kernels end the process there. Those of distances
ask for sub-groups of at least 8, and the processor has 4; the compiler of Intel's OpenCL run time 2026.1.2 fails inside
on that of topk. Both operators fall back."""
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DEFINITION = re.compile(
    r"(?:TORCH_IMPL_FUNC\s*\(\s*(?P<structured>\w+)\s*\)|\b(?P<plain>\w+))"
    r"\s*\([^(){};]*(?:\([^()]*\)[^(){};]*)*\)\s*(?:const\s*)?\{|\b(?:struct|class)\s+(?P<type>\w+)[^;{}()]*\{"
)
CALLED = re.compile(r"(?<![.>\w])(?<!at::)(\w+)(?=\s*[(<{,>])")
"""A function or a type that is named as such: neither a method nor an operator, which is dispatched anew."""
MACRO = re.compile(r"^[A-Z_0-9]+\(\s*(\w+)\s*,([^;{}]*?)\)", re.MULTILINE)
"""A macro that defines a function: CREATE_UNARY_TORCH_IMPL_FUNC(acos_out, acos_stub)."""
REGISTERED = re.compile(r"REGISTER_XPU_DISPATCH\(\s*(\w+)\s*,\s*&?\s*(?:\w+::)*(\w+)\s*\)")
DECLARED = re.compile(r"TORCH_XPU_API\s+[\w:<>,&*\s]+?\b(\w+)\s*\(")
WORD = re.compile(r"\w+")
DIRECT = re.compile(r"\bat::xpu::(\w+)\s*\(")
"""An operator that is called as XPU's own, which does not fall back."""
KEYS = re.compile(r"^(    )([A-Za-z, ]*\b(?:Sparse|SparseCsr)?XPU\b[A-Za-z, ]*)(\s*:\s*)(\w+)", re.MULTILINE)


@dataclass
class Text:
    """What a source defines: the text of each function by name, and the stubs that it registers a kernel for."""

    path: Path
    functions: dict[str, str] = field(default_factory=dict)
    stubs: dict[str, str] = field(default_factory=dict)

    def words(self, name: str, pattern: re.Pattern[str] = WORD) -> set[str]:
        """Give the words in a function and in those of this source that it names."""
        seen: set[str] = set()
        waiting = [name]
        words: set[str] = set()
        while waiting:
            here = waiting.pop()
            if here not in seen and here in self.functions:
                seen.add(here)
                words |= set(pattern.findall(self.functions[here]))
                waiting += set(CALLED.findall(self.functions[here])) & self.functions.keys()
        return words


def read_text(path: Path) -> Text:
    """Read the functions of a source."""
    text = COMMENT.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
    found = Text(path, stubs=dict(REGISTERED.findall(text)))
    for name, words in MACRO.findall(text):
        found.functions[name] = f"{found.functions.get(name, '')} {words}"
    place = 0
    while match := DEFINITION.search(text, place):
        name, end = match["structured"] or match["plain"] or match["type"], _end(text, match.end())
        if name in {"if", "for", "while", "switch", "catch"}:
            place = match.end()
            continue
        found.functions[name] = f"{found.functions.get(name, '')} {text[match.end() : end]}"
        place = end
    return found


def _end(text: str, place: int) -> int:
    """Give where a block ends that was opened before a place."""
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, place):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.end()
    return len(text)


class Choice(NamedTuple):
    """What is compiled: sources with kernels, host sources; operators with a kernel, operators that fall back.

    `table` is native_functions.yaml for these operators.
    """

    kernels: list[Path]
    hosts: list[Path]
    operators: list[str]
    left_out: list[str]
    table: str


def kernel_sources(ops: Path) -> dict[str, Path]:
    """Give the sources with kernels, by their names without the ending."""
    return {path.stem: path for path in sorted(ops.glob(KERNELS))}


def read_sources(words: str, ops: Path) -> list[str]:
    """Give the sources that a list names: by their names or those of sets; none for `all`. Raises AddonError."""
    named = [word.strip() for word in words.split(",") if word.strip()]
    if named == ["all"]:
        return []
    names = list(dict.fromkeys(name for word in named for name in SETS.get(word, (word,))))
    known = kernel_sources(ops)
    if unknown := [name for name in names if name not in known]:
        raise AddonError(f"torch-xpu-ops has no source {', '.join(unknown)}", f"it has {', '.join(known)}")
    return names


def host_sources(ops: Path) -> list[Path]:
    """Give the sources of operators, without kernels and without those of the device itself."""
    native = ops / "src/ATen/native"
    folders = ("xpu", "sparse", "sparse/xpu", "transformers", "quantized")
    return sorted(path for name in folders for path in (native / name).glob("*.cpp"))


def choose(torch: Path, ops: Path, wanted: Iterable[str], without: Iterable[str] = ()) -> Choice:
    """Give what is compiled: all, or all but the sources `without`, or those `wanted` and what needs no others."""
    known, hosts = kernel_sources(ops), host_sources(ops)
    table = (ops / "yaml/native/native_functions.yaml").read_text(encoding="utf-8")
    names, out = list(wanted), set(without) & known.keys()
    if not names and not out:
        return Choice(list(known.values()), hosts, sorted(_operators(table)), [], table)
    kernels = [known[name] for name in names or known if name not in out]
    texts = [read_text(path) for path in known.values()], [read_text(path) for path in hosts]
    selection = _Selection(kernels, *texts, most=not names)
    files = (path for path in (torch / NATIVE).rglob("*") if path.suffix in {".cpp", ".h"})
    natives = (path for path in files if not OTHERS & set(path.relative_to(torch).parts))
    selection.native = [read_text(path) for path in natives]
    operators = _operators(table)
    functions = set(filter(selection.has, {match[4] for match in KEYS.finditer(_plain(table))}))
    while lost := {each for each in functions if selection.lacks(each, operators, functions)}:
        functions -= lost
    kept = sorted(name for name, function in operators.items() if function in functions)
    gone = {function for function in operators.values() if function not in functions}
    used = [text.path for text in selection.hosts if selection.uses(text, functions, gone)]
    return Choice(kernels, used, kept, sorted(operators.keys() - set(kept)), _narrow(table, functions))


@dataclass
class _Selection:
    """What is there. `most`: all but a few sources, so that what is not seen to need one of these is there as well."""

    kernels: list[Path]
    sources: list[Text]
    hosts: list[Text]
    most: bool = False
    native: list[Text] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Find which kernels are there and which are not, and for which stubs."""
        chosen, others = (
            {name for text in self.sources if (text.path in self.kernels) == is_in for name in text.functions}
            for is_in in (True, False)
        )
        headers = {path for text in (*self.sources, *self.hosts) for path in text.path.parent.glob("*.h")}
        declared = {name for path in headers for name in DECLARED.findall(path.read_text(encoding="utf-8"))}
        # two sources may define a name for other arguments: it is there with both
        self.absent = declared & (others - chosen) if self.most else declared - (chosen - others)
        there = declared - self.absent
        self.known = {stub for text in self.hosts for stub in text.stubs}
        rows = ((stub, {kernel, *text.words(kernel)}) for text in self.hosts for stub, kernel in text.stubs.items())
        # a function before several kernels, as that of copies, is there as soon as one of them is
        self.stubs = {stub for stub, words in rows if words & there or not words & self.absent}

    def has(self, function: str) -> bool:
        """Say whether all that is seen of what a function needs is there."""
        texts = [text for text in (*self.hosts, *self.native) if function in text.functions]
        words = {word for text in texts for word in text.words(function)}
        asked = {word for word in words if word in self.known or word.endswith("_stub")}
        if self.most:
            asked &= self.known
        return (self.most or bool(texts)) and not words & self.absent and asked <= self.stubs

    def lacks(self, function: str, operators: dict[str, str], functions: set[str]) -> bool:
        """Say whether a function calls an operator as XPU's own that falls back."""
        asked = {word for text in self.hosts for word in text.words(function, DIRECT)}
        there = {name.partition(".")[0] for name, own in operators.items() if own in functions}
        return bool(asked & {name.partition(".")[0] for name in operators} - there)

    def uses(self, text: Text, functions: set[str], gone: set[str]) -> bool:
        """Say whether a host source has a function that is kept, or fills a stub that is there."""
        if functions & text.functions.keys() or self.stubs & text.stubs.keys():
            return True
        return self.most and not gone & text.functions.keys()


def _operators(table: str) -> dict[str, str]:
    """Give the operators that have a function for XPU, with that function."""
    found = {}
    for block in re.split(r"^- func:", _plain(table), flags=re.MULTILINE):
        for match in KEYS.finditer(block):
            if "XPU" in match[2].replace(",", " ").split():
                found[block.split("(")[0].strip()] = match[4]
    return found


def _plain(table: str) -> str:
    return re.sub(r"^\s*#.*$", "", table, flags=re.MULTILINE)


def _narrow(table: str, functions: set[str]) -> str:
    """Give the table in which only some functions are those of XPU: the others stand as another device's.

    torchgen refuses a ufunc that names CUDA.
    """

    def other(match: re.Match[str]) -> str:
        above = table[table.rfind("- func:", 0, match.start()) : match.start()]
        dense = "MPS" if "ufunc_inner_loop" in above else "CUDA"
        keys = re.sub(r"\bXPU\b", dense, match[2]).replace("XPU", "CUDA")
        return f"{match[1]}{match[2] if match[4] in functions else keys}{match[3]}{match[4]}"

    return KEYS.sub(other, table)
