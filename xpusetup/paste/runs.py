"""Runs of the same program held against each other, and files that stand elsewhere than they are looked for. Pure.

Where one run works and another does not, what the first has more is the cause, whatever else may be said of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from xpusetup.machine.facts import Shown
from xpusetup.paste import lines
from xpusetup.paste.commands import image_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


WORKS = re.compile(
    r"level_zero:gpu|^\(?True\b|\bTrue\)?$|device='xpu:\d'|\bxpu available\W+True"
    r"|Device #\d+: .*\b(?:Arc|Iris|Graphics)\b|^[1-9]\d?$|\bHL-(?:2|3)\d\d\b|^\|\s*\d\s+910"
    r"|Intel\(R\) (?:Arc|Data Center GPU|Iris)"
)
BREAKS = re.compile(
    r"^\(?False\b|\bFalse\)?$|platforms\s+0\b|^0$|Driver not loaded|[Nn]o devices?\b|not found"
    r"|[Pp]ermission denied|not permitted|ZE_RESULT_ERROR|UR_RESULT_ERROR|Aborted|Segmentation fault|count is zero"
    r"|[Nn]o (?:XPU|GPU)|[Ff]ailed to|^\w*Error: "
)
BLIND = re.compile(r"^\[opencl:(?:cpu|acc|fpga)")
STARTS = re.compile(r"\b(?:docker|podman|nerdctl|apptainer|singularity)(?: \S+)?? (?:run|exec)\b")
UNSETS = re.compile(r"env (?:-u [A-Z_]+ )+")
HIDES = ("ONEAPI_DEVICE_SELECTOR", "ZE_AFFINITY_MASK", "SYCL_DEVICE_FILTER", "SYCL_DEVICE_ALLOWLIST")
"""Variables that leave devices out."""
MOST = 40
"""As many runs are compared."""


@dataclass(frozen=True)
class Run:
    """A command that was typed, whether what it showed says that the GPU works, and what had been unset before it."""

    command: str
    works: bool
    unset: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The program that is run: containers are compared whatever runs in them."""
        if STARTS.search(self.command):
            return "container"
        words = [each for each in self.command.split() if "=" not in each and each != "sudo"]
        return " ".join(words)


@dataclass(frozen=True)
class Difference:
    """What a run may have more than another, the check that this tells of, and what it means and asks for."""

    tells: str
    form: str
    means: str
    mend: str
    only_container: bool = True


WITH: tuple[Difference, ...] = (
    Difference(
        "hpu.container_runtime",
        r"--runtime[= ]habana",
        "Without Habana's runtime no Gaudi device is passed into the container: with it the same post shows the cards.",
        "Start it as the run that works: docker run <found> -e HABANA_VISIBLE_DEVICES=all ...; or make that Docker's"
        ' usual runtime ("default-runtime" in /etc/docker/daemon.json).',
    ),
    Difference("container.no_device", r"--device[= ]\S*(?:/dev/dri|gpu)\S*", "", ""),
    Difference("wsl.dxg", r"(?:--device[= ]|-v )\S*/dev/dxg\S*|-v /usr/lib/wsl\S*", "", ""),
    Difference("perm.container_gid", r"--group-add[= ]\S+|--userns[= ]keep-id\S*|--user[= ](?:0|root)\b", "", ""),
    Difference(
        "perm.policy",
        r"--privileged\b|--security-opt[= ]\S+|--cap-add[= ]\S+",
        "With <found> the same container works: device, groups and driver are well, and a policy (SELinux, AppArmor,"
        " the container's list of devices) keeps it from them.",
        "Start it with <found>; narrower: --device /dev/dri and, for SELinux,"
        " setsebool -P container_use_dri_devices on.",
    ),
    Difference(
        "perm.policy",
        r"--(?:gres|gpus(?:-per-\w+)?|exclusive)(?:[= ]\S+)?",
        "With <found> the same job works: the queue gives a job only the devices that it asks for, and closes the nodes"
        " of all others, whatever the groups are.",
        "Ask for the GPU in the job: srun <found> ..., or #SBATCH <found>",
        only_container=False,
    ),
    Difference(
        "umd.variable_needed",
        r"\b(?:LD_LIBRARY_PATH|ZE_ENABLE_ALT_DRIVERS|OCL_ICD_FILENAMES|OCL_ICD_VENDORS|LD_PRELOAD|NEOReadDebugKeys"
        r"|OverrideGpuAddressSpace|ZE_FLAT_DEVICE_HIERARCHY|SYCL_UR_USE_LEVEL_ZERO_V2)=\S*",
        "With <found> the same program works: without it the loader takes other libraries, or the driver another way.",
        "Keep it: export <found>; lasting, install the driver where the loader looks for it (xpusetup setup).",
        only_container=False,
    ),
)
"""What the run that works has more."""
WITHOUT: tuple[Difference, ...] = (
    Difference(
        "umd.device_filter_env",
        r"\b(?:ONEAPI_DEVICE_SELECTOR|ZE_AFFINITY_MASK|SYCL_DEVICE_FILTER|SYCL_DEVICE_ALLOWLIST)=\S*",
        "",
        "",
        only_container=False,
    ),
    Difference("setvars.with_wheel", r"\bLD_LIBRARY_PATH=\S*oneapi\S*|setvars\.sh", "", "", only_container=False),
    Difference("perm.container_gid", r"(?:--user|-u)[= ]\d\S*", "", ""),
)
"""What the run that fails has more."""


def runs_of(text: Sequence[str]) -> Iterator[Run]:
    """Give the commands that show whether the GPU works, each with that."""
    command, shown, unset = "", list[str](), ""
    for line in (*text, "$ end"):
        typed = lines.TYPED.match(line) or lines.ROOT.match(line) or lines.BARE.match(line)
        if typed is None:
            shown.append(line.strip())
            continue
        if command and (works := _outcome(shown)) is not None:
            away = UNSETS.match(command)
            gone = f"{unset} {away[0]}" if away else unset
            yield Run(command[away.end() :] if away else command, works, tuple(gone.split()))
        command, shown = typed["command"], []
        unset += f" {command[6:]}" if command.startswith("unset ") else ""


def _outcome(shown: Sequence[str]) -> bool | None:
    """Say whether what a command showed says that the GPU works; None where it says nothing."""
    if any(WORKS.search(each) for each in shown):
        return True
    return False if any(BREAKS.search(each) or BLIND.search(each) for each in shown) else None


def compare_runs(text: Sequence[str]) -> dict[str, Shown]:
    """Give what a run that works has more, or less, than one of the same program that does not, by the check."""
    runs = list(dict.fromkeys(runs_of(text)))[:MOST]
    told: dict[str, Shown] = {}
    for bad, good in product([e for e in runs if not e.works], [e for e in runs if e.works]):
        if bad.program == good.program and (found := _difference(bad, good)):
            told.setdefault(*found)
    return told


def _difference(bad: Run, good: Run) -> tuple[str, Shown] | None:
    for table, more, less, how in ((WITH, good, bad, "works with"), (WITHOUT, bad, good, "works without")):
        for each in table:
            found = re.search(each.form, more.command)
            if found is None or re.search(each.form, less.command):
                continue
            if each.only_container and more.program != "container":
                continue
            words = (each.means.replace("<found>", found[0]), each.mend.replace("<found>", found[0]))
            line = f"the same program {how} {found[0].strip()}: {more.command[:100]}"
            return each.tells, Shown(line=line, means=words[0], mend=words[1], firm=True, same=["hpu.driver"])
    return _unset(bad, good) or _image(bad, good)


def _unset(bad: Run, good: Run) -> tuple[str, Shown] | None:
    """Give the variable that hides devices and that was taken away before the run that works."""
    name = next((each for each in HIDES if each in good.unset and each not in bad.unset), "")
    if not name or name in good.command:
        return None
    return "umd.device_filter_env", Shown(line=f"the same program works after unset {name}: {good.command}", firm=True)


def _image(bad: Run, good: Run) -> tuple[str, Shown] | None:
    """Compare two containers that are started alike from images of one name, of different tags."""
    one, other = image_of(bad.command), image_of(good.command)
    same = one and other and one != other and one.partition(":")[0] == other.partition(":")[0]
    if not same or bad.command.replace(one, "") != good.command.replace(other, ""):
        return None
    return "container.older_than_gpu", Shown(line=f"it works in {other}, and not in {one}", firm=True)


# Files that stand elsewhere.


LOST = re.compile(
    r"(?:^|[\s:'\"])(?P<folder>/(?:[\w.+-]+/)+)(?P<name>[\w.+-]{3,60})['\"\u2019]?:? .{0,12}"
    r"(?:No such file or directory|not found|cannot open shared object)"
    r"|(?:cannot access|cannot open|can't open|no such file:?) ['\"\u2018]?"
    r"(?P<folder2>/(?:[\w.+-]+/)+)(?P<name2>[\w.+-]{3,60})"
)
THERE = re.compile(r"^(?:[l-][rwxsStT-]{9}[.+@]?\s.*\s)?(/(?:[\w.+-]+/)+)([\w.+-]{3,60})(?: -> \S+)?$")
ELSEWHERE = (
    "It is looked for where it is not: the shell remembers an old place, or a script, a wrapper or a mount names"
    " another one."
)


def found_elsewhere(text: Sequence[str]) -> dict[str, Shown]:
    """Give a file that is said not to be there and that the same paste lists in another folder."""
    wanted: dict[str, str] = {}
    for line in text:
        for found in LOST.finditer(line) if "/" in line else ():
            folder, name = found["folder"] or found["folder2"], found["name"] or found["name2"]
            wanted.setdefault(name, folder)
    if not wanted:
        return {}
    for line in text:
        there = THERE.match(line.strip())
        if there and there[2] in wanted and wanted[there[2]] != there[1]:
            here, old = f"{there[1]}{there[2]}", f"{wanted[there[2]]}{there[2]}"
            mend = f"Call {here}; forget the old place with hash -r, or link it: ln -s {here} {old}"
            seen = f"{old} is not there, and {here} is"
            same = ["sys.no_file", "sys.no_command", "import.generic_so"]
            return {"env.elsewhere": Shown(line=seen, means=ELSEWHERE, mend=mend, firm=True, same=same)}
    return {}


# A module that was built for another kernel, and cards that a variable names and that are not there.


BUILT = re.compile(r"^[\w.-]*(?:i915|habana|\bxe\b|drm)[\w.-]*[/,] ?[\w.+:~-]+, (\d[\w.+-]+), \w+: (?:installed|built)")
TAKEN = re.compile(r"Kernel driver in use: (?:i915|xe|habanalabs)")


def built_elsewhere(text: Sequence[str], running: str) -> dict[str, Shown]:
    """Give a module that DKMS has built, and for other kernels than the one that runs."""
    built = [(found[1], line.strip()) for line in text if (found := BUILT.match(line.strip()))]
    if not running or not built or any(TAKEN.search(line) for line in text):
        return {}
    if any(kernel == running or kernel.startswith((f"{running}.", f"{running}-")) for kernel, _ in built):
        return {}
    means = (
        f"The driver that DKMS built is for Linux {built[0][0]}, and Linux {running} runs: an update brought a new"
        " kernel and the module was not built for it (mostly its headers are missing)."
    )
    mend = (
        "sudo apt-get install linux-headers-$(uname -r) && sudo dkms autoinstall (RHEL: kernel-devel-$(uname -r)), then"
        " restart; so that it stays: install the headers' meta package (linux-headers-generic) too. Or boot the kernel"
        " that it was built for."
    )
    same = ["kmd.no_module", "hpu.driver", "dkms.headers"]
    return {"kmd.other_kernel": Shown(line=built[0][1], means=means, mend=mend, firm=True, same=same)}


CHOOSES: tuple[tuple[str, str], ...] = (
    (
        r"HABANA_VISIBLE_(?:MODULES|DEVICES)",
        r"/dev/accel/accel(\d+)|(?<![\w/])accel(\d+)\b|/dev/hl(\d+)\b|^\|\s+(\d+)\s+HL-\d",
    ),
    (r"ASCEND_(?:RT_)?VISIBLE_DEVICES", r"/dev/davinci(\d+)|(?<![\w/])davinci(\d+)\b|^\|\s+(\d+)\s+(?:910|310|Ascend)"),
)
"""Variables that choose cards by number, and what lists a card with its number."""
NONE_SEEN = re.compile(
    r"(?i)\bFalse\b|^0$|acquire failed|no (?:\w+ )?devices?\b|invalid device|device not found"
    r"|10700[12]|50703\d|not available"
)


def hidden_cards(text: Sequence[str]) -> dict[str, Shown]:
    """Give a variable that names by number only cards that are not there, where a program finds none."""
    if not any(NONE_SEEN.search(line) for line in text):
        return {}
    for variable, cards in CHOOSES:
        chosen = [found for line in text if (found := re.search(rf"({variable})[=:] ?[\"']?(\d+(?:,\d+)*)\b", line))]
        there = {int(number) for line in text for each in re.findall(cards, line) for number in each if number}
        names = [found for found in chosen if there and min(map(int, found[2].split(","))) >= len(there)]
        if names and not any(int(each) in there for each in names[0][2].split(",")):
            seen = f"{names[0][1]}={names[0][2]}, and {len(there)} card(s) are there"
            means = (
                f"{names[0][1]} leaves the program cards that are not there: they are numbered from 0, in a container"
                " from 0 again whatever their number on the host is."
            )
            mend = f"unset {names[0][1]}, or name cards from 0 to {len(there) - 1}."
            same = ["hpu.acquire", "ascend.device", "ascend.init", "ascend.code"]
            return {"env.hidden_cards": Shown(line=seen, means=means, mend=mend, firm=True, same=same)}
    return {}
