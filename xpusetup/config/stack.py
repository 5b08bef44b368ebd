"""A stack: what stands on the torch of a profile. Its file becomes a profile of torch and its members.

A member's candidates are components of the usual kinds, in the order in which they are wanted. Taken is the published
wheel that is known to fit the profile's torch, else the source, else the member is left out for its reason.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Literal

from packaging.utils import canonicalize_name

from xpusetup.base.errors import UsageError
from xpusetup.base.values import LONGEST_WORD, Inside, Limits, Name, Operand, Specifiers, Strict, Summary, Text
from xpusetup.config.load import parse_data
from xpusetup.config.member import (
    Binds,
    Fitted,
    JudgedCandidate,
    MemberProof,
    Membership,
    Undecided,
    VersionLines,
    rank,
)
from xpusetup.config.profile import (
    Component,
    Pins,
    Profile,
    SkippedComponent,
    SourceComponent,
    Start,
    Tier,
    WheelComponent,
)

TORCH = "torch"
JUDGED = {"fits": "fits", "does_not_fit": "does not fit", "unknown": "nobody knows whether it fits"}
WORDS = {"source": "built from source", "wheel": "as the published wheel", "skip": "left out"}


def _share(data: Any) -> Any:
    """Write into each candidate what stands once for all of them."""
    if not isinstance(data, dict) or not isinstance(data.get("candidates"), list):
        return data
    shared = {key: data[key] for key in ("name", "distribution") if key in data}
    after = {"after": [TORCH, *data["after"]] if isinstance(data.get("after"), list) else [TORCH]}
    return {
        **data,
        "candidates": [
            {**shared, **({} if each.get("kind") == "skip" else after), **each} if isinstance(each, dict) else each
            for each in data["candidates"]
        ],
    }


@dataclass(frozen=True, kw_only=True)
class MemberTable(Strict):
    """A distribution on top of torch. What its candidates share, name and distribution, stands once."""

    name: Name
    distribution: Name
    binds: Binds
    after: list[Name] = field(default_factory=list)
    memory_per_job_gib: Annotated[float | None, Limits(gt=0, le=LONGEST_WORD)] = None
    candidates: Annotated[list[Component], Limits(min_length=1)]
    fits: list[Fitted] = field(default_factory=list)
    proof: MemberProof | None = None

    PREPARE = staticmethod(_share)

    def __post_init__(self) -> None:
        kinds = [each.kind for each in self.candidates]
        if len({*kinds}) < len(kinds):
            raise ValueError("has two candidates of one kind")
        if "skip" in kinds[:-1]:
            raise ValueError("is left out only where nothing else is left: skip is the last candidate")
        if {each.name for each in self.candidates} != {self.name}:
            raise ValueError("has a candidate of another name")


@dataclass(frozen=True, kw_only=True)
class Stack(Strict):
    """What stands on a torch: `torch` names the profile that it is of, `parts` what else of that profile is taken.

    `requirements` are what members need beside what the profile pins, to be built and to run; a name that stands there
    too has this version. What of the profile no `parts` name is left out. `version_headers` of torch (below its include
    folder) say which release it is and nothing else, of those in `version_lines` the lines with these words do: for
    them alone no member is built again.
    """

    schema_: Literal[1]
    name: Name
    summary: Summary
    tier: Tier
    tried: Text
    torch: Annotated[Operand, Limits(min_length=1)]
    parts: list[Name] = field(default_factory=list)
    python: Specifiers = ""
    requirements: Pins = field(default_factory=partial(Pins, pins=[]))
    version_headers: list[Inside] = field(default_factory=list)
    version_lines: VersionLines = field(default_factory=dict)
    starts: list[Start] = field(default_factory=list)
    members: Annotated[list[MemberTable], Limits(min_length=1)]


def parse_stack(text: str, origin: str) -> Stack:
    """Read a stack; `origin` names the file in messages. Raises UsageError with all errors of the file."""
    stack = parse_data(text, Stack, origin)
    names = [member.name for member in stack.members]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{origin}: members: the name {twice[0]!r} stands twice", fix=f"correct {origin}")
    return stack


def make_profile(stack: Stack, base: Profile) -> Profile:
    """Give the profile that a stack is: torch and what it needs, then its members. Raises UsageError."""
    kept = list(_kept(stack, base))
    torch = next((part for part in kept if part.name == TORCH), None)
    if torch is None or torch.kind == "skip":
        raise UsageError(f"{base.name} provides no torch that {stack.name} could stand on", fix="name another profile")
    members = sorted(stack.members, key=lambda member: rank(member.binds))
    chosen = [choose(member, stack, base.name, torch.version) for member in members]
    _check_names(stack, [*kept, *chosen])
    memory = (each.memory_per_job_gib or 0 for each in stack.members)
    return replace(
        base,
        name=stack.name,
        summary=stack.summary,
        tier=stack.tier,
        tried=stack.tried,
        python=",".join(filter(None, (base.python, stack.python))),
        memory_per_job_gib=max((base.memory_per_job_gib, *memory)),
        build_requirements=_join_pins(base.build_requirements, stack.requirements),
        published=_publish(base, kept, chosen),
        hashes={**base.hashes, **_hold(members, chosen, torch.version)},
        starts=stack.starts,
        components=[*kept, *chosen],
    )


def _kept(stack: Stack, base: Profile) -> Iterator[Component]:
    """Give what of the profile is taken: torch, what is named, and of the rest a word that it is left out."""
    names = {part.name for part in base.components}
    if unknown := next((name for name in stack.parts if name not in names), ""):
        raise UsageError(f"{base.name} has no component {unknown!r}", fix=f"it has: {', '.join(sorted(names))}")
    own = {member.name for member in stack.members}
    for part in base.components:
        if part.name in {TORCH, *stack.parts} or part.kind == "skip":
            yield part
        elif part.name not in own:
            reason = f"{base.name} has it, and it is none of the stack {stack.name}"
            yield SkippedComponent(kind="skip", name=part.name, reason=reason)


def _check_names(stack: Stack, parts: Iterable[Component]) -> None:
    """Refuse names that stand twice, and what a member comes after and is not there."""
    seen: set[str] = set()
    for part in parts:
        if part.name in seen:
            raise UsageError(f"{stack.name} has {part.name!r} twice", fix="give the member another name")
        seen.add(part.name)
    for member in stack.members:
        if lost := next((name for name in member.after if name not in seen), ""):
            raise UsageError(
                f"{member.name} of {stack.name} comes after {lost!r}, which is none of it", fix="correct after"
            )


def _join_pins(base: Pins, more: Pins) -> Pins:
    """Put pins over those of the profile; the profile's own of the same name go."""
    named = {_pinned(pin) for pin in more.pins}
    kept = [pin for pin in base.pins if _pinned(pin) not in named]
    notes = "; ".join(filter(None, (base.note, more.note)))
    return replace(base, pins=[*kept, *more.pins], built=more.built, note=notes)


def _pinned(pin: str) -> str:
    return canonicalize_name(pin.partition("==")[0].strip())


def _publish(base: Profile, kept: Iterable[Component], chosen: Iterable[Component]) -> Any:
    """Give what `install` takes: of the profile's published wheels those that are kept, and the members that fit."""
    if base.published is None:
        return None
    names = {canonicalize_name(part.distribution) for part in kept if part.kind != "skip"}
    own = [pin for pin in base.published.wheels if _pinned(pin) in names]
    more = [f"{part.distribution}=={part.version}" for part in chosen if part.kind == "wheel"]
    return replace(base.published, wheels=[*own, *more]) if own else None


# Which candidate of a member is taken.


def choose(member: MemberTable, stack: Stack, profile: str, torch: str) -> Component:
    """Give the first candidate that can be had on this torch, the profile's, with the reason for each of them.

    Raises UsageError where none can be.
    """
    rows: list[JudgedCandidate] = []
    taken: Component | None = None
    for part in member.candidates:
        good, why = _judge(member, part, torch)
        answer: Literal["taken", "refused", "not needed"] = (
            "refused" if not good else "not needed" if taken else "taken"
        )
        taken = part if good and taken is None else taken
        version = "" if part.kind == "skip" else part.version
        rows.append(JudgedCandidate(how=part.kind, version=version, answer=answer, why=why))
    if taken is None:
        told = "; ".join(f"{WORDS[row.how]}: {row.why}" for row in rows)
        fix = "give it a candidate of the kind source, or of the kind skip with a reason"
        raise UsageError(f"{member.name} cannot be had on torch {torch}: {told}", fix=fix)
    about = Membership(
        binds=member.binds,
        torch=profile,
        candidates=rows,
        proof=member.proof,
        version_headers=stack.version_headers,
        version_lines=stack.version_lines,
        undecided=_undecided(member, torch),
    )
    source = next((part for part in member.candidates if isinstance(part, SourceComponent)), None)
    made: Component = replace(taken, member=about)
    if isinstance(made, WheelComponent) and source is not None:
        return replace(made, from_source=replace(source, member=about))
    return made


def _judge(member: MemberTable, part: Component, torch: str) -> tuple[bool, str]:
    """Say whether a candidate can be had on a torch, and why."""
    if isinstance(part, SkippedComponent):
        return True, part.reason
    if isinstance(part, SourceComponent):
        return True, f"its source, compiled against torch {torch}" if member.binds != "none" else "its source"
    seen = [each for each in member.fits if each.torch == torch]
    if not seen:
        return False, f"nobody has seen whether {part.distribution} {part.version} fits torch {torch}"
    found = next((each for each in seen if each.answer == "fits"), seen[0])
    return found.answer == "fits", f"{JUDGED[found.answer]} torch {torch}: {found.reason}"


def _undecided(member: MemberTable, torch: str) -> Undecided | None:
    """Give the wheel of a member of which nobody could say whether it fits this torch; None where that is known."""
    seen = [each for each in member.fits if each.torch == torch]
    part = next((each for each in member.candidates if isinstance(each, WheelComponent)), None)
    if part is None or any(each.answer != "unknown" for each in seen):
        return None
    return Undecided(
        version=part.version,
        index=part.index,
        after=part.after,
        files=[each.file for each in seen],
        source=part.source,
        confidence=part.confidence,
    )


def _hold(members: Iterable[MemberTable], chosen: Iterable[Component], torch: str) -> dict[str, list[str]]:
    """Hold the wheels that are taken to the files that were seen to fit this torch: a release may have others too."""
    taken = {
        part.name: f"{canonicalize_name(part.distribution)}=={part.version}" for part in chosen if part.kind == "wheel"
    }
    return {
        taken[each.name]: [one.file for one in each.fits if one.torch == torch and one.answer == "fits"]
        for each in members
        if each.name in taken
    }
