"""What a log complains of that is over: tried again, expected, put right by a later command, or up at last.

Each rule asks for two things: a later line by which the same went well, and that nothing complains after it. So a
log that ends with a complaint, or at one, keeps its cause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from xpusetup.explain.ending import ASKED, LIKELY, PROMPT, SURE, is_tally, is_verdict
from xpusetup.explain.window import RAISED, STRONG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from xpusetup.explain.evidence import Lines


AGAIN = re.compile(
    r"(?:attempt|try|retry|restart)\W{0,3}#?(?P<n>\d+)\s*(?:/|of|out of)\s*(?P<m>\d+)"
    r"|(?<!\bor )(?<!\bto )\bretry(?:ing)?\b(?! later)"
    r"|\bretried\b|\btr(?:y|ying) again (?:in|with)\b|, trying again|\btries remaining\b"
    r"|\battempt \d+ failed\b|\btrying (?!to(?: (?!re)|$))\S|, (?:next|again)\b|^waiting for\b|, waiting\b"
    r"|\b(?:registered|connected|succeeded|reached)\b.{0,40}\b(?:at attempt|after) [1-9]"
    r"|\bbefore (?:trying again|retry|the next (?:try|attempt))|\bback(?:ing)? off (?:for )?\d"
    r"|\bnext (?:mirror|server|source|url)\b"
    r"|\bnot (?:there|ready|up) yet\b|\brequeued\b|\bresuming\b"
    r"|\bfall(?:s|ing)? back\b(?! to run on the CPU)"
    r"|\bfell back\b|(?<!anyway)(?<!instead), us(?:e|es|ing) (?!the |`)\S|\busing the (?:default|one|server)\b",
    re.IGNORECASE,
)
"""What says that the same is tried once more, or another way."""
EXPECTED = re.compile(
    r"(?<!not )\bas (?:expected|intended|it should)\b|\(expected\b|\bon purpose\b|\bintentional(?:ly)?\b"
    r"|^\.\.\.ignoring|\] Error \d+ \(ignored\)$|, good$|\bis harmless\b|\bsafe(?:ly)? (?:to )?ignored?\b",
    re.IGNORECASE,
)
"""What says that it had to fail."""
GOOD = re.compile(
    r"\b(?:done|ok|success(?:ful(?:ly)?)?|succeeded|completed?(?! (?:log|list|output|error|message))"
    r"|finished|ready|started|connected|registered|initiali[sz]ed"
    r"|loaded|enabled|saved|wrote|written|received|downloaded|fetched|installed|built|pulled|checked out|uploaded"
    r"|synced|passed|resumed|recovered|resolved|assigned|records|found|active|running|sent|is up)\b",
    re.IGNORECASE,
)
"""What says that something went well."""
CURLED = re.compile(r"(?:^|[^\d.])100 +[1-9][\d.]*[kMG]? +100 +[1-9][\d.]*[kMG]? ")
"""What curl shows of a file that came in full."""
NOT_GOOD = re.compile(r"\b(?:not|never|no|0|without|cannot|can't|failed) (?:\w+ )?\w*$", re.IGNORECASE)
UP = re.compile(r"\bInitialized \w+ \d|submission enabled|\]: assigned\b|\bassigned \[mem|\bis ready\b")
"""How the kernel says that a device works."""
GIVEN_UP = re.compile(r"\bwedged\b|\bEnabling uc failed\b")
"""What a GPU's driver says that registers the device all the same, for a screen: that is no sign of work then."""
SUBJECT = re.compile(
    r"(?P<device>\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d\b)|\b[\w@-]+\.(?:service|mount|socket)\b|https?://[^\s\"'>)]+"
    r"|\"[^\"\s]{4,}\"|'[^'\s]{4,}'|‘[^’\s]{4,}’"
    r"|\b(?:shard|part|chunk|worker|file|bucket|layer|task)[ _-]#?\d+\b"
    r"|\b[\w.+-]+\.(?:tar\.\w+|zip|whl|safetensors|bin|deb|rpm|git)\b",
)
"""What a line is about, where another one can be held against it."""
SPEAKS = re.compile(r"\.(?:service|mount|socket)\b|Retry scheduled|a second time|Failed to pull image")
"""What speaks of the lines above it, too."""
ABOVE = 6
"""Maximum number of lines between a failure and the line that announces another try."""
TRACE = 60
"""Maximum length of a traceback, in lines."""
REMEMBERED = 4096
"""How many lines are remembered: each is asked about from several others."""
ANSWERS = 2
"""A server that answers so many requests after one that it refused is at work."""
LISTS_GPU = re.compile(r"^\[(?:ext_oneapi_)?(?:level_zero|opencl):gpu\]|^\s*`-- Device #0: (?=.*(?:Intel|Arc|Max))")
ROOT = re.compile(r"\bsudo\b|\bsu\b|^root@|\bssh\b|\bdocker\b|\bpodman\b")
NO_DEVICE = re.compile(r"/dev/dri|/dev/accel|could not insert|No XPU devices|No device", re.IGNORECASE)
READS = re.compile(
    r"^(?:history\b|grep -\w*r|rg |git (?:log|show|diff|blame|grep)\b|(?:cat|head|tail|less|sed -n|grep)\b.*"
    r"\b(?:README|CHANGELOG|\w+\.(?:md|py|cpp|c|h|hpp|toml|ya?ml|rst|cmake))\b)"
)
"""Commands that show what was written once."""
WAY = re.compile(r"\bcpu\b|cuda|--no-|\beager\b|disable|fallback|\bn-?gl\b|gpu_?mask|VISIBLE|SELECTOR", re.IGNORECASE)
"""A command with such a word went another way: that it works does not show that the first one would."""
BEFORE = re.compile(
    r"^(?:(?:sudo(?: -\w+)*|time|env|[A-Z_][A-Z0-9_]*=\S*|\S*python[\d.]*(?:\.exe)? +-m(?= +pip\b)|uv(?= +pip\b)) +)+"
)
BUILDS = {"cmake", "make", "ninja", "gcc", "g++", "icpx", "icx", "clang", "clang++", "cp", "mv", "git", "meson"}
PATCHES = {"am", "apply"}
"""What git does with patches: the one tries what the other does."""
FETCHES = {"pip", "pip3", "apt", "apt-get", "dnf", "conda", "uv", "curl", "wget"}
VERSION = re.compile(r"(?:\[[^\]]*\])?[\"']?(?:[=<>~!]=?|@)\d.*$")
"""Which release of a package is asked for: another one that came does what the first was to do."""
RETRIED = re.compile(r"^WARNING: Retrying \(Retry\(total=\d+")
STOPPED = re.compile(r"^ninja: build stopped|^g?make: \*\*\* ")
ANSWERED = re.compile(r"\"POST /\S+ HTTP/[\d.]+\" 200\b")
REFUSED = re.compile(r"\"POST /\S+ HTTP/[\d.]+\" (?:4\d\d|5\d\d)\b")
MIRROR = re.compile(
    r"^error: failed retrieving file '|^\[MIRROR\] |^(?:>>> | - )?Curl error \(\d+\): |^(?:Err|Ign):\d+ http"
    r"|^Mirror .* failed"
    r"|\bfrom \S*mirror\S* *: (?:The requested URL|Operation too slow|Could not resolve|Failed to connect)"
    r"|^Download \(curl\) error for |^Unable to (?:read|retrieve) .* from mirror|^WARNING: fetching http.*: "
    r"|^warning: error: .*(?:mirror|download)|^curl: \(\d+\) .*, trying"
)
"""What a package manager says of one server of several."""
INSTALLS = re.compile(
    r"^\(\d+/\d+\) (?:checking|installing|upgrading|loading)|^ ?there is nothing to do|^:: Processing package changes"
    r"|^Complete!|^Nothing to do\.|^Metadata cache created|^Running transaction (?:check|test)"
    r"|^Transaction test succeeded"
    r"|^Fetched [\d.,]+ k?M?G?B in|^All repositories have been refreshed|^Checking for file conflicts: .*done"
    r"|^Executing transaction: .*done|^OK: [\d.]+ [KMG]iB in \d+ packages"
)
"""How package managers go on that have all that they fetched."""
BISECTING = re.compile(r"^Bisecting: \d+ revisions? left|^running +'")
BISECTED = re.compile(r"^[0-9a-f]{7,40} is the first \S+ commit$|^bisect found first \S+ commit")
LOOKS_FOR = re.compile(r"(?:^|[|;&] ?|sudo )(?:e?grep|rg|awk|systemctl|journalctl|ctest|find) ")
"""Commands that name what they look for."""
JAVA = re.compile(r"(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b.*\n\s*at [\w.$<>]+\(")
"""An exception of Java with the first line of its trace, which loggers write below what they say."""
RESTART = re.compile(r"^(?P<unit>\S+\.service): Scheduled restart job, restart counter is at [1-3]\.$")
STARTED = re.compile(r"^Started \S")
SHOWS_LOG = re.compile(r"^(?:tail|cat|head|less|grep)\b.* \S+\.log\b")
SHUT = re.compile(r"\b(?:shut ?down|shutting down|stopped|exiting|bye)\b", re.IGNORECASE)
CONTINUED = re.compile(r"^git (?P<what>am|rebase|cherry-pick|merge|revert) ")


@dataclass(frozen=True)
class TypedCommand:
    """A command of a person, or one that a script echoed, with the lines between it and the next."""

    text: str
    begin: int
    end: int

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words without what only says how it is run."""
        return tuple(BEFORE.sub("", self.text).split())

    @cached_property
    def operands(self) -> set[str]:
        """What it works on."""
        first = 2 if self.words[:1] and self.words[0] in FETCHES | {"git"} else 1
        asked = {word for word in self.words[first:] if not word.startswith("-")}
        return {VERSION.sub("", word) for word in asked} if self.words[:1] and self.words[0] in FETCHES else asked

    def repeats(self, other: TypedCommand) -> bool:
        """Say whether this command repeats an earlier one, possibly with extra arguments."""
        if not self.words or not other.words or self.words[0] != other.words[0]:
            return False
        if WAY.search(self.text) and not WAY.search(other.text):
            return False
        if set(other.words) <= set(self.words):
            return True
        verbs = {*self.words[1:2], *other.words[1:2]}
        if self.words[0] in FETCHES | {"git"} and len(verbs) > 1 and not verbs <= PATCHES:
            return False
        return self.words[0] in BUILDS | FETCHES and bool(self.operands & other.operands)


@dataclass(frozen=True)
class Story:
    """The lines of a log, which of them complain, and which do so in earnest, by index."""

    texts: tuple[str, ...]
    ill: frozenset[int]
    hard: frozenset[int]
    totals: frozenset[int]
    steps: frozenset[int] = frozenset()

    @cached_property
    def commands(self) -> list[TypedCommand]:
        """The commands with prompts; the first part of a log has none."""
        found = [(0, "")]
        for index, text in enumerate(self.texts):
            prompt = PROMPT.match(text)
            if prompt and not ASKED.match(prompt["command"].strip()):
                found.append((index, prompt["command"].strip()))
        ends = [*found[1:], (len(self.texts), "")]
        return [TypedCommand(text, begin, end) for (begin, text), (end, _next) in zip(found, ends, strict=True)]

    def is_good(self, index: int) -> bool:
        return index not in self.ill and (index in self.totals or tells_good(self.texts[index].strip()))


@lru_cache(maxsize=REMEMBERED)
def tells_good(text: str) -> bool:
    """Say whether a line tells that something went well."""
    if SURE.search(text) or LIKELY.search(text) or is_tally(text) or CURLED.search(text):
        return True
    found = GOOD.search(text)
    return bool(found) and not NOT_GOOD.search(text[: found.end()] if found else "")


def find_recovered(log: Lines, ill: AbstractSet[int], soft: AbstractSet[int] = frozenset()) -> frozenset[int]:
    """Give the numbers of the lines of a log that complain of what is over.

    `ill`: the numbers of all that complain; `soft`: those of them that are only warned of.
    """
    bad = frozenset(index for index, number in enumerate(log.numbers) if number in ill)
    hard = frozenset(index for index in bad if log.numbers[index] not in soft)
    story = Story(log.texts, bad, hard, log.totals, log.steps)
    if not story.ill:
        return frozenset()
    over = set(_read(story)) | _answered(story) | _bisected(story) | _restarted(story) | _tested(story)
    over |= _fetched(story)
    typed = {part.begin for part in story.commands if LOOKS_FOR.search(part.text)}
    over |= {index for index in typed & story.ill if not STRONG.search(story.texts[index])}
    for part in story.commands:
        over |= _tried_again(story, part, over)
    over |= _up_at_last(story, over)
    over |= _built_at_last(story, over)
    over |= _put_right(story, over)
    over |= _served(story, over)
    return frozenset(log.numbers[index] for index in over)


def _read(story: Story) -> Iterator[int]:
    for part in story.commands:
        if READS.match(part.text):
            yield from range(part.begin + 1, part.end)


def _fetched(story: Story) -> set[int]:
    """Give what was said of one server of several, where the next one gave all that was to be fetched."""
    found = set[int]()
    for part in story.commands:
        said = range(part.begin, part.end)
        tried = {index for index in said if MIRROR.match(story.texts[index].strip())}
        tried |= {index for index in said if index - 1 in tried and story.texts[index].startswith("  ")}
        done = [index for index in range(part.begin, part.end) if INSTALLS.match(story.texts[index].strip())]
        left = [index for index in story.ill if part.begin <= index < part.end and index not in tried]
        if tried and done and done[-1] > max(tried) and max(left, default=-1) < max(tried):
            found |= tried & story.ill
    return found


def _bisected(story: Story) -> set[int]:
    """Give what the tries of a bisection said that found its commit: they had to fail."""
    begin = next((index for index, text in enumerate(story.texts) if BISECTING.match(text)), len(story.texts))
    end = max((index for index, text in enumerate(story.texts) if BISECTED.match(text)), default=0)
    return {index for index in story.ill if begin < index < end}


def _restarted(story: Story) -> set[int]:
    """Give what a service said before it was started again, where it says nothing ill after that."""
    found = set[int]()
    for at, text in enumerate(story.texts):
        again = RESTART.match(text)
        if again is None:
            continue
        up = next((index for index in range(at, len(story.texts)) if STARTED.match(story.texts[index])), None)
        if up is None or len(story.texts) - up <= ANSWERS:
            continue
        of_it = {index for index in story.ill if story.texts[index].startswith(f"{again['unit']}: ")}
        if of_it and max(of_it) < at:
            found |= of_it | _belonging(story, min(of_it), 0, far=True)
    return found


def _tested(story: Story) -> set[int]:
    """Give what a server's log says that a person shows after the tests of it passed, up to where it was stopped."""
    found = set[int]()
    for before, part in zip(story.commands, story.commands[1:], strict=False):
        said = [index for index in range(before.begin, before.end) if story.texts[index].strip()]
        last = [text for text in story.texts[part.begin + 1 : part.end] if text.strip()][-1:]
        passed = any(is_verdict(story.texts[index].strip()) for index in said[-ANSWERS:])
        if passed and SHOWS_LOG.match(part.text) and last and SHUT.search(last[0]):
            found |= set(range(part.begin + 1, part.end)) & story.ill
    return found


def _answered(story: Story) -> set[int]:
    """Give pip's tries of an address after which it went on: where the last one was in vain too, it says so next."""
    found = set[int]()
    for index in sorted(story.ill):
        if not RETRIED.match(story.texts[index].strip()):
            continue
        after = (at for at in range(index + 1, len(story.texts)) if story.texts[at].strip())
        following = next((at for at in after if not RETRIED.match(story.texts[at].strip())), None)
        found |= {index} if following is not None and following not in story.ill else set()
    return found


def _tried_again(story: Story, part: TypedCommand, over: AbstractSet[int]) -> set[int]:
    """Give what one command says was tried again or had to fail, where it goes on well after the last of these."""
    lines = range(part.begin, part.end)
    found = set[int]()
    for index in lines:
        text = story.texts[index]
        if _says_again(text) or EXPECTED.search(text):
            found |= _belonging(story, index, part.begin)
    hard = max(
        (index for index in lines if index in story.hard and index not in found and index not in over), default=-1
    )
    last = max((index for index in found if index > hard), default=-1)
    if last < 0 or not any(
        story.is_good(index) or EXPECTED.search(story.texts[index]) for index in range(last, part.end)
    ):
        return set()
    return {index for index in found if index > hard}


def _says_again(text: str) -> bool:
    found = AGAIN.search(text)
    return bool(found) and (found["n"] is None or int(found["n"][:9]) < int(found["m"][:9]) if found else False)


def _belonging(story: Story, index: int, begin: int, *, far: bool = False) -> set[int]:
    """Give the complaints that a line speaks of: its own, those right above, and the traceback above or below it."""
    found = {index} & story.ill
    at, limit = index - 1, ABOVE if far or index not in story.ill else 1
    while at >= begin and index - at <= limit:
        found |= {at} & story.ill
        limit = TRACE if RAISED.match(story.texts[at]) or story.texts[at].startswith(("  ", "Traceback")) else limit
        if at not in story.ill and story.is_good(at):
            break
        at -= 1
    return found | _trace_below(story, index)


def _trace_below(story: Story, index: int) -> set[int]:
    after = range(index + 1, min(index + TRACE, len(story.texts)))
    if after and JAVA.match("\n".join(story.texts[index + 1 : index + 3])):
        return {index + 1} & story.ill
    if not after or not story.texts[index + 1].startswith("Traceback"):
        return set()
    end = next((below for below in after if RAISED.match(story.texts[below])), index)
    return set(range(index + 1, end + 1)) & story.ill


def _up_at_last(story: Story, over: AbstractSet[int]) -> set[int]:
    """Give the complaints about what a later line says is up: a device, a service, a file, a part."""
    good: dict[str, int] = {}
    last_ill: dict[str, int] = {}
    given_up = {found["device"] for text in story.texts if GIVEN_UP.search(text) for found in SUBJECT.finditer(text)}
    about = [list(SUBJECT.finditer(text))[:8] for text in story.texts]
    for index, subjects in enumerate(about):
        for found in subjects:
            if index in story.ill and index not in over:
                last_ill[found[0]] = index
            elif found["device"]:
                if found["device"] not in given_up and UP.search(story.texts[index]):
                    good[found[0]] = index
            elif story.is_good(index):
                good[found[0]] = index
    after = max(story.hard - over, default=-1)
    recovered = set[int]()
    for index in sorted(story.ill - over):
        for found in about[index]:
            name = found[0]
            if good.get(name, -1) > last_ill.get(name, len(about)) and (not found["device"] or good[name] > after):
                recovered |= {index} | _trace_below(story, index)
                recovered |= _belonging(story, index, 0, far=True) if SPEAKS.search(story.texts[index]) else set()
    return recovered


def _built_at_last(story: Story, over: AbstractSet[int]) -> set[int]:
    """Give what a build said that stopped, where a later one made all there was to do."""
    stopped = [index for index, text in enumerate(story.texts) if STOPPED.match(text)]
    if not stopped:
        return set()
    if max(story.steps, default=-1) < stopped[-1]:
        return set()
    if max(story.totals, default=-1) < stopped[-1] or max(story.hard - over, default=0) > stopped[-1]:
        return set()
    return set(range(stopped[-1] + 1)) & story.ill


def _put_right(story: Story, over: AbstractSet[int]) -> set[int]:
    """Give what commands said that were run again later, or mended, and then had nothing to complain of."""
    recovered = set[int]()
    bad = {
        part.begin: any(index in story.hard and index not in over for index in range(part.begin, part.end))
        for part in story.commands
    }
    later: dict[str, list[TypedCommand]] = {}
    for part in reversed(story.commands):
        same = later.setdefault("git" if "git " in part.text else part.words[0] if part.words else "", [])
        if bad[part.begin]:
            last = next((other for other in same if other.repeats(part) or _continues(other, part)), None)
            if last and not bad[last.begin]:
                recovered |= set(range(part.begin, part.end))
        if part.words and len(same) < ABOVE:
            same.append(part)
    return recovered | _listed(story, over)


def _continues(part: TypedCommand, other: TypedCommand) -> bool:
    found = CONTINUED.match(other.text)
    return bool(found and re.search(rf"\bgit {found['what']} |\bgit commit\b", part.text))


def _listed(story: Story, over: AbstractSet[int]) -> set[int]:
    """Give the complaints about access to the GPU where the last command lists it, and not as another user."""
    last = story.commands[-1]
    ill = story.ill - over
    if not last.text or ROOT.search(last.text) or any(index >= last.begin for index in ill):
        return set()
    if not any(LISTS_GPU.match(story.texts[index]) for index in range(last.begin, last.end)):
        return set()
    return {index for index in ill if NO_DEVICE.search(story.texts[index])}


def _served(story: Story, over: AbstractSet[int]) -> set[int]:
    """Give what a server said of a request that it refused, where it answered others of that kind afterwards."""
    refused = [index for index, text in enumerate(story.texts) if REFUSED.search(text)]
    answered = [index for index, text in enumerate(story.texts) if ANSWERED.search(text)]
    after = max(story.hard - over, default=-1)
    if not refused or len([index for index in answered if index > max(after, refused[-1])]) < ANSWERS:
        return set()
    return {index for index in story.ill if index > refused[0] - TRACE}
