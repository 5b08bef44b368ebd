"""The values that data files hold, each checked as strictly as what is made of it needs, and TOML as text."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import tomli
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
)

# TOML, read by tomli: the standard library's reader, compiled, in a third of the time.


TomlError = tomli.TOMLDecodeError


BEGINS_AS_UTF_16 = ("\ufffd\ufffd", "\x00")
TWICE = re.compile(r"Cannot declare \((.*)\) twice|Cannot (?:overwrite a value|mutate immutable namespace .*)")


def parse_toml(text: str) -> dict[str, Any]:
    """Read TOML. Raises TomlError, as a rule with line and column."""
    text = text.removeprefix("\ufeff")  # some editors begin UTF-8 with it
    if text.startswith(BEGINS_AS_UTF_16):
        raise TomlError("it is no UTF-8; in the editor: save as UTF-8", text, 0)
    try:
        found: dict[str, Any] = tomli.loads(text)
    except TomlError as error:
        raise _say_twice(error) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or as many brackets
        why = "it is nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
        raise TomlError(why, text, 0) from error
    return found


def _say_twice(error: TomlError) -> TomlError:
    """Name the table or the key that stands twice, where that is what is wrong."""
    match = TWICE.match(error.msg)
    if match is None:
        return error
    line = error.doc.splitlines()[error.lineno - 1].strip()
    what = ".".join(re.findall(r"'([^']*)'", match[1])) if match[1] else line.partition("=")[0].strip()
    more = f"; one of several is written [[{what}]]" if match[1] else ""
    return TomlError(f"{f'[{what}]' if match[1] else what} stands there already{more}", error.doc, error.pos)


# The values, and what every table is.


Confidence = Literal["confirmed", "likely", "unconfirmed"]


LONGEST = 2000
"""Characters of the longest text that a file of ours holds, and some."""
LONGEST_WORD = 200
"""Characters of the longest version, specifier or pin that anything reads as one."""


PACKAGED = "package:"
"""A repository address that begins so is made from sources that travel with the helpers."""
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+(?:@[\w.-]+)?:(?!/)")
"""What git takes for an address and not for a path from where it was called: with a scheme, or as ssh writes it."""
WITH_USER = re.compile(r"(?i)\b(?!(?:git\+)?ssh:)[a-z][a-z0-9+.]{0,20}://[^/\s@\"'<>]*@|\bssh://[^/\s@:]*:[^/\s@]*@")
"""An address with a user or a password; ssh has a user's name in it, and the key elsewhere."""
WITH_TOKEN = re.compile(r"(?i)://[^\s#]*[?&;][\w-]*(?:token|password|passwd|secret|signature|api[_-]?key)[\w-]*=")


def _plain(text: str) -> str:
    if len(text) > LONGEST:
        raise ValueError(f"must not be longer than {LONGEST} characters")
    if not text.isprintable() or "@ROOT@" in text:
        raise ValueError("must be one line of printable text")
    if holds_credentials(text):
        raise ValueError(
            "must hold no user, password or token: such a file is copied and shown. git takes them from a credential"
            " helper (git config --global credential.helper store), pip and uv from ~/.netrc, or from PIP_INDEX_URL"
            " and UV_DEFAULT_INDEX"
        )
    return text


def holds_credentials(text: str) -> bool:
    """Say whether an address in a text names a user, a password or a token."""
    return "://" in text and (WITH_USER.search(text) or WITH_TOKEN.search(text)) is not None


def _operand(text: str) -> str:
    if text.startswith("-"):
        raise ValueError("must not begin with '-': a program would read it as an option")
    return _plain(text)


def _inside(path: str) -> str:
    if not path or path.startswith(("/", "~")) or ".." in path.split("/"):
        raise ValueError("must be a path below the source tree: no leading '/' and no '..'")
    return _operand(path)


def _repository(text: str) -> str:
    if text.startswith(PACKAGED) and not re.fullmatch(r"[a-z][a-z0-9_-]*", text.removeprefix(PACKAGED)):
        raise ValueError(f"must name a folder that ships with xpusetup, as in {PACKAGED}NAME")
    if text and not text.startswith((PACKAGED, "/", "~/")) and not ADDRESS.match(_operand(text)):
        raise ValueError("must be an address, as in https://HOST/NAME or git@HOST:NAME, or a path that begins with /")
    return _operand(text)


def _rev(text: str) -> str:
    if text != text.lower() and len(text) == 40:  # noqa: PLR2004 - the length of a SHA-1
        raise ValueError("must be lower case, as git prints it")
    if len(text) != 40 or not set(text) <= set("0123456789abcdef"):  # noqa: PLR2004 - the length of a SHA-1
        raise ValueError(f"must be a whole commit id of 40 hexadecimal digits, not {len(text)} characters")
    return text


def _not_long(text: str) -> str:
    if len(text) > LONGEST_WORD:
        raise ValueError(f"must not be longer than {LONGEST_WORD} characters")
    return text


def _short(text: str) -> str:
    return _plain(_not_long(text))


def _ref(text: str) -> str:
    odd = ".." in text or "//" in text or text.endswith(("/", ".lock", "."))
    if text and (odd or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./+#@=-]*", _short(_operand(text)))):
        raise ValueError("must be the name of a tag or branch: letters, digits and any of _ . / + # @ = -")
    return text


def _target(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,59}", _operand(text)):
        raise ValueError("must be what a compiler calls a device: letters, digits and any of _ . : + -")
    return text


def _version(text: str) -> str:
    _not_long(text)
    try:
        normal = str(Version(text))
    except InvalidVersion as error:
        raise ValueError("must be a version, as in 1.2.3") from error
    if normal != text:
        raise ValueError(f"must be written as in the name of a wheel: {normal}")
    return text


def _specifiers(text: str) -> str:
    try:
        SpecifierSet(_short(text))
    except InvalidSpecifier as error:
        raise ValueError("must be versions, as in >=1.2,<2") from error
    return text


PLAIN_PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==\d+(\.\d+)*")
"""What nearly every pin looks like: a profile has a hundred, and reading them as requirements takes time."""


def _exact(text: str) -> str:
    if len(text) <= LONGEST_WORD and PLAIN_PIN.fullmatch(text):
        return text
    try:
        requirement = Requirement(_short(text))
    except InvalidRequirement as error:
        raise ValueError("must be pinned exactly, as in name==1.2.3") from error
    if [spec.operator for spec in requirement.specifier] != ["=="] or "*" in str(requirement.specifier):
        raise ValueError("must be pinned exactly, as in name==1.2.3")
    return _operand(text)


def _hashed_pin(text: str) -> str:
    requirement = Requirement(_exact(text))
    wanted = f"{canonicalize_name(requirement.name)}{requirement.specifier}"
    if text != wanted:
        raise ValueError(f"must be written as {wanted}: hashes hold for every Python")
    return text


def _shaped(pattern: str) -> WithJsonSchema:
    """Tell an editor by a pattern what a validator asks for."""
    return WithJsonSchema({"type": "string", "pattern": pattern})


Text = Annotated[str, AfterValidator(_plain)]
Operand = Annotated[str, AfterValidator(_operand), _shaped("^(?!-)")]
Inside = Annotated[str, AfterValidator(_inside), _shaped(r"^(?![/~-])(?!(.*/)?\.\.(/|$)).+$")]
Repository = Annotated[str, Field(min_length=1), AfterValidator(_repository), _shaped("^(?!-).")]
Rev = Annotated[str, AfterValidator(_rev), _shaped("^[0-9a-f]{40}$")]
VersionText = Annotated[str, AfterValidator(_version)]
Specifiers = Annotated[str, AfterValidator(_specifiers)]
Exact = Annotated[str, AfterValidator(_exact), _shaped(r"^[A-Za-z0-9][^=<>!~]*==[^*]+$")]
HashedPin = Annotated[str, AfterValidator(_hashed_pin), _shaped(r"^[a-z0-9][a-z0-9-]*==[^*; ]+$")]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Summary = Annotated[str, Field(max_length=LONGEST_WORD), AfterValidator(_plain)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9._-]*$", max_length=100)]
Ocloc = Annotated[str, Field(pattern=r"^\d\d\.\d\d$")]
"""A release of Intel's compute runtime, by year and week, for the ocloc that belongs to it."""
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
CMakeVariable = Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_-]*)?$", max_length=100)]
"""CMake's own FETCHCONTENT_SOURCE_DIR_X takes the name of a dependency, dashes and all."""
GitRef = Annotated[str, AfterValidator(_ref), _shaped(r"^([A-Za-z0-9_][A-Za-z0-9_./+#@=-]*)?$")]
DeviceTarget = Annotated[str, AfterValidator(_target), _shaped(r"^[A-Za-z0-9][A-Za-z0-9_.:+-]{0,59}$")]
"""What a device compiler calls a GPU; lists of them are joined by commas."""
Environment = dict[Variable, Text]


class Strict(BaseModel):
    """No unknown key, no coercion, no change."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True, allow_inf_nan=False)


def silent_of(*names: str) -> Any:
    """Give a model the serializer that says nothing of these fields where they are empty.

    So what follows from a file, hashes too, stays what it was before there was such a field.
    """

    def say(self: Strict, whole: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in whole(self).items() if name not in names or value}

    return model_serializer(mode="wrap")(say)


class Sourced(Strict):
    """A fact with where it comes from."""

    source: Text
    confidence: Confidence
