"""What upstream's files decide about a build, read from docs/ledger.toml: one rule a row, with where it was seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, get_args

from packaging.version import Version

from xpusetup.base.document import read_as
from xpusetup.base.values import Confidence, Limits, Name, Strict, Text, ValueCheck, parse_toml
from xpusetup.config.profile import Profile, SourceComponent

LEDGER_FILE = Path(__file__).parents[2] / "docs/ledger.toml"
"""Where the rows are."""
Evidence = Literal["built", "stand-in", "read", "elsewhere", "nobody"]
SEEN: dict[Evidence, str] = {
    "built": "it ran for real",
    "stand-in": "read there, and a stand-in does the same",
    "read": "read there, not tried",
    "elsewhere": "read at another commit",
    "nobody": "nobody could read it",
}
THERE = {"built", "stand-in", "read"}
"""How what was read at the release's own commit was seen."""
Verb = Literal[
    "env", "no-env", "sources", "sets", "vendored", "pin", "brings", "runs", "gcc", "cmake", "python", "pin-file",
    "version-file",
]  # fmt: skip
BRANCH = "main"
"""The release of a source that follows a branch."""


def _known(text: str) -> str:
    verb, _, rest = text.partition(" ")
    if verb not in get_args(Verb) or not rest:
        raise ValueError(f"begins with none of {', '.join(get_args(Verb))}, or says nothing after it")
    return text


Ours = Annotated[Text, ValueCheck(_known)]


@dataclass(frozen=True, kw_only=True)
class End(Strict):
    """What ends a rule, and the last release for which it holds; without one it is not known that anything has."""

    by: Text
    release: Text = ""

    @property
    def told(self) -> str:
        """How it is said."""
        return f"ends with {self.release}: {self.by}" if self.release else f"no end is known: {self.by}"


@dataclass(frozen=True, kw_only=True)
class LedgerRule(Strict):
    """One rule: the releases of a source it holds for, where it is written, how it was seen, what of ours follows it.

    `commit` is the one that was read for all its releases, `but` names those that were seen otherwise. `confidence` is
    that of what was not read at the release's own commit; what was is confirmed. `until` is said of rules that end.
    """

    id: Name
    releases: Annotated[list[Text], Limits(min_length=1)]
    rule: Text
    file: Text
    commit: Text = ""
    seen: Evidence
    but: dict[Text, Evidence] = field(default_factory=dict)
    confidence: Literal["likely", "unconfirmed"] | None = None
    ours: list[Ours] = field(default_factory=list)
    left: Text = ""
    until: End | None = None

    def __post_init__(self) -> None:
        if self.until and self.until.release and self.until.release != self.releases[-1]:
            raise ValueError(f"until names {self.until.release}, and the last of its releases is {self.releases[-1]}")
        if strange := sorted(set(self.but) - set(self.releases)):
            raise ValueError(f"but names {strange[0]}, which is none of its releases")
        if (self.confidence is None) != (set(map(self.seen_of, self.releases)) <= THERE):
            raise ValueError("confidence is said of what was not read at its commit, and of that alone")
        if not self.ours and not self.left:
            raise ValueError("needs ours, or left with the reason why nothing of ours follows")

    def seen_of(self, release: str) -> Evidence:
        """Say how the rule was seen for one of its releases."""
        return self.but.get(release, self.seen)


@dataclass(frozen=True, kw_only=True)
class _File(Strict):
    commits: dict[Text, dict[Text, Text]]
    torch: list[LedgerRule]
    vision: list[LedgerRule]
    audio: list[LedgerRule]
    triton: list[LedgerRule]


@dataclass(frozen=True)
class LedgerRow:
    """A rule for one release of one source. `place` is its file with the commit that was read, `told` how in words.

    `until` says of a rule that ends with which release, and by what.
    """

    of: str
    release: str
    id: str
    rule: str
    file: str
    commit: str
    seen: Evidence
    confidence: Confidence
    ours: tuple[str, ...]
    left: str
    until: str
    place: str
    told: str


def short(commit: str) -> str:
    """Give the first digits of a commit, and anything else as it is."""
    return commit[:12] if len(commit) == 40 else commit


def parse_ledger(text: str) -> list[LedgerRow]:
    """Read the ledger: every rule once for each release that it holds for, in the order of the file."""
    file = read_as(_File, parse_toml(text))
    sources = {"torch": file.torch, "vision": file.vision, "audio": file.audio, "triton": file.triton}
    return [
        _row(file, of, rule, release) for of, rules in sources.items() for rule in rules for release in rule.releases
    ]


def _row(file: _File, of: str, rule: LedgerRule, release: str) -> LedgerRow:
    known = next((commits for name, commits in file.commits.items() if rule.file.startswith(name)), {})
    seen, commit = rule.seen_of(release), rule.commit or known.get(release, "")
    return LedgerRow(
        of=of,
        release=release,
        id=rule.id,
        rule=rule.rule,
        file=rule.file,
        commit=commit,
        seen=seen,
        confidence="confirmed" if seen in THERE else rule.confidence or "likely",
        ours=tuple(rule.ours),
        left=rule.left,
        until=rule.until.told if rule.until else "",
        place=f"{rule.file} @ {short(commit)}" if commit else rule.file,
        told=SEEN[seen],
    )


def rows_of(ledger: list[LedgerRow], profile: Profile) -> list[LedgerRow]:
    """Give the rows of what a profile builds from source; those of torch are rules of builds for Intel GPUs."""
    releases = {
        part.name: release_of(part)
        for part in profile.components
        if isinstance(part, SourceComponent) and (part.name != "torch" or part.inspect.xpu)
    }
    return [row for row in ledger if releases.get(row.of) == row.release]


def release_of(part: SourceComponent) -> str:
    """Give the release that a source is of, as the ledger names it: 2.14, or main for a branch."""
    if part.ref and not part.tag:
        return BRANCH
    version = Version(part.version)
    return f"{version.major}.{version.minor}"
