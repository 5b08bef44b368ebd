"""What the site has beside the pages of this folder: a hook of mkdocs, see mkdocs.yml.

README, CHANGELOG and CONTRIBUTING, and pages made from the program's own data: every check, every failure that
`explain` knows, every profile.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

from xpusetup.explain.finder import parse_signatures
from xpusetup.run.tables import check_texts, shipped
from xpusetup.system.files import package_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

    from xpusetup.config.profile import Profile
    from xpusetup.doctor.question import CheckText
    from xpusetup.explain.finder import Signature

CHECKOUT = Path(__file__).parents[1]
FAILURES = "data/signatures"
BESIDE = {
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "reporting.md": "SECURITY.md",
}
"""Pages of the site that are files beside this folder."""
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
UNFILLED = re.compile(r"(?:<\w+>[ ().]*)+")
"""What says something only of a machine."""
OUTSIDE = re.compile(r"^(?:\.\./|containers/|decisions/$|json-schema\.json$)")
"""What a site of pages does not have: files and folders of the repository."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put the made pages beside the written ones."""
    for place, text in make_pages().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give the made pages their places in the navigation."""
    made = [place for place in make_pages() if "/" in place]
    decisions = sorted(f"decisions/{path.name}" for path in (CHECKOUT / "docs/decisions").glob("*.md"))
    folders = ("checks", "failures", "releases")
    parts = {each: [place for place in made if place.startswith(f"{each}/")] for each in folders}
    below: Mapping[str, Iterable[object]] = {
        "Something is wrong": ({"Every check": parts["checks"]}, {"Every failure": parts["failures"]}),
        "Reference": ({"Every profile": parts["releases"]},),
        "How it is made": ({"Decisions": decisions},),
    }
    for section in config.nav or []:
        for title, pages in section.items():
            if title in below:
                pages.extend(below[title])
    return config


def on_page_markdown(markdown: str, **_told: object) -> str:
    """Leave the words of links to what only the repository has."""
    return LINK.sub(lambda found: found[1] if OUTSIDE.match(found[2]) else found[0], markdown)


def make_pages() -> dict[str, str]:
    """Give the text of each made page by its place."""
    return {
        **{place: _moved((CHECKOUT / name).read_text()) for place, name in BESIDE.items()},
        **_by_kind("checks", ((one.area, one.id, _check(one)) for one in check_texts().values())),
        **_by_kind(
            "failures", ((one.phase, one.id, _failure(one)) for one in parse_signatures(package_texts(FAILURES)))
        ),
        **{f"releases/{profile.name}.md": _profile(profile) for profile in shipped()},
    }


def _moved(text: str) -> str:
    """Let the links of a file beside this folder lead to where things are in the site."""
    places = {name: place for place, name in BESIDE.items()}
    return LINK.sub(lambda found: f"[{found[1]}]({places.get(found[2], found[2].removeprefix('docs/'))})", text)


def _by_kind(folder: str, rows: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Give a page for each kind from rows of kind, id and text; an id is the anchor of its text."""
    pages: dict[str, str] = {}
    for kind, _, text in sorted(rows):
        place = f"{folder}/{kind.replace(' ', '-')}.md"
        pages[place] = f"{pages.get(place) or f'# {folder.capitalize()}: {kind}'}\n\n{text}"
    return pages


def _check(check: CheckText) -> str:
    lines = [f"## {check.title} {{#{check.id}}}", f"`{check.id}` · {check.confidence}", check.why, check.say]
    for family, commands in check.commands.items():
        lines.append(f"{family}:\n\n" + "\n".join(f"    {command}" for command in commands))
    return _join([*lines, *_follows(check.follows), _source(check.source)])


def _failure(failure: Signature) -> str:
    lines = [f"## {failure.id} {{#{failure.id}}}", failure.cause, failure.fix]
    if failure.commands:
        lines.append("\n".join(f"    {command}" for command in failure.commands))
    lines.append(f"A line of it:\n\n    {failure.example}")
    return _join([*lines, f"{failure.confidence}; {_source(failure.source)}"])


def _profile(profile: Profile) -> str:
    about = f"Tier {profile.tier}; tried: {profile.tried}. Python {profile.python}."
    head = [f"# {profile.name}", profile.summary, about]
    if profile.toolkit:
        head.append(f"Toolkit: {profile.toolkit.kind} {profile.toolkit.preferred}.")
    parts = (f"| {part.name} | {part.kind} | {getattr(part, 'version', '') or ''} |" for part in profile.components)
    rows = ["| component | kind | version |", "|---|---|---|", *parts]
    name = profile.name
    shown = f"All of it: `xpusetup profiles show {name}`; what it would do here: `xpusetup plan --profile {name}`."
    return _join([*head, "\n".join(rows), shown])


def _follows(names: Iterable[str]) -> Iterator[str]:
    if told := ", ".join(f"`{name}`" for name in names):
        yield f"May be a consequence of {told}."


def _source(source: str) -> str:
    return f"source: <{source}>" if source.startswith("http") and " " not in source else f"source: {source}"


def _join(parts: Iterable[str]) -> str:
    """Join paragraphs, without those of placeholders alone; what stands in <> in prose is no tag."""
    told = (part for part in parts if part and not UNFILLED.fullmatch(part))
    lines = (line for part in told for line in (*part.splitlines(), ""))
    return "\n".join(
        line if line.startswith("    ") or "<http" in line else line.replace("<", "&lt;") for line in lines
    )
