"""The values that data files hold, each checked as strictly as what is made of it needs, and TOML as text."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import tomli

# TOML, read by tomli: the standard library's reader, compiled, in a third of the time.


TomlError = tomli.TOMLDecodeError


BEGINS_AS_UTF_16 = ("\ufffd\ufffd", "\x00")


def parse_toml(text: str) -> dict[str, Any]:
    """Read TOML. Raises TomlError, as a rule with line and column."""
    text = text.removeprefix("\ufeff")  # some editors begin UTF-8 with it
    if text.startswith(BEGINS_AS_UTF_16):
        raise TomlError("it is no UTF-8; in the editor: save as UTF-8", text, 0)
    try:
        found: dict[str, Any] = tomli.loads(text)
    except TomlError:
        raise
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or as many brackets
        why = "it is nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
        raise TomlError(why, text, 0) from error
    return found


def read_table(text: str, name: str) -> dict[str, Any]:
    """Give a table of a file of somebody else, as pyproject.toml; empty where it has none, or is no TOML."""
    try:
        found = parse_toml(text).get(name)
    except TomlError:
        found = None
    return found if isinstance(found, dict) else {}


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


def plain(text: str) -> str:
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
    return "://" in text and (WITH_USER.search(text) or WITH_TOKEN.search(text)) is not None


def _operand(text: str) -> str:
    if text.startswith("-"):
        raise ValueError("must not begin with '-': a program would read it as an option")
    return plain(text)


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
    return plain(_not_long(text))


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
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - what was read before is not checked again

    try:
        normal = str(Version(text))
    except InvalidVersion as error:
        raise ValueError("must be a version, as in 1.2.3") from error
    if normal != text:
        raise ValueError(f"must be written as in the name of a wheel: {normal}")
    return text


def _specifiers(text: str) -> str:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - same

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
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - same

    try:
        requirement = Requirement(_short(text))
    except InvalidRequirement as error:
        raise ValueError("must be pinned exactly, as in name==1.2.3") from error
    if [spec.operator for spec in requirement.specifier] != ["=="] or "*" in str(requirement.specifier):
        raise ValueError("must be pinned exactly, as in name==1.2.3")
    return _operand(text)


def _hashed_pin(text: str) -> str:
    from packaging.requirements import Requirement  # noqa: PLC0415 - same
    from packaging.utils import canonicalize_name  # noqa: PLC0415 - same

    requirement = Requirement(_exact(text))
    wanted = f"{canonicalize_name(requirement.name)}{requirement.specifier}"
    if text != wanted:
        raise ValueError(f"must be written as {wanted}: hashes hold for every Python")
    return text


# How pydantic learns what a value has to be. It reads these where a file is validated, and no earlier: importing it
# takes longer than all else that a short command does.


class ValueCheck:
    """A function that gives a value back or raises ValueError; `shape` is the pattern that an editor is told."""

    def __init__(self, function: Callable[[Any], Any], shape: str = "") -> None:
        self._function = function
        self._shape = shape

    def __get_pydantic_core_schema__(self, kind: Any, make: Any) -> Any:
        """Check after what the type itself asks for; pydantic calls this."""
        from pydantic_core import core_schema  # noqa: PLC0415 - see above

        return core_schema.no_info_after_validator_function(self._function, make(kind))

    def __get_pydantic_json_schema__(self, schema: Any, make: Any) -> Any:
        """Give the form for editors; pydantic calls this."""
        return {"type": "string", "pattern": self._shape} if self._shape else make(schema)


class Limits:
    """What pydantic itself checks, by its words: pattern, min_length, max_length, gt, ge, le."""

    def __init__(self, **limits: Any) -> None:
        self._limits = limits

    def __get_pydantic_core_schema__(self, kind: Any, make: Any) -> Any:
        """Add them to the value itself, which may be optional or checked; pydantic calls this."""
        whole = inner = make(kind)
        while inner["type"] in {"nullable", "function-after"}:
            inner = inner["schema"]
        inner.update(self._limits)
        return whole


class ToldBy:
    """One of several tables, told apart by a key."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __get_pydantic_core_schema__(self, kind: Any, make: Any) -> Any:
        """Look at the key alone; pydantic calls this."""
        from pydantic import Field  # noqa: PLC0415 - see above

        return make.generate_schema(Annotated[kind, Field(discriminator=self._key)])


Text = Annotated[str, ValueCheck(plain)]
Operand = Annotated[str, ValueCheck(_operand, "^(?!-)")]
Inside = Annotated[str, ValueCheck(_inside, r"^(?![/~-])(?!(.*/)?\.\.(/|$)).+$")]
Repository = Annotated[str, Limits(min_length=1), ValueCheck(_repository, "^(?!-).")]
Rev = Annotated[str, ValueCheck(_rev, "^[0-9a-f]{40}$")]
VersionText = Annotated[str, ValueCheck(_version)]
Specifiers = Annotated[str, ValueCheck(_specifiers)]
Exact = Annotated[str, ValueCheck(_exact, r"^[A-Za-z0-9][^=<>!~]*==[^*]+$")]
HashedPin = Annotated[str, ValueCheck(_hashed_pin, r"^[a-z0-9][a-z0-9-]*==[^*; ]+$")]
Sha256 = Annotated[str, Limits(pattern="^[0-9a-f]{64}$")]
Summary = Annotated[str, Limits(max_length=LONGEST_WORD), ValueCheck(plain)]
Name = Annotated[str, Limits(pattern=r"^[a-z][a-z0-9._-]*$", max_length=100)]
Ocloc = Annotated[str, Limits(pattern=r"^\d\d\.\d\d$")]
"""A release of Intel's compute runtime, by year and week, for the ocloc that belongs to it."""
Variable = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
CMakeVariable = Annotated[str, Limits(pattern=r"^([A-Za-z_][A-Za-z0-9_-]*)?$", max_length=100)]
"""CMake's own FETCHCONTENT_SOURCE_DIR_X takes the name of a dependency, dashes and all."""
GitRef = Annotated[str, ValueCheck(_ref, r"^([A-Za-z0-9_][A-Za-z0-9_./+#@=-]*)?$")]
DeviceTarget = Annotated[str, ValueCheck(_target, r"^[A-Za-z0-9][A-Za-z0-9_.:+-]{0,59}$")]
"""What a device compiler calls a GPU; lists of them are joined by commas."""
Environment = dict[Variable, Text]


class Table:
    """A table of a file, as a frozen dataclass: what pydantic validates it by, and what of it is said again.

    A key that Python has for itself, or that is a word of its own here, ends in an underscore as a field: `schema_`.
    """

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Any]]
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "allow_inf_nan": False}
    PREPARE: ClassVar[Any] = None
    """Changes what a file says before it is validated."""
    UNSAID: ClassVar[tuple[str, ...]] = ()
    """Fields of which nothing is said where they are as by default.

    So what follows from a file, hashes too, stays what it was before there was such a field.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, kind: Any, make: Any) -> Any:
        """Take a dictionary for the table, also where its values are taken strictly; pydantic calls this."""
        from pydantic_core import core_schema  # noqa: PLC0415 - see above

        whole = make(kind)
        whole["strict"] = False
        for each in whole["schema"]["fields"]:
            if each["name"].endswith("_"):
                each["validation_alias"] = each["name"].removesuffix("_")
        return core_schema.no_info_before_validator_function(cls.PREPARE, whole) if cls.PREPARE else whole


class Strict(Table):
    """No unknown key, no coercion, no change."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {**Table.__pydantic_config__, "strict": True}


@dataclass(frozen=True, kw_only=True)
class Sourced(Strict):
    """A fact with where it comes from."""

    source: Text
    confidence: Confidence
