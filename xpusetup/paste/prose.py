"""What people say of their machine in words: which sentences are asserted, and what follows from them. Pure.

What a sentence tells was said and not seen. Questions, advice, guesses and conditions tell nothing; of a proposition
it counts whether it is affirmed or denied in its clause. What follows from which is data/said.toml.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

from xpusetup.base.values import Limits, Name, Strict, Text
from xpusetup.config.load import parse_data
from xpusetup.paste.system import find_release

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from xpusetup.paste.lines import Pasted


@dataclass(frozen=True, kw_only=True)
class Saying(Strict):
    """A proposition of which people speak, and the check that it tells of ("fails": the GPU does not work)."""

    id: Name
    tells: Annotated[str, Limits(pattern=r"^(?:fails|hangs|[a-z]+\.[a-z_0-9]+)$")]
    when: Literal["affirmed", "denied", "compared"]
    says: list[Text]

    @cached_property
    def forms(self) -> tuple[re.Pattern[str], ...]:
        """Give its patterns."""
        return tuple(re.compile(each, re.IGNORECASE) for each in self.says)


@dataclass(frozen=True, kw_only=True)
class _SaidFile(Strict):
    said: list[Saying]


def parse_sayings(text: str, origin: str = "said.toml") -> tuple[Saying, ...]:
    """Read data/said.toml. Raises UsageError for a file that is wrong."""
    return tuple(parse_data(text, _SaidFile, origin).said)


# Sentences.


WORDY = ("", "text", "devices", "system", "torch.xpu", "level zero", "aborts", "environment")
"""Kinds of lines that may be words of a person."""
MOST_PROSE = 600
"""As many lines of words are read."""
WORD = re.compile(r"(?<![\w./-])[A-Za-z][A-Za-z'\u2019-]*(?=[\s,.;:!?)\"]|$)")
OF_A_TOOL = re.compile(
    r"\s*(?:\||\[ ?(?:INFO|DEBUG|Step \d{1,2}/\d{1,2}) ?\]|(?:ba|da|z)?sh: "
    r"|(?:groups|dmesg|ls|cat|grep|stat|id|lspci|journalctl|sudo|sed|find): )"
)
"""How a row of a program's table begins, and what a tool that only looks says of itself."""
LEAST_WORDS = 4
LEAST_OF_TITLE = 3
"""As many words may be the title of a post."""
SENTENCE = re.compile(r"(?<=[.!?;])\s+|\s+[-\u2013\u2014]{1,2}\s+")
CLAUSE = re.compile(r"[,:(]\s|\s(?:but|however|though|although|whereas|while|when|since|because|and)\s", re.IGNORECASE)
NOT = re.compile(
    r"\b(?:not|no|never|nor|neither|none|nothing|without|cannot|nobody|isnt|doesnt|dont|wont|cant|havent)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
GUESSED = re.compile(
    r"\b(?:if|whether|maybe|might|perhaps|suppose|in case|unless|try|check|make sure|ensure|usually|wonder\w*|suspect"
    r"|guess|probably|should|would|could be|going to|plan(?:ning)? to|want to|thinking of|let me know)\b",
    re.IGNORECASE,
)
ADDRESSED = re.compile(
    r"^\s*@\w|\b(?:you|your|you're|yours)\b(?! (?:can|may) see)|\b(?:friend|colleague|neighbou?r)\b", re.IGNORECASE
)
WHY = re.compile(r"^\W*(?:why|how come|any idea why|what makes)\b", re.IGNORECASE)


def is_prose(line: str, least: int = LEAST_WORDS) -> bool:
    """Say whether a line reads like words of a person rather than a program's, with at least so many of them."""
    if OF_A_TOOL.match(line) or line.rstrip().endswith(": command not found"):
        return False
    words = WORD.findall(line)
    return len(words) >= least and sum(map(len, words)) * 2 > len(line.replace(" ", ""))


def sentences(lines: Iterable[str]) -> Iterator[str]:
    """Give the sentences of lines; an empty line ends a paragraph."""
    for paragraph in "\n".join(lines).split("\n\n"):
        for each in SENTENCE.split(" ".join(paragraph.split())):
            if each.strip():
                yield each.strip()


def _is_asserted(sentence: str, *, compared: bool) -> bool:
    if ADDRESSED.search(sentence) or (sentence.endswith("?") and not WHY.match(sentence)):
        return False
    return compared or GUESSED.search(sentence) is None


def _is_denied(sentence: str, found: re.Match[str]) -> bool:
    """Say whether what was found is denied: by an odd number of negations in its clause, up to its end."""
    start = max((cut.end() for cut in CLAUSE.finditer(sentence, 0, found.start() + 1)), default=0)
    after = re.match(
        r"\W+(?:is|are|was|does|do|did|has|have|it)?\s?(?:not|n['\u2019]t|never|missing)\b", sentence[found.end() :]
    )
    return (len(NOT.findall(sentence[start : found.end()])) + bool(after)) % 2 == 1


def _holds(saying: Saying, sentence: str) -> bool:
    if not _is_asserted(sentence, compared=saying.when == "compared"):
        return False
    found = next(filter(None, (form.search(sentence) for form in saying.forms)), None)
    if found is None:
        return False
    return saying.when == "compared" or _is_denied(sentence, found) == (saying.when == "denied")


def what_is_said(lines: Iterable[str], sayings: Iterable[Saying]) -> dict[str, str]:
    """Give what lines of prose tell, each with its first sentence that does."""
    told: dict[str, str] = {}
    spoken, table = list(sentences(lines)), tuple(sayings)
    for sentence in spoken:
        for saying in table:
            if saying.tells not in told and _holds(saying, sentence):
                told[saying.tells] = sentence[:200]
    return told


OF_SYSTEMS = "".join(rf"(?<!\b{name} )" for name in ("rocky", "oracle", "arch", "kali", "enterprise", "amazon", "alma"))
KERNEL = re.compile(
    rf"(?i){OF_SYSTEMS}"
    r"\b(?:kernel|linux|uname -r)(?: version| release)?(?: is| at| says| gives|:)?"
    r" v?([2-7]\.\d{1,2}(?:\.\d{1,3})?(?:-[\w.+-]*\w)?)"
    r"(?![\w+]| or )"
)
WISHED = re.compile(
    r"(?i)\b(?:need\w*|requires?|since|until|from|newer|older|upgrad\w+|updat\w+"
    r"|install\w*|try|tried|at least|supports?|added|going|fine|works?|worked|another|previous\w*|earlier|used to)\b"
)


A_KERNEL = re.compile(r"(?<![\w.+-])v?([4-7]\.\d{1,2}(?:\.\d{1,3})?(?:-[\w.+-]*\w)?)(?![\w+.]*\d)")
OF_KERNELS = re.compile(r"(?i)\b(?:kernels?|linux|boot(?:ed|ing)?|hwe)\b")
PARTS = re.compile(r"[,;:]\s|\s(?:but|while|whereas|and|then|until)\s", re.IGNORECASE)
WELL = re.compile(r"(?i)\b(?:works?|worked|working|fine|ok|okay|good|finds?|found|lists?|listed|there|shows?|True)\b")
AMISS = re.compile(
    r"(?i)\b(?:fails?|failed|broken?|breaks?|gone|lost|nothing|none|False|stopped|missing|disappear\w*|vanish\w*|zero|0)\b"
)


def failing_kernel(spoken: Iterable[str]) -> tuple[str, str]:
    """Give the kernel with which it is said to work, and the one with which it fails; empty where two were not told."""
    good, bad = "", ""
    for sentence in spoken:
        for part in PARTS.split(sentence) if OF_KERNELS.search(sentence) else ():
            found = A_KERNEL.search(part)
            words = A_KERNEL.sub(" ", part)
            amiss = bool(AMISS.search(words)) or bool(NOT.search(words) and WELL.search(words))
            if found and amiss:
                bad = found[1]
            elif found and WELL.search(words):
                good = found[1]
    return (good, bad) if good and bad and good != bad else ("", "")


OF_ANOTHER = re.compile(
    r"(?i)\b(?:the )?same (?:card|gpu|arc|setup|thing|code|script) (?:\w+ ){0,2}(?:in|on|under|with|inside)\b"
    r"|\b(?:an)?other (?:\w+ )?(?:pc|machine|box|laptop|desktop|server|computer|host|workstation|system)\b"
    r"|\bmy (?:\w+ )?(?:pc|machine|box|laptop|desktop|server|computer|workstation)\b"
    r"[^.]{0,60}\b(?:is|are|works?|runs?) (?:fine|well|ok)\b"
)
"""Words that tell of another machine than the one that a post is about."""


def take_words(got: Pasted, told: Mapping[str, str]) -> None:
    """Take over what was said: a command that was typed counts before words, and a kernel where only one is named."""
    typed = {"torch.is_xpu_build": got.installed} if got.installed else {}
    got.said = {**told, **typed}
    spoken = [each for each in sentences(got.prose) if _is_asserted(each, compared=False)]
    spoken = [each for each in spoken if not OF_ANOTHER.search(each)]
    named = {found[1] for each in spoken if not WISHED.search(each) for found in KERNEL.finditer(each)}
    systems = [find_release(each) for each in spoken if not WISHED.search(each)]
    if not got.release and len({each["PRETTY_NAME"] for each in systems if each}) == 1:
        got.release.update(next(filter(None, systems)))
    good, bad = failing_kernel(spoken)
    if bad and (not got.kernel or got.kernel.startswith(good)):
        got.kernel = bad
        got.told.update(("system", "kernel"))
    if not got.kernel and len(named) == 1:
        got.kernel = named.pop()
        got.told.update(("system", "kernel"))
