"""doctor --paste: what people post of a machine, read as facts, with what was recognised and what its errors mean."""

import datetime as dt
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from xpusetup.base.errors import UsageError
from xpusetup.base.model import Finding, Fix
from xpusetup.base.text import shorten
from xpusetup.commands.explain import known_signatures
from xpusetup.config.shipped import versions_beside
from xpusetup.doctor.known import untold_parts
from xpusetup.explain.explanation import Cause
from xpusetup.explain.explanation import explain as explain_chunks
from xpusetup.machine.companions import torch_there
from xpusetup.machine.facts import Facts
from xpusetup.machine.installs import keep_torch_all
from xpusetup.machine.known_bad import KnownBad, concerns
from xpusetup.machine.tables import gpu_table
from xpusetup.machine.works import fails, lists_gpu, torch_works
from xpusetup.paste.advice import Habits, habits_of
from xpusetup.paste.facts import ACCESS, CARDS, DECIDE, MESSAGES, PARTS, SAVE, PasteReport, facts_from_paste
from xpusetup.paste.lines import MOST_TEXT, split_answers
from xpusetup.recommend.machine import INTEL, other_gpus
from xpusetup.run.root import parse_document
from xpusetup.system.logs import CHUNK, STDIN, read_log, read_stdin

AMBIGUOUS = (
    *("ze.uninitialized", "ze.unknown", "ze.no_device", "win.crash", "rt.segfault", "rt.uncaught", "rt.count_zero"),
    *("rt.no_devices", "rt.init_failed", "ocl.no_platform", "ollama.load", "ollama.runner", "vllm.engine", "ray.died"),
    *("ov.no_gpu", "rt.native_api", "rt.ur_code", "rt.ur_error", "rt.ze_code", "xpum.init"),
    *("import.load_failed", "rt.cuda_code"),
)
"""Causes that only say that it fails: the message has many, and it does not tell which."""
DECIDES = {"rt.cuda_code": ("torch.build", "hardware.gpus")}
"""Of these: where one of these parts was told, they say why."""
DENIED = ("env.permission", "rt.node_denied", "ze.permission")
BY_RIGHTS = ("perm.container_gid", "perm.session", "perm.render_group")
"""Causes that are about rights in general, and the checks that say which."""
SAME = {
    "torch.is_xpu_build": ("rt.not_compiled", "rt.cuda_code"),
    "umd.ze_loader": ("import.ze_loader",),
    **dict.fromkeys(("kmd.force_probe", "kmd.bound", "kmd.blacklisted", "container.no_device"), ("kmd.no_node",)),
}
"""Checks, and the causes that say the same where they fail."""
IN_GENERAL = "rt.asked_in_vain"
"""The cause that names all for which torch may find no GPU: a check that fails says which."""
OF_DRIVERS = ("kmd.", "umd.", "dkms.", "perm.", "hpu.", "ascend.")
"""Failures below torch, for which it has no device."""
NOT_INSTALLED = ("pip.no_match", "pip.wrong_platform", "pip.requires_python", "pip.conflict", "pip.network", "pip.hash")
"""Why pip did not install torch."""
OF_PROGRAMS = ("py.arguments",)
"""What is amiss in a program, where torch has a device."""
IN_WINDOWS = {
    "lspci -nnk": "wmic path win32_VideoController get name,driverversion,status",
    "sycl-ls": "sycl-ls --verbose",
    "dpkg -l || rpm -qa || pacman -Q": "dir C:\\Windows\\System32\\ze_loader.dll C:\\Windows\\System32\\OpenCL.dll",
    "env": "set",
    "pip list": "pip list",
    "python -m torch.utils.collect_env": "python -m torch.utils.collect_env",
    "python -c 'import torch; print(torch.xpu.is_available())'": (
        'python -c "import torch; print(torch.__version__, torch.xpu.is_available())"'
    ),
}
"""What to paste from Windows in place of what Linux has; what is not here has no use there."""
PARTS_IN_WSL = {CARDS: "", ACCESS: "ls -l /dev/dxg", MESSAGES: ""}
"""What to paste from WSL2: Windows has the bus and the driver of the kernel."""
UNSURE = ("umd.ze_init", "umd.only_opencl_gpu")
"""Checks that say that it fails and not why."""
JUDGED = ("kmd.force_probe",)
"""Causes of which a line alone is no proof, and whose check of the same name knows better."""
CALLED_ERROR = "*ERROR*"
"""How drivers of GPUs mark a message that the kernel has as an error."""
MOST_ERRORS = 3
AMISS = ("fail", "warn")
OF_WORKING = ("rt.oom", "rt.fp64")
"""Causes that only a program meets that computes on a GPU."""
BARRED = ("kmd.blacklisted", "kmd.bound", "kmd.pvc_needs_backports")
"""Checks that say why a driver of another kind speaks up: the one that is meant for the GPU is kept from it."""


@dataclass(frozen=True)
class Untold:
    """What to paste, and the checks that it would answer; `decides`: it tells the common causes of a failure apart."""

    paste: str
    checks: list[str]
    decides: bool


@dataclass(frozen=True, kw_only=True)
class PasteSummary:
    """From what was judged: how many outputs of which kind, how many lines and how many of no known kind, and some.

    `cut`: there was more than is read; `causes`: what its error lines mean; `symptoms`: lines that say that it fails
    and not why; `kernel`: what the kernel calls an error and nothing else tells of; `unknown`: what to paste to know
    more; `surer`: its errors tell more than the causes that the checks found, as those are symptoms. `ask`: the command
    that prints the post as a question; empty where a cause is sure or torch has a device. `works`: a program computes
    on the GPU, so that nothing has to be installed for it.
    """

    kinds: dict[str, int]
    lines: int
    unread: int
    unread_lines: list[str]
    cut: bool
    causes: list[Cause]
    symptoms: list[str]
    kernel: list[str]
    unknown: list[Untold]
    surer: bool
    ask: str
    works: bool


@dataclass(frozen=True)
class Paste:
    """What was pasted: facts, from what they were read, and what its error lines mean to `explain`."""

    facts: Facts
    report: PasteReport
    causes: tuple[Cause, ...]
    cut: bool
    habits: Habits
    lines: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def concerning(self, table: Iterable[KnownBad]) -> tuple[KnownBad, ...]:
        """Give the combinations that are known not to work and that it may be about."""
        typed = any(kind in ("commands", "python") for kind, _ in self.report.kinds)
        works = torch_works(self.facts) and typed  # a report alone does not tell what the GPU is used for
        return tuple(each for each in table if concerns(each, self.lines, works=works))

    def describe(self, findings: Sequence[Finding], causes: Collection[str] = ()) -> PasteSummary:
        """Give what is told of it, with what is not known and what to paste so that it is."""
        report, lacks = self.report, _shows_others(self.facts)
        wrong = [
            same.id for each in findings if (same := _same(each, self.causes)) not in (None, _reason(each, self.causes))
        ]
        told = [each for each in self.causes if each.id not in wrong and not _refuted(each, findings)]
        told = [each for each in told if not (lacks and each.id == IN_GENERAL)]
        meant = [cause for cause in told if not _is_symptom(cause, self.facts)]
        return PasteSummary(
            kinds=dict(report.kinds),
            lines=report.lines,
            unread=report.unread,
            unread_lines=list(report.examples),
            cut=self.cut,
            causes=meant,
            symptoms=self._symptoms(told, findings),
            kernel=_untold_errors(
                self.facts, [*(each.seen for each in findings), *(each.text for each in self.causes)]
            ),
            unknown=_unknown(self.facts, findings, self.habits),
            surer=any(cause.level == "error" for cause in meant)
            and all(each.id in UNSURE or _says_nothing(each, told) for each in findings if each.id in causes),
            ask="" if torch_works(self.facts) or lacks or _is_sure(causes, meant) else self._question(),
            works=torch_works(self.facts) or any(cause.id in OF_WORKING for cause in told),
        )

    def _question(self) -> str:
        """Return the command that prints the post as a question to somebody."""
        files = [word for name in self.names for word in ("--paste", name)]
        return shlex.join(["xpusetup", "doctor", *files, "--prompt"])

    def _symptoms(self, told: Sequence[Cause], findings: Iterable[Finding]) -> list[str]:
        """Give the lines that say that it fails and not why; none where a check says why, or a named program fails."""
        symptoms = [_is_symptom(cause, self.facts) for cause in told]
        why = [cause.text.strip() for cause, is_one in zip(told, symptoms, strict=True) if not is_one]
        if _shows_others(self.facts) or any(each.level in ("fail", "crash") for each in findings):
            return []
        asked = self.facts.torch is not None and self.facts.torch.report is not None
        blind = fails(self.facts) and (asked or not lists_gpu(self.facts))
        said = self.facts.refused or ("it finds no device" if blind else "")
        lines = [cause.text.strip() for cause, is_one in zip(told, symptoms, strict=True) if is_one]
        shown = any(line.startswith(said.strip()) for line in (*lines, *why))  # the facts keep less of a long line
        if said and not shown and not (lines and blind):
            lines.append(said)
        return list(dict.fromkeys(map(shorten, lines)))[:3]

    def explain(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Say of a torch that does not import, or has no device, what its error means."""
        told = [each for each in self.causes if not _is_symptom(each, self.facts)]
        reasons = [(each, _reason(each, told)) for each in findings]
        found = tuple(replace(each, why=_sentence(why.cause), fix=_fix(why)) if why else each for each, why in reasons)
        return tuple(replace(each, fix=self.habits.fix(each.fix)) for each in found)


def _shows_others(facts: Facts) -> bool:
    """Say whether the GPUs that were posted are of other makers alone."""
    listed = facts.hardware.gpus if facts.hardware else []
    return bool(other_gpus(facts)) and all(gpu.vendor != INTEL for gpu in listed)


def _is_sure(found: Collection[str], errors: Iterable[Cause]) -> bool:
    """Say whether a check saw a cause, or an error line has only one meaning."""
    seen = any(name not in (*UNSURE, "torch.available") for name in found)
    return seen or any(each.level == "error" and not each.likely for each in errors)


def _untold_errors(facts: Facts, told: Iterable[str]) -> list[str]:
    """Give the kernel's lines on GPUs that it calls errors, less those that a check or a cause shows."""
    kernel, shown = facts.kernel, "\n".join(told)
    lines = [line for line in (kernel.messages or []) if CALLED_ERROR in line] if kernel else []
    return [shorten(line) for line in dict.fromkeys(lines) if line not in shown][-MOST_ERRORS:]


def _says_nothing(finding: Finding, causes: Sequence[Cause]) -> bool:
    """Say whether it is told that torch has no device, and no error in its place says why."""
    return finding.id == "torch.available" and _reason(finding, causes) is None


def _same(finding: Finding, causes: Iterable[Cause]) -> Cause | None:
    """Give what the catalogue of failures says of the line with which the import of torch ended."""
    if finding.id != "torch.import" or finding.level != "fail":
        return None
    seen = finding.seen.strip().replace("`", "")[:100]
    there = tuple(causes)
    same = next((each for each in there if seen in each.text.replace("`", "")), None)
    return same or next((each for each in there if each.id in _named_in(finding.seen)), None)


def _named_in(line: str) -> tuple[str, ...]:
    """Give what the catalogue of failures knows of one line: a title often says it a first time."""
    found = explain_chunks(iter([line.encode()]), known_signatures(), failed=True)
    return tuple(each.id for each in found.describe(families=()).causes)


def _reason(finding: Finding, causes: Sequence[Cause]) -> Cause | None:
    """Give why torch does not import, or has no device: why pip did not install it, or what its error means."""
    if finding.id == "torch.available" and finding.level == "fail":
        return next((each for each in causes if not each.likely or each.id.startswith(OF_DRIVERS)), None)
    if finding.id == "torch.import" and finding.level == "fail" and "No module named 'torch'" in finding.seen:
        return next((each for each in causes if each.id in NOT_INSTALLED), None)
    return _same(finding, causes)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def _fix(cause: Cause) -> Fix:
    return Fix(say=cause.fix, commands=(("any", tuple(cause.commands)),))


def read_paste(names: Sequence[str]) -> Paste:
    """Read what was pasted into files, `-` for stdin. Raises UsageError for what cannot be read, and for nothing."""
    from xpusetup.machine.probe import TOLD  # noqa: PLC0415 - the names alone; nothing is probed

    data = [_read(name) for name in names]
    texts = [split_answers(each.decode("utf-8", errors="replace")) for each in data]
    for name, text in zip(names, texts, strict=True):
        if name != STDIN and "taken" in parse_document(text):
            line = shlex.join(("xpusetup", "doctor", "--facts", name))
            raise UsageError(f"{name} holds what doctor --save wrote, and no post", command=line)
    taken = dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")
    facts, report = facts_from_paste(texts, taken, gpu_table(), TOLD)
    causes = _causes(texts, facts)
    if not report.kinds and not causes:
        fix = "paste what tools say: sycl-ls, lspci -nnk, dmesg, python -m torch.utils.collect_env"
        raise UsageError(f"nothing in {', '.join(names)} is recognised", fix=fix)
    contained = facts.container is not None and facts.container.kind not in ("", "wsl2")
    lines = tuple(line for text in texts for line in text.splitlines())
    cut = any(len(each) >= MOST_TEXT for each in data)
    return Paste(facts, report, causes, cut, habits_of(texts, contained=contained), lines, tuple(names))


def _is_symptom(cause: Cause, facts: Facts) -> bool:
    """Say whether a cause says no more than that it fails."""
    if cause.id in OF_PROGRAMS:
        return torch_works(facts)
    if cause.id == IN_GENERAL:
        return cause.likely and cause.decided is None
    return cause.id in AMBIGUOUS and not any(map(facts.is_told, DECIDES.get(cause.id, ())))


def _refuted(cause: Cause, findings: Sequence[Finding]) -> bool:
    """Say whether a check knows better: of the same line it finds nothing amiss, or it has told the same and more."""
    amiss = {each.id for each in findings if each.level in AMISS}
    if cause.id in DENIED and amiss & set(BY_RIGHTS):
        return True
    if cause.id in JUDGED and amiss & set(BARRED):
        return True
    failing = {each.id for each in findings if each.level == "fail"} - {*UNSURE, "torch.available"}
    if any(cause.id in SAME.get(name, ()) for name in failing) or (failing and cause.id == IN_GENERAL):
        return True
    return cause.id in JUDGED and any(each.id == cause.id and each.level != "skip" for each in findings)


def _read(name: str) -> bytes:
    chunks = read_stdin() if name == STDIN else read_log(Path(name), "name a file with what was posted, or - for stdin")
    return b"".join(islice(chunks, MOST_TEXT // CHUNK))[:MOST_TEXT]


def _causes(texts: Iterable[str], facts: Facts) -> tuple[Cause, ...]:
    """Give what the catalogue of failures says of the error lines among what was pasted."""
    families = tuple(facts.system.families) if facts.system else ()
    found = explain_chunks(iter(["\n".join(texts).encode()]), known_signatures(), failed=True)
    causes = (each for each in found.describe(families=families).causes if not each.caused_by)
    torch = torch_there(facts.torch, versions_beside(facts.torch.version or "") if facts.torch else {})
    return tuple(replace(each, commands=keep_torch_all(each.commands, torch)) for each in causes)


def _unknown(facts: Facts, findings: Iterable[Finding], habits: Habits) -> list[Untold]:
    """Give what to paste, with the checks that it would answer: what decides first, then what answers most."""
    wanted: dict[str, list[str]] = {}
    windows = facts.system is not None and "windows" in facts.system.families
    there = IN_WINDOWS if windows else PARTS_IN_WSL if facts.in_wsl else {}
    for finding in findings:
        if finding.level == "unknown":
            for part in untold_parts(finding.id, facts):
                ask = there.get(PARTS[part], "" if windows else PARTS[part])
                wanted.setdefault(ask, []).append(finding.id)
    wanted.pop("", None)
    first = [there.get(each, "" if windows else each) for each in DECIDE]
    place = {each: number for number, each in enumerate(first)}
    rows = sorted(wanted.items(), key=lambda row: (place.get(row[0], len(first)), row[0] == SAVE, -len(row[1])))
    return [Untold(habits.command(paste), list(dict.fromkeys(checks)), paste in place) for paste, checks in rows]
