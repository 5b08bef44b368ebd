"""Values as text: quoted for each language that is written, amounts for people, nothing that a report must not tell."""

import ipaddress
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xpusetup.base.document import map_texts
from xpusetup.base.model import ROOT

T = TypeVar("T")


# Times and sizes as people read them.


UNITS = ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)
FEW = 10


def render_duration(seconds: float) -> str:
    """Give a time as people say it: 9 s, 1:12, 2:41:07."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}" if minutes else f"{rest} s"


AGES = (86_400, "days"), (3600, "h"), (60, "min")


def render_age(seconds: float | None) -> str:
    """Say how long ago something was, in its largest unit: 3 days, 5 h, 12 min, now; a dash where it never was."""
    if seconds is None:
        return "-"
    unit, name = next(((unit, name) for unit, name in AGES if seconds >= unit), (0, ""))
    count = int(seconds // unit) if unit else 0
    return f"{count} {'day' if (count, name) == (1, 'days') else name}" if unit else "now"


MOST_NAMED = 3
"""So many things are named before they are counted, and one more where it would stand for itself alone."""
SHORT_NAME = 40


def render_first(names: Sequence[str]) -> str:
    """Name the first of several, and say how many more there are; a second one that is short is named."""
    first, *more = names or ("",)
    if not more:
        return first
    is_short = len(more) == 1 and len(more[0]) < SHORT_NAME
    return f"{first} and {more[0] if is_short else f'{len(more)} more'}"


def name_some(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Name the first few, and say how many more there are."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def shorten(text: str, most: int = 240) -> str:
    """Give a line of somebody else's, cut with a sign where it is longer than so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def render_size(size: float | None) -> str:
    """Give a size in bytes as people read it, with one digit behind the point below ten: 82 KiB, 412 MiB, 3.4 GiB."""
    if size is None:
        return "unknown"
    name, unit = next(((name, unit) for name, unit in UNITS if size >= unit), UNITS[-1])
    value = size / unit
    return f"{value:.1f}".removesuffix(".0") + f" {name}" if value < FEW else f"{value:.0f} {name}"


# What a report must not tell: users, hosts, addresses, tokens and credentials. Applied where a report leaves.


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
REACH = 64
LOCAL = ("127.0.0.1", "0.0.0.0")  # noqa: S104 - compared with, never listened on
NUMBERED = re.compile(
    r"(?i)(?:[=<>~!]=|\bversion:? ?|\b(?:habana|torch|triton|intel|vllm|xpu|onemkl|oneccl)[\w-]{0,40} )\Z"
)
"""What stands before a version of four numbers."""
VERSIONS = {"version", "packages", "distributions", "requires", "installed", "driver", "kernel", "release", "modules"}
"""Keys whose values are versions, in which four numbers are no address."""
MAIL = re.compile(r"(?<![\w/.:@+-])(?!git@)[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}\.[A-Za-z]{2,24}(?![\w.-])")
SYSTEM_USERS = {"root", "nobody", "daemon", "user", "ubuntu", "runner", "build"}
TELLS_NAMES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:\([^()\n]*\) ?)?\[?(?P<user>[A-Za-z_][\w.-]{0,31})@(?P<host>[A-Za-z][\w-]{0,62})(?=[: ][^\n]*[$#%>])",
        r"\bLinux (?P<host>[A-Za-z][\w-]{0,62})(?:\.[\w.-]{1,99})? \d+\.\d+\.\S{1,60} #",
        r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<host>[A-Za-z][\w-]{0,62})[\w.-]{0,99} [\w.-]{1,60}(?:\[\d+\])?:",
        r"\buid=\d+\((?P<user>[\w.-]{1,32})\)",
        r"^[-dlcbps][-rwxsStT]{9}[.+@]? +\d+ (?P<user>[\w.-]{1,32}) ",
        r"/(?:home|Users)/(?P<user>[\w.-]{1,32})",
    )
)
"""What names a user or a host in what people post: a shell's prompt, uname, a journal, id, ls, a home folder."""
NO_NAMES = re.compile(
    rf"(?i)(?:{'|'.join(sorted(SYSTEM_USERS))}|admin|test|localhost|linux|debian|fedora|arch|suse|rocky|centos|wsl|docker"
    r"|container|conda|home|python\d?|pip|torch|pytorch|intel|xpu|gpu|nvidia|amd|video|render|.)\Z"
)
"""Names that tell of nobody, and words that a text is about."""


@dataclass(frozen=True)
class Redactor:
    """Hides what names this person and this machine; the empty text hides nothing of its kind.

    `others`: further names, each with what stands for it.
    """

    user: str = ""
    host: str = ""
    home: str = ""
    others: tuple[tuple[str, str], ...] = ()

    def knowing(self, texts: Iterable[str]) -> "Redactor":
        """Give one that hides also the users and hosts that texts name, wherever else they stand."""
        names: dict[str, str] = {}
        for text in texts:
            for found in (each for pattern in TELLS_NAMES for each in pattern.finditer(text)):
                names |= {name: f"<{kind}>" for kind, name in found.groupdict().items() if not NO_NAMES.match(name)}
        return replace(self, others=tuple(names.items()))

    def text(self, text: str, *, addresses: bool = True) -> str:
        """Give a text without credentials, tokens, home folders, user and host; and without addresses."""
        text = hide(text)
        text = BEARER.sub(r"\1 <token>", text)
        text = NAMED.sub(r"\1***", text)
        if self.home not in ("", "/", "/root"):
            text = re.sub(rf"{re.escape(self.home)}(?![\w.-])", "~", text)
        text = HOME.sub("/home/<user>", text)
        if addresses:
            text = MAC.sub("<mac>", text)
            text = IPV6.sub(lambda found: "<address>" if _is_ipv6(found[0]) else found[0], text)
            text = IPV4.sub(lambda found: found[0] if is_version(found) else "<address>", text)
        text = MAIL.sub("<mail>", text)
        user = "" if self.user in SYSTEM_USERS or self.user.isdigit() else self.user
        for name, stands in ((user, "<user>"), (self.host, "<host>"), *self.others):
            if name:
                text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", stands, text)
        return text

    def document(self, value: T, *, addresses: bool = True) -> T:
        """Give a result or a JSON value in which every text is redacted, those that are keys too."""

        def redact(text: str, names: tuple[str, ...]) -> str:
            return self.text(text, addresses=addresses and VERSIONS.isdisjoint(names))

        return map_texts(value, redact)


def is_version(found: re.Match[str]) -> bool:
    """Say whether four numbers are a version: a package or a comparison stands before them; or this very machine."""
    before = found.string[max(0, found.start() - REACH) : found.start()]
    return found[0] in LOCAL or found[0].startswith("0.") or NUMBERED.search(before) is not None


def _is_ipv6(text: str) -> bool:
    try:
        return not ipaddress.IPv6Address(text).is_loopback
    except ValueError:
        return False


def hide(text: str) -> str:
    """Give a text without what opens a door: users and passwords in addresses, and tokens. On every way out."""
    text = CREDENTIALS.sub(_without_user, text) if "://" in text else text
    return TOKEN.sub("<token>", QUERY.sub(r"\1***", text))


def hide_all(value: T) -> T:
    """Give a result or a JSON value in which no text opens a door."""
    return map_texts(value, lambda text, _names: hide(text))


def _without_user(found: re.Match[str]) -> str:
    named_alone = found[1].lower().endswith("ssh://") and ":" not in found[0].removeprefix(found[1])
    return found[0] if named_alone else f"{found[1]}***@"


def without_credentials(address: str) -> tuple[str, bool]:
    """Give an address without user and password, and whether it had any."""
    plain = hide(address)
    return plain, plain != address


# How each language that we write takes a value as text and as nothing else. No form quotes by itself.
#
# In bash ROOT becomes the variable of that name.


EXPRESSION = "${{"
"""GitHub fills in what stands behind it before any shell sees the line."""


def render_word(text: str) -> str:
    """Quote one word for bash, with ROOT spliced in as `"$ROOT"`."""
    return '"$ROOT"'.join(shlex.quote(part) if part else "" for part in text.split(ROOT)) or "''"


def bash_sentence(text: str) -> str:
    """Quote a message for bash, as people write one where nothing in it asks for more."""
    return f'"{text}"' if re.fullmatch(r"[A-Za-z0-9 ./,:+_-]*", text) else shlex.quote(text)


def render_command(argv: Iterable[str]) -> str:
    return " ".join(render_word(word) for word in argv)


def render_long_command(argv: Iterable[str]) -> str:
    return "\n".join(break_command(map(render_word, argv)))


def break_command(words: Iterable[str], *, width: int = 110) -> list[str]:
    """Give the lines of a command between whose words it is broken where it is too long."""
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) > width:
            lines.append(f"{line} \\")
            line = "  "
        line += word if not line.strip() else f" {word}"
    return [*lines, line]


def bash_on_one_line(text: str) -> str:
    """Quote one word for bash so that it can be seen whole on one line, whatever it holds."""
    return shlex.quote(text) if text.isprintable() else f"$'{_escape(text, chr(39), octal=True)}'"


def fish_word(text: str) -> str:
    parts = re.split(r"([^ -~])", text)  # every other one is a sign that is written by its number
    quoted = [f"""'{part.replace(chr(92), chr(92) * 2).replace("'", chr(92) + "'")}'""" for part in parts[::2]]
    signs = [
        "".join(f"\\X{byte:02x}" for byte in part.encode("utf-8", "surrogateescape")) for part in (*parts[1::2], "")
    ]
    return "".join(word for pair in zip(quoted, signs, strict=True) for word in pair)


def csh_word(text: str) -> str:
    """Quote one word for csh and tcsh, in which `!` counts in quotes too. They have no way to write a line's end."""
    return f"""'{text.replace("'", "'" + chr(92) + "''").replace("!", chr(92) + "!")}'"""


def command_on_one_line(argv: Iterable[str]) -> str:
    """Quote a command for people to copy: it stays one line, whatever its words hold."""
    return " ".join(map(bash_on_one_line, argv))


def comment(text: str) -> str:
    """Give a text as the rest of a line that a comment has: it ends where the line ends, and holds no escapes."""
    return "".join(char if char.isprintable() else "?" for char in text)


def lua_string(text: str) -> str:
    return f'"{_escape(text, chr(34), decimal=True)}"'


def lua_long_string(text: str) -> str:
    """Quote a text of several lines for Lua, in brackets of a level that does not occur in it."""
    level = next(sign for sign in ("=" * number for number in range(len(text) + 2)) if f"]{sign}" not in text)
    level = "" if "]]" not in text and not text.endswith("]") else level
    plain = "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
    return f"[{level}[{plain}]{level}]"


def docker_string(text: str) -> str:
    """Quote a text for a Dockerfile, in which BuildKit and buildah fill in variables."""
    escaped = comment(text).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped}"'


def apptainer_text(text: str) -> str:
    """Give a text for a line of an Apptainer definition: no template, and no section where it begins the line."""
    plain = re.sub(r"([{}])(?=\1)", r"\1 ", comment(text))
    return f"'{plain}'" if plain.lstrip().startswith("%") else plain


def yaml_string(text: str) -> str:
    return f'"{_escape(text, chr(34))}"'


def workflow_command(argv: Iterable[str]) -> str:
    """Quote a command for bash in a block of a workflow; what GitHub would fill in stays text."""
    return " ".join(bash_on_one_line(word).replace(EXPRESSION, "$''{{") for word in argv)


def markdown_text(text: str) -> str:
    """Give a text as words in Markdown, in a cell of a table too: no markup of its own."""
    return re.sub(r"([\\`|<\[*])", r"\\\1", comment(text))


def _escape(text: str, quote: str, *, octal: bool = False, decimal: bool = False) -> str:
    """Write quotes, backslashes and what cannot be seen as escapes: by bytes for bash and Lua, else as YAML does."""
    return "".join(_escape_one(char, quote, octal=octal, decimal=decimal) for char in text)


def _escape_one(char: str, quote: str, *, octal: bool, decimal: bool) -> str:
    if char in {quote, "\\"}:
        return f"\\{char}"
    if char.isprintable():
        return char
    if octal or decimal:
        data = char.encode(errors="surrogateescape" if 0xDC80 <= ord(char) <= 0xDCFF else "replace")  # noqa: PLR2004
        return "".join(f"\\{byte:03o}" if octal else f"\\{byte:03d}" for byte in data)
    code = ord(char)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


# Words that somebody mistyped.


NEAR, SHORTEST = 0.65, 3
"""How alike two words are, from 0 to 1, of which one may be meant by the other; how long one is that another begins."""
PARTING = re.compile(r"[\W_]+")


def nearest(word: str, known: Iterable[str], least: float = NEAR) -> str:
    """Give what is meant by a word that is not known: its beginning or end, else what is at least so much alike."""
    from difflib import get_close_matches  # noqa: PLC0415 - for an error alone

    names = {PARTING.sub("", each.lower()): each for each in known}
    asked = PARTING.sub("", word.lower())
    parts = (each for each in names if min(len(each), len(asked)) >= SHORTEST)
    part = next(
        (each for each in parts if each.startswith(asked) or each.endswith(asked) or asked.startswith(each)), ""
    )
    return names.get(part or next(iter(get_close_matches(asked, names, n=1, cutoff=least)), ""), "")


def hint_at_nearest(word: str, known: Iterable[str], shown: str = "{}") -> str:
    """Give the end of a sentence that names what is meant, as in `; did you mean torch-2.14?`; empty where nothing is.

    `shown` is how the word is written there.
    """
    close = nearest(word, known)
    return f"; did you mean {shown.format(close)}?" if close else ""


def describe_older(names: Iterable[str]) -> str:
    """Say which distributions a build that is not finished has yet to replace."""
    return f"the environment still holds {', '.join(names)} of the build before"
