"""What a failed git says, sorted by what to do next: make room, go another way, give up the server, or ask it again.

A server that is gone and a commit that is refused end with the same last line ("the remote end hung up"), so the
whole of git's words is looked at, and what is certain is looked for first.
"""

from __future__ import annotations

import re

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
    """Give the kind of a failure by all that git said."""
    return next((kind for kind, pattern in PATTERNS if pattern.search(words)), OTHER)


def last_words(words: str) -> str:
    """Give the line that says it: the first that is fatal, else the last one."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith("fatal: ")), lines[-1] if lines else "it said nothing")
    return LAST.sub("", said)
