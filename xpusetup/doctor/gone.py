"""Files that packages list and that are not there: what is left when one of two that share a folder is removed."""

import re
import shlex

from xpusetup.doctor.question import CheckAnswer, Question
from xpusetup.machine.companions import INDEX, TRITONS
from xpusetup.machine.environments import InstalledTorch, LibraryConflict


def check_gone(question: Question) -> CheckAnswer | None:
    """Look for files of torch, its Triton and the run time that are listed and not there."""
    torch = question.facts.torch
    if torch is None or torch.conflicts is None:
        return None
    found = sorted((one for one in torch.conflicts if one.kind == "gone"), key=lambda one: one.level != "fail")
    if not found:
        return CheckAnswer("ok", "all that they list is there")
    seen = "\n".join(map(_told, found))
    return CheckAnswer(
        found[0].level, seen, {"commands": "\n".join(line for one in found for line in _mend(one, torch))}
    )


def _told(one: LibraryConflict) -> str:
    more = f" and {one.count - 1} more" if one.count > 1 else ""
    name = one.names[0] if one.names else "a file"
    return f"{one.owners.get('library', '')} lists {name}{more}, and that is not there"


def _mend(one: LibraryConflict, torch: InstalledTorch) -> tuple[str, str]:
    """Remove the package and all that share its folder, then install the one that is wanted.

    What torch pins is wanted where a Triton of another name is broken. torch's own wheel and Triton for XPU are on
    PyTorch's index.
    """
    name, _, version = one.owners.get("library", "").partition(" ")
    pins = dict(pin.split("==", 1) for pin in torch.requires if pin.count("==") == 1)
    wanted = next((each for each in TRITONS if each in pins), name) if name in TRITONS else name
    version = pins.get(wanted, version)
    local = (torch.version or "").partition("+")[2]
    listed = "+" in version or (wanted in TRITONS and "xpu" in wanted)
    index = f" --index-url {INDEX}/{local}" if listed and re.fullmatch(r"cpu|xpu|cu\d+|rocm[\d.]+", local) else ""
    both = [each for each in TRITONS if each in ("triton", name, wanted, *torch.distributions)]
    names = " ".join(both if name in TRITONS else [name])
    return (
        f"{torch.python} -m pip uninstall --yes {names}",
        f"{torch.python} -m pip install --no-deps {shlex.quote(f'{wanted}=={version}')}{index}",
    )
