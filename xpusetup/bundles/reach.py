"""What a step's log tells of attempts to reach out where the network is taken away."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.bundles.downloads import Download

COUNTED = re.compile(r"note: it asked for the network (?:once|(\d+) times)\b")
"""How effects/without_network.py ends the log of a step that did; the kernel counts, so silence hides nothing."""
ASKED = re.compile(r"note: git asked for (.+) \((\d+)\), and this step has no network")
"""How helpers/step.sh ends it, also where a network was there and answered."""
REFUSED = re.compile(
    r"Temporary failure in name resolution|Name or service not known|Could not resolve host|Network is unreachable"
    r"|nodename nor servname|unable to resolve host address|Failed to establish a new connection"
    r"|NameResolutionError|transport '\w+' not allowed|failed to lookup address information|Couldn.t resolve host",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"(?:https?|ftp|git|ssh)://[^\s'\"<>),;]+|host='[^']+'", re.IGNORECASE)
NEAR = 6
"""So many lines before a refusal an address may stand."""


@dataclass(frozen=True)
class Attempt:
    """A step that asked for the network: how often, and the addresses that its log names.

    It is counted by the kernel where the network is taken away, else by git alone; 0 where the log tells it otherwise.
    """

    step: str
    times: int
    addresses: tuple[str, ...]

    def document(self, may: Sequence[Download]) -> dict[str, object]:
        """Give it as JSON values; `may` are the downloads that its source names, of which those that fit are given."""
        hosts = {_host(address) for address in self.addresses}
        fitting = [item for item in may if _host(item.what) in hosts]
        told = [item.model_dump() for item in fitting or may]
        return {"step": self.step, "times": self.times, "addresses": list(self.addresses), "may_download": told}


def find_attempt(step: str, lines: Iterable[str], *, heard: bool = True) -> Attempt | None:
    """Read a log by lines; None where nothing asked for the network. `heard`: what it says of refusals counts too."""
    times, refused = 0, False
    asked: dict[str, int] = {}
    told: dict[str, None] = {}
    near: deque[str] = deque(maxlen=NEAR + 1)
    for line in lines:
        near.append(line)
        if found := COUNTED.match(line):
            times += int(found[1] or 1)
        elif found := ASKED.match(line):
            asked[found[1]] = int(found[2])
        elif heard and REFUSED.search(line):
            refused = True
            told |= dict.fromkeys(_clean(each[0]) for text in near for each in ADDRESS.finditer(text))
    if not times and not asked and not refused:
        return None
    return Attempt(step, times or sum(asked.values()), tuple(dict.fromkeys([*asked, *told])))


def _host(address: str) -> str:
    return re.sub(r"^\w+://", "", address).partition("/")[0].partition(":")[0]


def _clean(address: str) -> str:
    return address.removeprefix("host='").rstrip("'.,:/")
