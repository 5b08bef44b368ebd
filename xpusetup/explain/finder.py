"""The catalogue of failures, and where in a block of a log one of them can match at all."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, Literal

import ahocorasick

from xpusetup.base.values import Limits, Strict
from xpusetup.config.load import parse_data
from xpusetup.explain.codes import Results, make_patterns, make_words, unknown_names
from xpusetup.explain.parts import Kind, Part, refine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xpusetup.explain.blocks import LogBlock


# The catalogue of failures as values: how each shows in a log, what it means, what to do, where that is known
# from.


Phase = Literal["clone", "submodule", "configure", "compile", "link", "import", "runtime", "triton", "test", "install"]
Weight = Literal["error", "warning", "pointer"]
Certainty = Literal["high", "medium", "low"]

QUOTE = "['\"`´‘’“”«»„]?"


System = Literal["windows", "debian", "fedora", "suse", "arch", "wsl", "docker"]


@dataclass(frozen=True, kw_only=True)
class SystemAdvice(Strict):
    """What to do on one kind of system; what is empty is as everywhere."""

    fix: str = ""
    commands: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Refinement(Strict):
    """A narrower cause of a failure, where the log tells elsewhere which it is. README.md says what each key means."""

    patterns: list[str] = field(default_factory=list)
    where: Literal["line", "near", "log"] = "log"
    beside: str = ""
    unless: str = ""
    on: list[System] = field(default_factory=list)
    shown: bool = False
    general: bool = False
    likely: bool = False
    cause: str = ""
    fix: str = ""
    commands: list[str] = field(default_factory=list)
    source: str = ""
    confidence: Certainty | None = None

    def __post_init__(self) -> None:
        """Refuse one that holds always, or that says nothing else."""
        if not (self.patterns or self.on or self.beside or self.unless):
            raise ValueError("a refinement without patterns, on, beside or unless holds always")
        if not (self.cause or self.fix or self.commands):
            raise ValueError("a refinement says no other cause, fix or commands")


@dataclass(frozen=True, kw_only=True)
class Signature(Strict):
    """One failure. data/signatures/README.md says what each key means."""

    id: Annotated[str, Limits(pattern=r"^[a-z]+\.[a-z_0-9]+$")]
    phase: Phase
    level: Weight = "error"
    general: bool = False
    likely: bool = False
    abort: bool = False
    memory: bool = False
    state: bool = False
    cause: str
    fix: str
    commands: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    never: str = ""
    beside: str = ""
    unless: str = ""
    follows: list[str] = field(default_factory=list)
    on: dict[System, SystemAdvice] = field(default_factory=dict)
    when: list[Refinement] = field(default_factory=list)
    parts: list[Kind] = field(default_factory=list)
    source: str
    confidence: Certainty
    example: str

    def search(self, text: str) -> re.Match[str] | None:
        return next((found for pattern in self.patterns if (found := make_regex(pattern).search(text))), None)


@dataclass(frozen=True, kw_only=True)
class _SignatureFile(Strict):
    results: Results = field(default_factory=dict)
    part: list[Part] = field(default_factory=list)
    signature: list[Signature]

    def __post_init__(self) -> None:
        """Refuse a failure that nothing would find, and a result that no interface has."""
        blind = sorted(
            known.id for known in self.signature if not known.results and not (known.words and known.patterns)
        )
        strange = {name for known in self.signature for name in unknown_names(known.results, self.results)}
        if blind or strange:
            raise ValueError(f"without words or patterns: {blind}; results that nothing has: {sorted(strange)}")
        self._check_names()

    def _check_names(self) -> None:
        """Refuse a name that stands twice, and one in `follows` that nothing has."""
        names = [signature.id for signature in self.signature]
        twice = {name for name in names if names.count(name) > 1}
        unknown = {name for signature in self.signature for name in signature.follows} - set(names)
        if twice or unknown:
            raise ValueError(f"names that stand twice: {sorted(twice)}; that nothing has: {sorted(unknown)}")


def parse_signatures(text: str) -> tuple[Signature, ...]:
    """Read data/signatures. Raises UsageError on anything that it does not know."""
    known = parse_data(text, _SignatureFile, "data/signatures")
    return tuple(_with_parts(_with_results(each, known.results), known.part) for each in known.signature)


def _with_parts(signature: Signature, parts: Sequence[Part]) -> Signature:
    """Let what is known of parts refine a failure that names one, after its own refinements."""
    if not signature.parts:
        return signature
    told = (refine(part, kind) for kind in signature.parts for part in parts)
    return replace(signature, when=[*signature.when, *(Refinement(**each) for each in told if each)])


def _with_results(signature: Signature, results: Results) -> Signature:
    """Let a failure be found by the results that it names, too."""
    if not signature.results:
        return signature
    words = [*signature.words, *make_words(signature.results, results)]
    patterns = [*signature.patterns, *make_patterns(signature.results, results)]
    return replace(signature, words=words, patterns=patterns)


@cache
def make_regex(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of the catalogue: a space is any white space, <q> any quote or none, <Q> a quote.

    Case does not matter. Compiled when first needed: a log needs a few of the hundreds.
    """
    spaced = re.sub(r" ([?*+]?)", lambda found: r"\s*" if found[1] in {"?", "*"} else r"\s+", pattern)
    return re.compile(spaced.replace("<q>", QUOTE).replace("<Q>", QUOTE[:-1]), re.IGNORECASE | re.MULTILINE)


# The lines of a block that may hold a complaint: most of a long log only tells what is at work.


WORK = re.compile(
    rb"(?:\d{4}-\d\d-\d\d[t ][\d:.,]+z? |#\d+ \d+\.\d+ )?"
    rb"(?:\[[\d/ %]{2,16}\] (?:building |linking |generating |running |compiling |copying |performing |scanning "
    rb"|creating |built |completed |re-running |install |cd |: && |/)"
    rb"|-- )|[ \d]*\|(?![a-z_]+\||\s+[\w.]*(?:error|exception|interrupt)(?::|$)"
    rb"| (?:cmake (?:error|warning)|\S+:\d+:(?:\d+:)? (?:fatal )?error|error:|fatal:|collect2|ninja: |make|failed: ))"
)
"""Progress of ninja and of CMake's make, status lines of CMake, quoted source; a CI's time may stand before them."""


@dataclass(frozen=True)
class Speech:
    """The lines of a block that may hold a complaint, without those that only tell what is at work."""

    text: bytes
    starts: list[int]
    origins: list[int]

    def origin(self, place: int) -> int:
        """Give where a place of the text is in the block."""
        line = min(bisect_right(self.starts, place), len(self.origins)) - 1
        return self.origins[line] + place - self.starts[line]


def cut_speech(low: bytes, start: int, end: int) -> Speech:
    """Leave out progress, status lines and quoted source: most of a long log, and never a complaint.

    Where a terminal's progress bars share lines with what came after them, nothing is left out.
    """
    part = low[start:end]
    if b"\r" in part:
        return Speech(part, [0], [start])
    lines = part.split(b"\n")
    places = accumulate((len(line) + 1 for line in lines), initial=start)
    said = [(place, line) for place, line in zip(places, lines, strict=False) if not WORK.match(line)]
    starts = accumulate((len(line) + 1 for _place, line in said), initial=0)
    rest = [b""] if said and said[-1][1] is not lines[-1] else []  # the last one has an end, which words may ask for
    text = b"\n".join([*(line for _place, line in said), *rest])
    return Speech(text, list(starts), [place for place, _line in said])


# Where in a block a signature can match at all: all words at once, by one automaton (Aho and Corasick's).


GENERAL = (
    *("rror:", "rror :", "rror\n", "rror*", "rror]", "cmake error", "fatal: ", "failed: ", "*** ", "rror[e"),
    *("panicked at", "killed", "not found"),
    *("xpusetup: ", "segmentation fault", "undefined reference", "ninja: build", "ninja: error", "no space left"),
    *("fehler", "erreur", "xception: ", "xception\n", "rror!", "##[error]", "rror response", "terminate called"),
    *("illegal instruction", "received signal", "rror c", "rror lnk", "rror msb", "dpkg: ", "unmet dep"),
    "nothing provides",
    *("no installation", "unknown symbol", "disagrees about", "could not insert", "timed out: "),
    *("cannot connect", "cancelled at", "core dumped", "failed!", "ccl_error", ",error,", "unbound variable"),
    *("parameter not set", "parameter null or not set", "[mpiexec@", "[proxy:"),
    *("\ne: ", "exit_status", "process exited, code=", "returned non-zero"),
    *("unrecog|option", "unknown |option", "nvalid|option", "llegal|option", "unrecog|argument"),
)
"""Words of any error at all."""
SOFT = (
    *("failed", "failure", "fail to", "fails to", "unable to", "cannot ", "could not ", "couldn't", "not found"),
    *("no such", "denied", "timed out", "invalid", "unsupported", "not supported", "abort", "refus", "mismatch"),
    *("exceeded", "exceeds", "canceled", "cancelled", "killed", "fatal", "xception", "not usable"),
    *("shutdown signal", "not authorized", "unknown runtime", "undefined ", "not |can't", "out of memory"),
    *("rror", "not available", "can't ", "times out", "unreachable", "corrupt", "unresolved", "unhealthy"),
)
"""Words that may tell of one where nothing plainer is said."""

GENERAL_LOCAL = (
    *("fehler", "erreur", "errore", "erro:", "hata:", "fout:", "fel:", "错误", "錯誤", "エラー", "ошибка", "помилка"),
    "błąd",
    "chyba",
)
ANY = -1
"""Stands for any error among the numbers of signatures."""
PERHAPS = -2
"""Stands for what may be one."""

NAMES = "rror"
SAID = {":", "(", " ", "]", "_", "*", "|", "!", ".", ",", "[", '"', "\r", "\n", ""}
"""What follows this where it is said; in flags (-Werror=), names of files and classes it is something else. A word that
holds it counts only in a line in which it is said."""

NEAR = 2000
MARGIN = 64
"""Of a very long line the bytes that are read around a word, and before them."""
CMAKE = ("cmake error", "cmake warning")
CMAKE_PHASES = ("submodule", "configure")

Words = dict[str, dict[str, set[int]]]
"""The numbers of the signatures that a word may mean, by what else has to be in its line (empty: nothing).

Words are UTF-8 read as Latin-1: one character a byte, so that a block needs no decoding.
"""


@dataclass(frozen=True)
class Finder:
    """What to look for, by word."""

    words: Words

    @cached_property
    def _automaton(self) -> Any:
        made = ahocorasick.Automaton()
        for word in {*self.words, NAMES}:
            made.add_word(word, word)
        made.make_automaton()
        return made

    def find(self, block: LogBlock) -> Mapping[int, set[int]]:
        """Give, by where their line begins, the numbers of signatures that are worth a try there."""
        low = block.data.lower()
        speech = cut_speech(low, block.start, block.end)
        text = speech.text.decode("latin-1")
        seen, ends = defaultdict[int, set[str]](set), dict[int, int]()
        names = list[tuple[int, str]]()
        begin = end = -1
        for last, word in self._automaton.iter(text):
            if NAMES in word:
                names.append((last, word))
                continue
            place = speech.origin(last)
            if not begin <= place <= end:
                begin, end = line_around(low, place)
                ends[begin] = end
            seen[begin].add(word)
        for last in (last for last, word in names if word == NAMES and text[last + 1 : last + 2] in SAID):
            place = speech.origin(last)
            begin, ends[begin] = line_around(low, place)
            inside = slice(*(bisect_left(names, (last - place + at, "")) for at in (begin, ends[begin] + 1)))
            seen[begin].update(word for _last, word in names[inside])
        found = {begin: self._numbers(low[begin : ends[begin] + 1], words) for begin, words in seen.items()}
        return {begin: numbers for begin, numbers in found.items() if numbers}

    def _numbers(self, line: bytes, words: Iterable[str]) -> set[int]:
        """Give the numbers of the signatures that these words of a line may mean."""
        text = line.decode("latin-1")
        pairs = (pair for word in words for pair in self.words.get(word, {}).items())
        return {number for beside, numbers in pairs if beside in text for number in numbers}

    def without(self, done: set[int]) -> Finder:
        """Give a finder that looks for these numbers no more."""
        left = (
            (word, {beside: numbers - done for beside, numbers in meant.items() if numbers - done})
            for word, meant in self.words.items()
        )
        return Finder({word: meant for word, meant in left if meant})


def line_around(data: bytes, place: int) -> tuple[int, int]:
    """Give where the line of a place begins and ends; of a very long one what is near."""
    begin = data.rfind(b"\n", max(0, place - NEAR), place) + 1
    end = data.find(b"\n", place, place + NEAR)
    return begin or max(0, place - place % NEAR - MARGIN), end if end >= 0 else place + NEAR


def make_finder(signatures: Sequence[Signature]) -> Finder:
    words: Words = {}
    for number, signature in enumerate(signatures):
        cmake = CMAKE if signature.phase in CMAKE_PHASES else ()
        _add(words, (*signature.words, *cmake), number)
    _add(words, (*GENERAL, *GENERAL_LOCAL), ANY)
    _add(words, SOFT, PERHAPS)
    return Finder(words)


def _add(words: Words, texts: Iterable[str], number: int) -> None:
    for text in texts:
        first, _, beside = text.partition("|")
        meant = words.setdefault(_by_byte(first), {})
        meant.setdefault(_by_byte(beside), set()).add(number)


def _by_byte(text: str) -> str:
    return text.encode().decode("latin-1")
