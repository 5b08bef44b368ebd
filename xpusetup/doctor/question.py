"""What a check is asked and may answer, its texts, and what several checks ask of the facts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated

from xpusetup.base.command import Advice, Command
from xpusetup.base.model import Fix, Goal, Level
from xpusetup.base.values import Confidence, Limits, Strict
from xpusetup.config.load import parse_data
from xpusetup.machine.companions import TorchThere, torch_there
from xpusetup.machine.facts import SEEN_ELSEWHERE, Facts, Gpu, LinuxKernel, Node, Section
from xpusetup.machine.gpus import MAKERS, Family, GpuTable, find_device
from xpusetup.machine.works import is_gpu_line, lists_gpu
from xpusetup.system.files import package_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from xpusetup.config.devices import Device
    from xpusetup.config.profile import Profile
    from xpusetup.machine.known_bad import KnownBad


# The catalogue of checks as values: what each means, how to mend it, where that is known from.


@dataclass(frozen=True, kw_only=True)
class CheckText(Strict):
    """What stands behind a check: why it matters, how to mend it by distribution family, and the source."""

    id: Annotated[str, Limits(pattern=r"^[a-z]+\.[a-z_0-9]+$")]
    area: str
    title: str
    why: str
    say: str = ""
    commands: dict[str, list[str]] = field(default_factory=dict)
    source: str
    confidence: Confidence
    follows: list[str] = field(default_factory=list)

    def reason(self, words: dict[str, str]) -> str:
        """Give why it matters, with the words of this machine and profile filled in."""
        return _fill(self.why, words)

    def fix(self, words: dict[str, str]) -> Fix:
        """Give the fix with the words of this machine and profile filled in."""
        rows = sorted(self.commands.items())
        filled = tuple((family, tuple(Command(_fill(line, words)) for line in lines)) for family, lines in rows)
        return Fix(say=Advice.read(_fill(self.say, words)), commands=filled)


def _fill(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(f"<{name}>", value)
    return text


@dataclass(frozen=True, kw_only=True)
class _CheckFile(Strict):
    check: list[CheckText]


def parse_check_texts(text: str) -> dict[str, CheckText]:
    return {check.id: check for check in parse_data(text, _CheckFile, "checks.toml").check}


# What several checks ask of the facts: GPUs with what is known of them, nodes, versions, variables.


INTEL = "8086"
DRIVERS = ("i915", "xe")
BINDS = (*DRIVERS, SEEN_ELSEWHERE)
"""What `driver` of a GPU may be where a driver of Intel's has it, known by name or not."""


def is_xpu(question: Question) -> bool:
    return INTEL in question.device.pci_vendors


def gpus(question: Question) -> list[Gpu]:
    """Give the devices of the accelerator's makers."""
    hardware = question.facts.hardware
    vendors = question.device.pci_vendors
    return [gpu for gpu in hardware.gpus if gpu.vendor in vendors and not _is_npu(question, gpu)] if hardware else []


PROCESSING = "12"
"""The PCI class of processing accelerators: Gaudi and Ascend, and the NPU in Intel's processors, which is no GPU."""


def _is_npu(question: Question, gpu: Gpu) -> bool:
    """Say whether something of Intel's is no display device, and no GPU that the table has."""
    return gpu.vendor == INTEL and gpu.pci_class.startswith(PROCESSING) and family(question, gpu) is None


def nodes(question: Question) -> list[Node]:
    """Give the render nodes that may be the accelerator's."""
    hardware = question.facts.hardware
    vendors = (*question.device.pci_vendors, None)
    return [node for node in hardware.nodes if node.vendor in vendors] if hardware else []


def unbound(question: Question) -> list[Gpu]:
    """Give the Intel GPUs that no driver of theirs has taken."""
    return [gpu for gpu in intel_gpus(question) if gpu.driver not in BINDS]


def intel_gpus(question: Question) -> list[Gpu]:
    return [gpu for gpu in gpus(question) if gpu.vendor == INTEL] if is_xpu(question) else []


def kernel_of(question: Question) -> LinuxKernel | None:
    """Give the running kernel, where it is the one that drives Intel GPUs."""
    return question.facts.kernel if intel_gpus(question) and not question.facts.in_wsl else None


def family(question: Question, gpu: Gpu) -> Family | None:
    product = question.gpus.find(gpu.vendor, gpu.device) if question.gpus else None
    return product.family if product else None


def of_family(question: Question, *names: str) -> list[Gpu]:
    """Give the Intel GPUs whose family's id begins with one of the names."""
    kinds = ((gpu, family(question, gpu)) for gpu in intel_gpus(question))
    return [gpu for gpu, kind in kinds if kind is not None and kind.id.startswith(names)]


def name(question: Question, gpu: Gpu) -> str:
    """Give a GPU as people know it, or by its id."""
    product = question.gpus.find(gpu.vendor, gpu.device) if question.gpus else None
    if product:
        return product.title()
    if not gpu.device:
        return gpu.name.removeprefix("Intel Corporation ") or f"{MAKERS.get(gpu.vendor, 'Intel')} GPU"
    return (
        f"{MAKERS[gpu.vendor]} GPU {gpu.vendor}:{gpu.device}" if gpu.vendor in MAKERS else f"{gpu.vendor}:{gpu.device}"
    )


def named(question: Question, those: Iterable[Gpu]) -> str:
    """Name GPUs with their places on the bus; a post may not tell one."""
    return ", ".join(f"{name(question, gpu)}{f' at {gpu.address}' if ':' in gpu.address else ''}" for gpu in those)


def is_discrete(question: Question, gpu: Gpu) -> bool:
    """Say whether a GPU is a card of its own; one that is not known is judged by its place."""
    kind = family(question, gpu)
    return kind.discrete if kind is not None else not gpu.address.endswith(":00:02.0")


EPOCH = re.compile(r"^\d+:")
"""What packages of Debian, Arch and RPM put before a version; it counts for nothing here."""


def numbers(text: str, least: int = 2) -> tuple[int, ...]:
    """Give a version's first numbers, as many as compare: 6.14.0-33-generic is (6, 14), 1:2.32.7-1 is (2, 32)."""
    return tuple(int(each) for each in re.findall(r"\d+", EPOCH.sub("", text))[:least])


def variable(question: Question, name: str) -> str:
    """Give a variable of the shell; empty when it is not set."""
    return (question.facts.environment or {}).get(name, "")


def distribution(question: Question, name: str) -> str:
    """Give the version of a distribution in the environment; empty when it is not there."""
    torch = question.facts.torch
    return torch.distributions.get(name, "") if torch else ""


def kept_torch(question: Question) -> TorchThere | None:
    """Give the torch that advice has to leave as it is; of its own release the profile knows what belongs to it."""
    torch = question.facts.torch
    parts = {part.distribution: part.version for part in question.profile.components if part.kind != "skip"}
    same = torch is not None and parts.get("torch", "").partition("+")[0] == (torch.version or "").partition("+")[0]
    return torch_there(torch, parts if same else {})


def package(question: Question, *names: str) -> str:
    """Give the version of the first of these packages that is installed; empty without one."""
    userland = question.facts.userland
    packages = (userland.packages or {}) if userland else {}
    return next((packages[each] for each in names if each in packages), "")


def messages(question: Question, pattern: str) -> list[str]:
    kernel = question.facts.kernel
    return [line for line in (kernel.messages or []) if re.search(pattern, line)] if kernel else []


def _find_unlisted(question: Question) -> list[Gpu]:
    """Give the cards on the bus that Level Zero passes over while it lists another GPU.

    Names that say no product may stand for any of them; a variable that chooses among devices tells nothing.
    """
    table = question.gpus
    chosen = any(variable(question, name) for name in ("ONEAPI_DEVICE_SELECTOR", "ZE_AFFINITY_MASK"))
    names = listed_names(question)
    if table is None or chosen or not names:
        return []
    found = [table.find(INTEL, find_device(each, table)) for each in names]
    left = [gpu for gpu in intel_gpus(question) if ":" in gpu.address and is_discrete(question, gpu)]
    left = [gpu for gpu in left if gpu.driver != "vfio-pci"]
    for product in filter(None, found):
        same = (gpu for gpu in left if (kind := family(question, gpu)) is None or kind.name == product.family.name)
        if (taken := next(same, None)) is not None:
            left.remove(taken)
    return left if len(left) > found.count(None) else []


def listed_names(question: Question) -> list[str]:
    """Give the names of the GPUs that Level Zero lists; where it was not asked, those of OpenCL."""
    userland = question.facts.userland
    if userland is None:
        return []
    if lists_gpu(question.facts):
        ladder = userland.level_zero
        return [each.name for each in ladder.devices if each.kind in ("gpu", "")] if ladder else []
    if userland.level_zero is not None or userland.sycl:
        return []
    devices = [line for line in userland.clinfo or [] if "Intel" in line.partition(": ")[2]]
    return [line.partition(": ")[2] for line in devices if is_gpu_line(line)]


def lists_all(question: Question) -> bool:
    """Say whether Level Zero lists a GPU, and passes over no card that is on the bus."""
    return lists_gpu(question.facts) and not question.unlisted


# What a check is asked, and what it may answer.


@dataclass(frozen=True)
class Question:
    """A machine, what is to be built or run on it, for which accelerator; and the tables of GPUs and combinations."""

    facts: Facts
    profile: Profile
    device: Device
    goal: Goal
    gpus: GpuTable | None = None
    bad: tuple[KnownBad, ...] = ()

    @cached_property
    def unlisted(self) -> list[Gpu]:
        """The cards on the bus that Level Zero passes over while it lists another GPU; nearly every check asks."""
        return _find_unlisted(self)


@dataclass(frozen=True)
class CheckAnswer:
    """What a check saw. `words` fill the gaps in the check's text."""

    level: Level
    seen: str
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """One check: its id in the catalogue, and the function that answers (None: it does not apply here).

    `reads` are the sections of the facts that the function looks at: what is not read by any check that is asked need
    not be probed. `goals` are those for which it is asked.
    """

    id: str
    ask: Callable[[Question], CheckAnswer | None]
    reads: tuple[Section, ...] = ()
    goals: tuple[Goal, ...] = ("build", "run")


@cache
def check_texts() -> dict[str, CheckText]:
    return parse_check_texts(package_text("data/checks.toml"))
