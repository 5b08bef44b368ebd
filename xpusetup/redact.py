"""What a report must not tell: users, hosts, addresses, tokens and credentials. Applied where a report leaves."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Any

CREDENTIALS = re.compile(r"([a-z][a-z0-9+.-]{0,20}://)[^/\s\"'<>]+@", re.IGNORECASE)
"""No pattern here looks far from where it began: a line of 100,000 letters is read as fast as as many short ones."""
TOKEN = re.compile(
    r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_\w{16,}|pypi-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}"
    r"|eyJ[\w-]{10,600}\.[\w-]{10,}\.[\w-]+)"
)
QUERY = re.compile(
    r"(?i)([?&;][\w-]{0,40}(?:token|password|passwd|secret|signature|api[_-]?key)[\w-]{0,40}=)[^\s&;\"'<>]+"
)
"""Part of an address."""
NAMED = re.compile(
    r"(?i)((?:token|password|passwd|secret|api[_-]?key|credential)s?[\w-]{0,60}\s{0,9}[=:]\s{0,9})([^\s&,;]+)"
)
BEARER = re.compile(r"(?i)\b(bearer|basic) [\w+/=.~-]{8,}")
MAC = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?![\w:])")
IPV4 = re.compile(r"(?<![\w.+-])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w+-]|\.\d)")
IPV6 = re.compile(r"(?<![\w:.])[0-9a-fA-F]{0,4}:[0-9a-fA-F:]*:[0-9a-fA-F]{0,4}(?![\w:.])")
HOME = re.compile(r"/(?:home|Users)/(?!<)[^/\s:'\",;]+")
LOCAL = ("127.0.0.1", "0.0.0.0")  # noqa: S104 - compared with, never listened on
VERSIONS = {"version", "packages", "distributions", "requires", "installed", "driver", "kernel", "release", "modules"}
"""Keys whose values are versions, in which four numbers are no address."""
SYSTEM_USERS = {"root", "nobody", "daemon", "user", "ubuntu", "runner", "build"}


@dataclass(frozen=True)
class Redactor:
    """Hides what names this person and this machine; the empty text hides nothing of its kind."""

    user: str = ""
    host: str = ""
    home: str = ""

    def text(self, text: str, *, addresses: bool = True) -> str:
        """Give a text without credentials, tokens, home folders, user and host; and without addresses."""
        text = hide(text)
        text = BEARER.sub(r"\1 <token>", text)
        text = NAMED.sub(r"\1***", text)
        if self.home not in ("", "/", "/root"):
            text = re.sub(rf"{re.escape(self.home)}(?![\w.-])", "~", text)
        text = HOME.sub("/home/<user>", text)
        text = _without_addresses(text) if addresses else text
        for name, stands in ((self._user(), "<user>"), (self.host, "<host>")):
            if name:
                text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", stands, text)
        return text

    def _user(self) -> str:
        return "" if self.user in SYSTEM_USERS or self.user.isdigit() else self.user

    def document(self, value: Any, *, addresses: bool = True) -> Any:
        """Give a JSON value in which every text is redacted, those that are keys too."""
        if isinstance(value, str):
            return self.text(value, addresses=addresses)
        if isinstance(value, dict):
            pairs = ((str(key), each, addresses and key not in VERSIONS) for key, each in value.items())
            return {self.text(key, addresses=kept): self.document(each, addresses=kept) for key, each, kept in pairs}
        if isinstance(value, list | tuple):
            return [self.document(each, addresses=addresses) for each in value]
        return value


def _without_addresses(text: str) -> str:
    text = MAC.sub("<mac>", text)
    text = IPV6.sub(lambda found: "<address>" if _is_ipv6(found[0]) else found[0], text)
    return IPV4.sub(lambda found: found[0] if found[0] in LOCAL else "<address>", text)


def _is_ipv6(text: str) -> bool:
    try:
        return not ipaddress.IPv6Address(text).is_loopback
    except ValueError:
        return False


def hide(text: str) -> str:
    """Give a text without what opens a door: users and passwords in addresses, and tokens. On every way out."""
    text = CREDENTIALS.sub(_without_user, text) if "://" in text else text
    return TOKEN.sub("<token>", QUERY.sub(r"\1***", text))


def hide_all(value: Any) -> Any:
    """Give a JSON value in which no text opens a door."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(key) if isinstance(key, str) else key: hide_all(each) for key, each in value.items()}
    return type(value)(map(hide_all, value)) if type(value) in {list, tuple} else value


def _without_user(found: re.Match[str]) -> str:
    """Hide user and password; ssh has a user's name alone there, which opens nothing."""
    named_alone = found[1].lower().endswith("ssh://") and ":" not in found[0].removeprefix(found[1])
    return found[0] if named_alone else f"{found[1]}***@"


def without_credentials(address: str) -> tuple[str, bool]:
    """Give an address without user and password, and whether it had any."""
    plain = hide(address)
    return plain, plain != address
