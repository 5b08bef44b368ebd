"""Whether a log goes on after a line that complains, to an end that tells of no failure.

It asks for more than that nothing is said of a failure later: for lines that do not explain the complaint, from the
program that complained where the log names several, and after an error for one that says what went well.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from xpusetup.explain.ending import DIED, ENDS, ILL, SERVES, USAGE, end_of_message, find_commands, is_verdict
from xpusetup.explain.harmless import TOLERATED
from xpusetup.explain.recovered import tells_good
from xpusetup.explain.window import CALM, HINT, NONE, PROGRAMS, STRONG, WEAK, is_warned

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from xpusetup.explain.evidence import Lines


BELONGS = re.compile(
    r"^(?:\s\s+|\t)\S|^(?:note|hint|help|detail|statement|context|usage|tip|see|try|please|caused by|reason)\b\W"
    r"|^\S+?:\d+(?::\d+)?:? (?:note|warning|remark|required|in |at |from )|^(?:In file included|from /)"
    r"|^#\d+\s|^(?:[╰└├│^~×→]|\|(?!.*\|$)|x )|^(?:at|frame #?\d+|\d+): "
    r"|^Thread \d|^Backtrace|^Stack|^Call |^0x[0-9a-f]{4}"
    r"|^[-*•=~_+#]{3,}$|\?$",
    re.IGNORECASE,
)
"""What explains a line above it, or is part of what it shows: notes, stacks, source, advice."""
HARD = re.compile(
    rf"{PROGRAMS}|^\S+?:\d+(?::\d+)?: (?:fatal )?error: |\bpanicked at\b|\bSIG[A-Z]{{3,4}}\b|core dumped|\bKilled\b"
    r"|Segmentation fault|terminate called|undefined reference|^CMake Error|\*\*\* |No space left on device"
    r"|error while loading shared libraries|\bNo module named\b|\bcannot import name\b"
    r"|\bcould not be (?:compiled|built)\b"
    r"|\bCould not run 'aten::|\bError occurred when executing \w|!!! Exception during processing"
    r"|\b(?:OutOf|out of )memory\b|UR_RESULT|ZE_RESULT|DEVICE_LOST|device lost"
    r"|\bGPU HANG\b|\bXid\b|\bBUG: |\bOops\b"
    r"|\b(?:drm|xe|i915|amdgpu|nvidia|habanalabs|accel)\b.*(?:\*ERROR\*|wedged|reset)",
    re.IGNORECASE,
)
"""What ends a program, or a device, whatever others say afterwards."""
DRIVER = re.compile(
    r"\b(?:drm|xe|i915|amdgpu|amdkfd|nvidia\w*|NVRM|nouveau|habanalabs|davinci|intel_vpu|mei_?\w*|vfio\w*)\b"
    r"|\bBAR \d+\b"
)
"""What the kernel says of these is what people ask about: other devices that work show nothing of it."""
READY = re.compile(
    r"\bready (?:to accept|for|to serve|to receive|to handle|to process) \w*\s?"
    r"(?:connections?|requests?|traffic|queries|clients?)"
    r"|\bready; for start up|\bserver (?:is )?(?:ready|started|is up|startup complete)\b|\bserver startup in\b"
    r"|\bServer listening (?:on|at)\b|\blistening (?:on|at)[: ] ?\S+|\bAPI listen on\b|\bRunning on http|\bServing on\b"
    r"|\brunning as (?:primary|backup) controller\b|\bslurm\w+ version \S+ started\b|\bslurmd started on\b"
    r"|\bwaiting for connections\b|\bhas completed initialization\b|\bsuccessfully booted\b|\bfully up and running\b"
    r"|\bHTTP Server Listen\b|\bApplication startup complete\b|\bstarted in [\d.]+ ?(?:s|ms|seconds|milliseconds)\b"
    r"|\bStarted \w+(?: \w+){0,2} in [\d.]+ seconds|\bis providing services\b|^Startup finished in "
    r"|^Reached target (?:\S+ - )?(?:Multi-User|Graphical)|\bconfiguration complete; ready\b"
    r"|\bstart(?:ed)? worker process"
    r"|\bbecame (?:leader|the leader|active|primary|healthy)\b|\b(?:node|pod|cluster|broker) is (?:ready|active|up)\b"
    r"|\bSuccessfully registered node\b|\bUp \d+ \w+ \(healthy\)|\b(?:Container|Service) \S+ +Healthy\b",
    re.IGNORECASE,
)
"""How servers, daemons and machines say that they are up."""
BOOTED = re.compile(r"^Startup finished in |^Reached target (?:\S+ - )?(?:Multi-User|Graphical)")
GIVES_UP = re.compile(
    r"^(?:Failed to start|Dependency failed for) "
    r"|\b(?:roll(?:ing|ed) back|giving up|gave up|removing what|will not start)\b",
    re.IGNORECASE,
)
"""What says that something did not come up, or is taken back."""
FEW, MANY = 5, 6
"""So many ordinary lines come after soft words, after an error, where the log went on."""
LAST = 4
"""None of so many lines at the end complains even softly."""


@dataclass(frozen=True)
class Course:
    """The lines of a log in their order, of which some are known to be over, and where commands begin in it."""

    log: Lines
    over: AbstractSet[int]

    @cached_property
    def commands(self) -> list[int]:
        """The indexes of the lines in which a person typed a command."""
        numbers = set(find_commands(self.log))
        return [index for index, number in enumerate(self.log.numbers) if number in numbers]

    @cached_property
    def ready(self) -> list[int]:
        """The indexes of the lines by which something is up."""
        return [at for at, text in enumerate(self.log.texts) if READY.search(text.strip())]

    @cached_property
    def last_ready(self) -> dict[str, int]:
        """The last of them of each program."""
        return {self._who(at): at for at in self.ready}

    @cached_property
    def booted(self) -> bool:
        """Whether it is the journal of a machine that is up."""
        return any(self.log.who) and any(BOOTED.search(self.log.texts[at]) for at in self.ready)

    @cached_property
    def last_end(self) -> int:
        """The index of the last line by which something ended that was not up again, -1 where there is none."""
        return max((at for at in self._said(0, None) if self._ends(at)), default=-1)

    def goes_on(self, line: int, *, sure: bool) -> bool:
        """Say whether it goes on after a line; `sure`: that is known to tell of an error."""
        index = bisect_left(self.log.numbers, line)
        if self.log.numbers[index : index + 1] != (line,) or self.last_end >= index:
            return False
        text = self.log.texts[index].strip()
        sure = sure and not TOLERATED.search(text)
        if DRIVER.search(text) or (sure and HARD.search(text)):
            return False
        later = [self.log.texts[at].strip() for at in self._said(index + 1, None)]
        if not self.log.marked <= self.over and not any(is_verdict(said) for said in later):
            return False
        if self.booted and self._who(index):
            return True
        return self._same_goes_on(index, sure=sure) or (not sure and self._others_go_on(index))

    def _ends(self, at: int) -> bool:
        """Say whether something ended there that was not up again later."""
        text = self.log.texts[at].strip()
        if NONE.search(text) or not any(pattern.search(text) for pattern in (WEAK, ILL, DIED, ENDS, GIVES_UP)):
            return False
        return self.last_ready.get(self._who(at), -1) <= at

    def _who(self, at: int) -> str:
        return self.log.who[at] if self.log.who else ""

    def _said(self, begin: int, end: int | None) -> list[int]:
        """Give the lines there that say something, less those that are over."""
        places = range(begin, len(self.log.texts) if end is None else end)
        return [at for at in places if self.log.texts[at].strip("$#> \t") and self.log.numbers[at] not in self.over]

    def _same_goes_on(self, index: int, *, sure: bool) -> bool:
        """Say whether what complained says enough that is ordinary after its last error."""
        end = next((at for at in self.commands if at > index), None)
        said = self._said(index + 1, end)
        if any(USAGE.search(self.log.texts[at].strip()) for at in said):
            return False
        hard = max((at for at in said if is_plain(self.log.texts[at])), default=index)
        hard = max(hard, end_of_message(self.log, index))
        who = self._who(index)
        after = [
            self.log.texts[at].strip()
            for at in said
            if at > hard and (not who or self._who(at) == who) and not BELONGS.search(self.log.texts[at])
        ]
        if any(is_complaint(text) for text in after[-LAST:]):
            return False
        if any(READY.search(text) for text in after):
            return True
        if len(after) < (MANY if sure else FEW):
            return hard == index and any(is_verdict(text) for text in after[-2:])
        return not sure or any(is_good(text) for text in after)

    def _others_go_on(self, index: int) -> bool:
        """Say whether a later command said something, and no command after the line complains."""
        begin = next((at for at in self.commands if at > index), None)
        if begin is None:
            return False
        after = [self.log.texts[at] for at in self._said(index + 1, None) if at not in self.commands]
        last = [self.log.texts[at] for at in self._said(begin + 1, None) if at not in self.commands]
        return bool(last) and not any(is_complaint(text) for text in after)


def is_plain(text: str) -> bool:
    """Say whether a line plainly tells of an error."""
    return bool(STRONG.search(text)) and not NONE.search(text) and not is_warned(text) and not CALM.search(text)


def is_complaint(text: str) -> bool:
    """Say whether a line complains at all."""
    return is_plain(text) or (bool(HINT.search(text)) and not NONE.search(text) and not tells_good(text.strip()))


def is_good(text: str) -> bool:
    """Say whether a line says what went well."""
    return tells_good(text) or bool(SERVES.search(text))
