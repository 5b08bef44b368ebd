"""What a component is as a member of a stack: what of torch it is bound to, why it was taken so, and its proof.

Words: a *member* is a distribution that stands on torch; its *candidates* are the ways in which it can be had; a member
is *proved* where it was imported, its operators are registered, and a call gave the known answer.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

from xpusetup.base.values import (
    LONGEST,
    Inside,
    Limits,
    Name,
    Sha256,
    Sourced,
    Strict,
    Text,
    ValueCheck,
    Variable,
    VersionText,
)

Binds = Literal["none", "torch-stable", "triton", "sycl-major", "torch-minor", "torch-exact"]
"""What has to be as it was for a member to go on working, the loosest first.

Nothing of torch; its stable C interface; the Triton beside it; the major version of SYCL; its C++ interface, which goes
with the minor release; just this torch.
"""
How = Literal["wheel", "source", "skip"]
Taken = Literal["taken", "refused", "not needed"]


def rank(binds: Binds) -> int:
    return get_args(Binds).index(binds)


DEEPEST = 4
"""Lists in lists of a call's arguments: a batch of images."""


def _value(given: Any, depth: int = DEEPEST) -> Any:
    """Take numbers, words and lists of them: they travel as JSON, and become tensors."""
    plain = isinstance(given, bool | int | float | str)
    if isinstance(given, str) and (len(given) > LONGEST or not given.isprintable()):
        raise ValueError("must be one line of printable text")
    if isinstance(given, list) and depth:
        return [_value(each, depth - 1) for each in given]
    if not plain:
        raise ValueError(f"must be numbers, words, or lists of them, at most {DEEPEST} deep")
    return given


Dotted = Annotated[str, Limits(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$", max_length=200)]
"""A module, or what is in one: package.module.function."""
Operator = Annotated[str, Limits(pattern=r"^[A-Za-z_]\w*::[A-Za-z_]\w*$", max_length=200)]
Value = Annotated[Any, ValueCheck(_value)]
Word = Annotated[str, Limits(pattern=r"^\w+$", max_length=200)]


@dataclass(frozen=True, kw_only=True)
class MemberProof(Strict):
    """How a member is proved: what is imported, the operators that torch has then, and a call with its known answer.

    Lists among `arguments` and `options` become tensors: of numbers with a point float32, of whole ones int64.
    `gives` is what the call returns, of several results the first; empty where no call is known.
    """

    imports: Annotated[list[Dotted], Limits(min_length=1)]
    operators: list[Operator] = field(default_factory=list)
    call: Dotted | None = None
    arguments: list[Value] = field(default_factory=list)
    options: dict[Variable, Value] = field(default_factory=dict)
    gives: Value = field(default_factory=list)
    within: Annotated[float, Limits(ge=0, le=1)] = 1e-5

    def __post_init__(self) -> None:
        if (self.call is None) != (self.gives == []):
            raise ValueError("a call needs the answer that it gives, and an answer its call")


@dataclass(frozen=True, kw_only=True)
class Loosened(Sourced):
    """A line of a member's own files that pins more than the member needs, and what stands there instead.

    `line` is the whole line without the space around it; where `to` is empty it goes. A file in which the line does not
    stand just once is an error.
    """

    file: Inside
    line: Annotated[Text, Limits(min_length=1)]
    to: Text = ""


@dataclass(frozen=True, kw_only=True)
class Fitted(Sourced):
    """What `fits` said of one published file beside one torch: seen once, and seen again before it is installed."""

    torch: VersionText
    python: Text = ""
    file: Sha256
    answer: Literal["fits", "does_not_fit", "unknown"]
    reason: Text


@dataclass(frozen=True, kw_only=True)
class JudgedCandidate(Strict):
    """One way in which a member can be had, and why it was taken or not."""

    how: How
    version: Text = ""
    answer: Taken
    why: Text


@dataclass(frozen=True, kw_only=True)
class Undecided(Sourced):
    """A wheel of which nobody could say whether it fits; `files` are those that were looked into, by their hash.

    It is taken where that is asked for, and held against the torch that is there before it is installed.
    """

    version: VersionText
    index: Text = ""
    after: list[Name] = field(default_factory=list)
    files: list[Sha256] = field(default_factory=list)


VersionLines = dict[Inside, Annotated[list[Word], Limits(min_length=1)]]
"""By header of torch, words whose lines say which release it is and nothing else."""


@dataclass(frozen=True, kw_only=True)
class Membership(Strict):
    """What a component of a stack's profile has beside its kind.

    For `version_headers` of torch and `version_lines` alone no member is built again.
    """

    binds: Binds
    torch: Name
    candidates: list[JudgedCandidate]
    proof: MemberProof | None = None
    version_headers: list[Inside] = field(default_factory=list)
    version_lines: VersionLines = field(default_factory=dict)
    undecided: Undecided | None = None

    UNSAID = ("undecided",)
