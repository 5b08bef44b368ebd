"""Runs git without ever asking anybody anything, and ends it when nothing more comes.

What a place has to say comes through git's own settings: mirrors (url.<base>.insteadOf), proxies, certificates, and
ours: `xpusetup.store` (where fetched objects are kept, several are looked at in turn; `off` for nowhere) and
`xpusetup.<mirror>.fallbackOf` (asked where an address itself fails; like insteadOf it stands for a beginning).
"""

import os
import re
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",  # empty: neither core.askPass nor SSH_ASKPASS is asked
    "GCM_INTERACTIVE": "never",
    "LC_ALL": "C",  # its words are read here
}
SSH = "ssh -o BatchMode=yes -o ConnectTimeout=60 -o ServerAliveInterval=30"
SLOW = {"GIT_HTTP_LOW_SPEED_LIMIT": "100", "GIT_HTTP_LOW_SPEED_TIME": "60"}
"""Bytes per second below which, for so many seconds, a transfer counts as dead."""
TIMEOUT_S = 600.0
"""Seconds without a word after which git itself counts as dead, whatever it speaks with its server."""
KEPT = 60
"""Lines of git's words that are kept to judge a failure."""
LINE_ENDS = re.compile(rb"[\r\n]")
LOCK = threading.Lock()
CREDENTIALS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20}://)[^/\s\"'<>]+@")
"""A user or a password in an address, which the user's own settings may hold: no log does."""


@dataclass(frozen=True)
class GitAnswer:
    """How git ended, what it gave and what it said."""

    code: int
    out: str
    words: str

    @property
    def kind(self) -> str:
        """What kind of failure it is (SIGNS)."""
        return sort_failure(self.words)

    @property
    def last(self) -> str:
        return last_words(self.words) if self.words.strip() else f"git ended with {self.code}"


class FetchError(Exception):
    """Something that cannot be fetched or put in place: what happened, what mends it, and what kind it is."""

    def __init__(self, message: str, fix: str, kind: str = "") -> None:
        super().__init__(without_credentials(message))
        self.fix, self.kind = without_credentials(fix), kind


@dataclass(frozen=True)
class Git:
    """Calls git in one environment. `settings`: what git's files and variables say here, by name, in their order."""

    environment: Mapping[str, str]
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def call(
        self, *arguments: str, strange: bool = False, show: bool = True, hear: Callable[[str], bool] | None = None
    ) -> GitAnswer:
        """Run git to its end. `hear` takes lines for itself; `strange`: an address that someone else wrote down."""
        if show:
            say(" ".join(("+ git", *arguments)))
        own = {"GIT_PROTOCOL_FROM_USER": "0"} if strange else {}
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(
                ["git", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.PIPE,
                env={**self.environment, **own},
                close_fds=False,  # whoever outlives this script holds the locks that it was started under
            )
            kept = []
            for line in listen(process):
                if line and not (hear and hear(line)):
                    kept.append(line)
                    say(line)
            code = process.wait()
            out.seek(0)
            text = out.read()
        return GitAnswer(code, text, "\n".join(kept[-KEPT:]))

    def ask(self, *arguments: str) -> str | None:
        """Ask something, and leave it out of the log; None where git fails."""
        said = self.call(*arguments, show=False, hear=lambda _line: True)
        return said.out if said.code == 0 else None

    def fallbacks(self, address: str) -> Iterator[str]:
        """Give the addresses that may be asked in the place of one."""
        for name, values in self.settings.items():
            if name.startswith("xpusetup.") and name.endswith(".fallbackof"):
                mirror = name.removeprefix("xpusetup.").removesuffix(".fallbackof")
                yield from (mirror + address[len(base) :] for base in values if base and address.startswith(base))


def inside(place: Path) -> tuple[str, str]:
    """Give the options that name a repository, whether or not the files of its tree are there yet."""
    return f"--git-dir={place}", f"--work-tree={place}"


def listen(process: subprocess.Popen[bytes]) -> Iterator[str]:
    """Give git's words line by line; a carriage return ends a line too. Ends a git that says nothing for too long."""
    assert process.stderr is not None  # noqa: S101 - it is a pipe
    with process.stderr as stream:
        rest = b""
        while True:
            if not select.select([stream], [], [], TIMEOUT_S)[0]:
                process.kill()
                yield f"fatal: git stalled: not a word for {TIMEOUT_S:.0f} s"
                return
            chunk = os.read(stream.fileno(), 1 << 16)
            *lines, rest = LINE_ENDS.split(rest + chunk)
            yield from (line.decode(errors="replace").rstrip() for line in lines)
            if not chunk:
                yield rest.decode(errors="replace").rstrip()
                return


def say(text: str) -> None:
    """Write a line to the log, whole, whoever else writes."""
    with LOCK:
        sys.stdout.write(f"{without_credentials(text)}\n")
        sys.stdout.flush()


def without_credentials(text: str) -> str:
    """Give a text in which no address holds a user or a password; `git@` of ssh is neither."""
    return CREDENTIALS.sub(lambda found: found[0] if found[0].endswith("ssh://git@") else f"{found[1]}***@", text)


def make_git() -> Git:
    environment = {**os.environ, **QUIET}
    found = Git(environment).ask("--git-dir=/dev/null", "config", "--list", "-z") or ""
    settings: dict[str, tuple[str, ...]] = {}
    for entry in filter(None, found.split("\0")):
        name, _, value = entry.partition("\n")
        settings[name] = (*settings.get(name, ()), value)
    if "http.lowspeedtime" not in settings:
        environment = {**SLOW, **environment}
    if "core.sshcommand" not in settings:
        environment = {"GIT_SSH_COMMAND": SSH, **environment}
    return Git(environment, settings)


# What a failed git says, sorted by what to do next: make room, go another way, give up the server, or ask it again.
#
# A server that is gone and a commit that is refused end with the same last line ("the remote end hung up"), so the
# whole of git's words is looked at, and what is certain is looked for first.


ROOM = "room"
"""This machine has no room, or cannot write: no server can help."""
REFUSED = "refused"
"""The server answers, and does not give what it was asked for in this way."""
DENIED = "denied"
"""The server gives this caller nothing: no such repository, no permission, no trust."""
PASSING = "passing"
"""A connection, a server or a network that may be well again in a moment."""
OTHER = "other"
SIGNS = {
    ROOM: (
        *("no space left on device", "disk quota exceeded", "read-only file system", "write error"),
        "unable to create temporary",
    ),
    REFUSED: (
        *("not our ref", "unadvertised object", "couldn't find remote ref", "no such remote ref"),
        *("did not send all necessary", "does not support shallow"),
    ),
    DENIED: (
        r"(?:returned error:|http(?: code)?) 4(?!08|25|29)\d\d",
        *("authentication failed", "could not read (?:username|password)", "permission denied", "access rights"),
        *("repository '.*' not found", "does not appear to be a git repo", "repository .*does not exist"),
        *("certificate", "host key verification", "transport '.*' not allowed", "unable to find remote helper"),
    ),
    PASSING: (
        r"(?:returned error:|http(?: code)?) (?:408|425|429|5\d\d)",
        *("could not resolve", "name resolution", "couldn't connect", "(?:failed|unable) to connect", "kex_exchange"),
        *(
            "connection (?:reset|refused|timed out|closed)",
            "timed? ?out",
            "too slow",
            "stalled",
            "hung up",
            "rpc failed",
        ),
        *("early eof", "unexpected eof", "unexpected disconnect", "transfer closed", "empty reply", "bytes of body"),
        *("recv failure", "send failure", "ssl_read", "ssl_error", "gnutls", "http/2 stream", "remote-https? died"),
        *("index-pack", "bad pack", "inflate", "truncated", "bad line length", "expected flush", "protocol error"),
        *(
            "info/refs not valid",
            "invalid server response",
            "unable to parse",
            "error processing",
            "expected '?packfile",
        ),
    ),
}
PATTERNS = tuple((kind, re.compile("|".join(signs), re.IGNORECASE)) for kind, signs in SIGNS.items())
LAST = re.compile(r"^(?:fatal|error|ERROR): ")


def sort_failure(words: str) -> str:
    return next((kind for kind, pattern in PATTERNS if pattern.search(words)), OTHER)


def last_words(words: str) -> str:
    """Give the line that says it: the first that is fatal, else the last one."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith("fatal: ")), lines[-1] if lines else "it gave no message")
    return LAST.sub("", said)
