"""Where each part of what was pasted comes from: a machine, a container on it, a virtual machine, another one. Pure.

Prompts, headings ("inside the container:") and commands (docker exec) tell. What is told of each place is kept apart;
in the end one of them is judged, and of the others only what it shares: a container has the kernel and the GPUs of
its host, a virtual machine has neither.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from xpusetup.paste.lines import CONTAINER, TOOLS, Pasted

Place = Literal["", "host", "container", "guest", "other"]
"""Not told, the machine around a container or guest, a container, a virtual machine, a machine that works."""
LONGEST = 90
"""A heading has as many characters at most."""
OPENING = (
    r"^[\W\d]{0,8}(?:(?:and|now|but|then|output|results?|same|here|this|it|is|what|i|get|see|from|the|of|logs?|info|run"
    r"|running|details|shows?|environment|commands?|sycl-ls|clinfo|ls|lspci|dpkg|id|meanwhile|however|while)\W+){0,5}"
)
WHERE = r"(?:(?:on|in|inside|within|from|of|at|for)\W+)?(?:(?:of|the|my|a|an|this|that)\W+){0,2}"
MACHINE = r"(?:\w+ )?(?:machine|pc|box|laptop|server|system|setup|host)"
NAMES: tuple[tuple[Place, str], ...] = (
    ("", rf"(?:broken|failing|affected|faulty|problem(?:atic)?|bad) {MACHINE}"),
    ("other", rf"(?:working|other|second|good|healthy|different) {MACHINE}"),
    ("host", r"(?:\w+ )?host(?: (?:machine|system|os|side|info|os info))?|bare[- ]?metal|hypervisor|pve host"),
    ("host", r"outside(?: of)?(?: the)? (?:container|docker)"),
    ("container", r"(?:\w+ )?(?:container|docker|podman|pod|lxc|ct|image)(?: container)?|inside(?=\W*$)"),
    ("guest", r"(?:\w+ )?(?:vm|guest|virtual machine)"),
)
HEADINGS = tuple(
    (place, re.compile(rf"(?i){OPENING}{WHERE}(?:{names})\b(?P<rest>[^.;!?]{{0,40}})$")) for place, names in NAMES
)
IN_SHORT = re.compile(r"(?i)^[\W\d]{0,8}(?:on|in|inside|within|from|outside)\b|:\W*$|^#{1,5} ")
"""How a heading begins or ends; anything else is a sentence."""
INTO = re.compile(
    r"^(?:sudo )?(?:(?:docker|podman|nerdctl)(?: compose|-compose)? (?:exec|run)|kubectl exec|pct (?:exec|enter)"
    r"|lxc(?:-attach| exec| shell)|distrobox enter|toolbox (?:run|enter))\b(?P<rest>.*)$"
)
SHELLS = re.compile(r"(?:^|[\s/])(?:ba|z|da)?sh$|^ *\d{3,4}$")
OUTSIDE = re.compile(r"^(?:sudo )?(?:docker|podman|nerdctl|kubectl) (?:exec|run|logs|ps|inspect|compose)\b")
"""Commands that nobody types inside of a container."""
HOSTS = re.compile(r"(?i)^(?:pve\d*|proxmox\w*|unraid|tower|truenas|nas)$")


@dataclass
class HeardPlaces:
    """What of one place is only judged in the end: to whom programs listed what, and who typed.

    `weight`: how sure the version of torch is.
    """

    shown_to: dict[bool, list[str]] = field(default_factory=lambda: {False: [], True: []})
    sycl_of_root: list[str] = field(default_factory=list)
    no_platform: set[bool] = field(default_factory=set)
    users: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    root_sees: bool = False
    bus: int = 0
    said: int = 0
    weight: int = 0


def heading(line: str) -> Place | None:
    """Say of which place a heading speaks; None for another line."""
    text = line.strip()
    if len(text) > LONGEST or not IN_SHORT.search(text) or re.match(r"[-\w.]+@|[/~]", text):
        return None
    return next((place for place, form in HEADINGS if form.match(text)), None)


def inner_command(command: str) -> str | None:
    """Give what a command runs inside of a container: empty for a shell; None for a command of this place."""
    found = INTO.match(command)
    if found is None:
        return None
    words = found["rest"].split()
    start = next((place for place, word in enumerate(words) if word.rpartition("/")[2] in TOOLS), None)
    if start is not None:
        return " ".join(words[start:])
    last = found["rest"].strip()
    return "" if SHELLS.search(last) or re.search(r"\b(?:enter|shell)\b", command) else None


class PlaceReader:
    """Keeps apart what each place tells; `got` and `heard` are those of the place that is read of now."""

    def __init__(self) -> None:
        self.spots: dict[Place, tuple[Pasted, HeardPlaces]] = {"": (Pasted(), HeardPlaces())}
        self.place: Place = ""
        self.got, self.heard = self.spots[""]
        self.prompts, self.plain = set[str](), set[str]()
        self.visited: Place | None = None
        self.entering = False

    def go(self, place: Place) -> None:
        """Read from here on of another place; the machine around a container is the one that was read of first."""
        known = "" if place == "host" and self.place in ("", "host") and "container" not in self.spots else place
        self.place = known
        self.got, self.heard = self.spots.setdefault(known, (Pasted(), HeardPlaces()))

    def follow(self, host: str, command: str) -> str:
        """Follow who typed a command to where it runs, and give the command as it runs there."""
        if self.visited is not None:
            self.go(self.visited)
            self.visited = None
        self._at_prompt(host)
        inner = inner_command(command)
        if OUTSIDE.match(command) and self.place == "container" and not self.entering and not CONTAINER.fullmatch(host):
            self.go("host")
        if command == "exit":
            self.entering = False
            self.go("host" if self.place in ("container", "guest") else self.place)
        if inner is None:
            return command
        if inner:
            self.visited = self.place
            self.go("container")
            return inner
        self.entering = True
        return command

    def _at_prompt(self, host: str) -> None:
        """Go to where a prompt stands; a new name after that of a known hypervisor is one of its containers."""
        known, home = host in self.prompts, self.place in ("", "host")
        if CONTAINER.fullmatch(host):
            self.go("container")
            self.got.host = host
        elif host and (known or HOSTS.match(host)) and not home:
            self.entering = False
            self.go("host")
        elif (self.entering and not known) or (host and not known and home and any(map(HOSTS.match, self.prompts))):
            self.go("container")
        if host and self.place in ("", "host"):
            self.prompts.add(host)
        self.got.host = self.got.host if CONTAINER.fullmatch(self.got.host) else host or self.got.host

    def judged(self) -> Pasted:
        """Give the place that is asked about, with what it shares with the others."""
        inner: tuple[Place, ...] = ("container", "guest")
        wanted: Place = next((each for each in inner if self._tells(each)), "")
        got = self.spots[wanted][0]
        got.inside = wanted
        others: tuple[Place, ...] = ("", "host", "container", "guest", "other")
        for place in others:
            if place != wanted and place in self.spots:
                _share(got, self.spots[place][0], wanted, place)
        return got

    def _tells(self, place: Place) -> bool:
        """Say whether a place told something of its own."""
        if place not in self.spots:
            return False
        got, heard = self.spots[place]
        own = (got.sycl, got.packages, got.nodes, got.groups, got.init, got.libraries, got.lacks, got.distributions)
        return any((*own, got.available is not None, heard.no_platform, got.told, *heard.shown_to.values(), got.errors))


BOOKS = ("lines", "left", "listed")
LISTS = ("unread",)
OF_THE_KERNEL = ("gpus", "messages", "blacklisted", "named", "chips", "onboard")
SCALARS = ("kernel", "machine", "cmdline", "handed", "starts", "image", "displays", "said_module")
OF_TORCH = ("available", "count")
LISTS_OF_TORCH = ("errors", "seen", "lacking_cxx")
NAMED_OF_TORCH = ("distributions", "collected", "variables", "release")
KERNEL_PARTS = {"hardware.gpus", "kernel", "kernel.messages", "kernel.cmdline", "kernel.modules", "system"}
EVERYWHERE = {"torch.distributions", "environment"}


def _share(got: Pasted, other: Pasted, wanted: Place, place: Place) -> None:
    """Take over what the judged place shares with another one."""
    got.kinds.update(other.kinds)
    for name in BOOKS:
        setattr(got, name, getattr(got, name) + getattr(other, name))
    for name in LISTS:
        setattr(got, name, [*getattr(other, name), *getattr(got, name)])
    if place == "other" or (wanted == "guest" and place != "container"):
        return
    got.everything = [*other.everything, *got.everything]
    got.windows = got.windows or other.windows
    got.described = got.described or other.described
    for name in OF_THE_KERNEL:
        setattr(got, name, [*getattr(got, name), *(e for e in getattr(other, name) if e not in getattr(got, name))])
    for name in SCALARS:
        setattr(got, name, getattr(other, name) if getattr(got, name) in (None, "") else getattr(got, name))
    got.modules.update(other.modules)
    got.told |= other.told & KERNEL_PARTS
    got.by_lxc = got.by_lxc or other.by_lxc
    if place == "" or not wanted:
        _share_torch(got, other)
    if not wanted:
        _share_all(got, other)
    elif not got.release:
        got.release = dict(other.release)


def _share_torch(got: Pasted, other: Pasted) -> None:
    """Take over what was told of Python before anything was told of a place."""
    for name in OF_TORCH:
        setattr(got, name, getattr(got, name) if getattr(got, name) not in (None, "") else getattr(other, name))
    for name in LISTS_OF_TORCH:
        setattr(got, name, getattr(got, name) or list(getattr(other, name)))
    for name in NAMED_OF_TORCH:
        setattr(got, name, {**getattr(other, name), **getattr(got, name)})
    got.told |= other.told & EVERYWHERE


def _share_all(got: Pasted, other: Pasted) -> None:
    """Take over all lists: both are the same machine."""
    for name in ("sycl", "clinfo", "lacks", "broken", "as_root", "lost", "fakes"):
        setattr(got, name, [*getattr(got, name), *(e for e in getattr(other, name) if e not in getattr(got, name))])
    for name in ("packages", "nodes", "groups", "libraries", "joined", "members"):
        setattr(got, name, {**getattr(other, name), **getattr(got, name)})
    got.uid = got.uid if got.uid is not None else other.uid
    got.user, got.init = got.user or other.user, got.init or other.init
    got.said_driver = got.said_driver or other.said_driver
    got.told |= other.told
