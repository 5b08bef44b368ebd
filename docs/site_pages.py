"""What the site has beside the pages of this folder: a hook of mkdocs, see mkdocs.yml.

Pages made from the program's own data: one for every command, every check, every failure of PyTorch on Linux that
`explain` knows and every profile, with a list of each kind, and the keys of a profile.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, InclusionLevel

from xpusetup.commands.profiles import make_schema
from xpusetup.config.shipped import every_profile
from xpusetup.doctor.question import check_texts
from xpusetup.explain.finder import parse_signatures
from xpusetup.system.files import package_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

    from xpusetup.config.profile import Profile
    from xpusetup.doctor.question import CheckText
    from xpusetup.explain.finder import Signature

CHECKOUT = Path(__file__).parents[1]
FAILURES = "data/signatures"
ESCAPED = re.compile(r"`[^`\n]*\\\|[^`\n]*`")
CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
BLOCK = re.compile(r"(?<=<pre><code>).*?(?=</code></pre>)", re.DOTALL)
WORD = re.compile(r"[^\s<>]*\w-[^\s<>]*|--[^\s<>]+")
"""Words of code in which a browser would break a line: options, paths."""
TITLE = re.compile(r"<th[^>]*>(.*?)</th>")
BESIDE_EACH_OTHER = 4
"""Columns that have room on a telephone: rows of more are shown there as blocks, each value behind its title."""
LONG = re.compile(r"[^\s<>]{20,}(?![^<]*>)")
CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>)")
PARTS = re.compile(r"[_./=|:,](?=[\w\[])(?!\d)")
COMMANDS = "commands.md"
KEYS = "profile-keys.md"
CHECKS = "# Every check\n\nWhat `xpusetup doctor` looks at, area by area; [how to read its screen](../trouble.md)."
KNOWN = "# Every failure\n\nWhat `xpusetup explain` knows of PyTorch on Linux; [how to read it](../trouble.md#a-log)."
PROFILES = "# Every profile\n\nWhat ships, tier by tier; [what a profile is](../profiles.md)."
ELSEWHERE = ("win.", "docker.", "ov.", "ollama.", "llama.", "vllm.", "ray.", "sdnext.", "hub.", "app.", "ci.")
"""Failures of Windows, of containers and of other programs: `explain` knows them, the site leaves them out."""
WINDOWS = "msvc"
HEAD = "| name | in short |\n|---|---|"
BAR = "&#124;"
FOR = {
    COMMANDS: ("For people who look up a command or an option.", 0.5),
    "json.md": ("For people who write programs around xpusetup.", 0),
    "sycl-words.md": ("For people who compile with the tool chain from Intel's wheels.", 0),
    KEYS: ("For people who write a profile.", 0.2),
    "commands/": ("For people who look up this command.", 0.3),
    "checks/": ("For people whose `xpusetup doctor` names this check.", 0.2),
    "failures/": ("For people whose log has this failure.", 0.2),
    "releases/": ("For people who install or build a release.", 0.2),
}
"""For whom a made page is, by its place or folder, and how much it weighs in a search; 0: it is not searched."""
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
UNFILLED = re.compile(r"(?:<\w+>[ ().]*)+")
"""What says something only of a machine."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put the made pages beside the written ones."""
    for place, text in make_pages().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give the lists of the made pages their places in the navigation."""
    below: Mapping[str, Iterable[object]] = {
        "Trouble": ({"Every check": "checks/index.md"}, {"Every failure": "failures/index.md"}),
        "Reference": ({"Keys of a profile": KEYS}, {"Every profile": "releases/index.md"}),
    }
    for section in config.nav or []:
        for title, pages in section.items():
            if title in below:
                pages.extend(below[title])
    return config


def on_page_markdown(markdown: str, page: Page, files: Files, **_told: object) -> str:
    """Say for whom a made page is; leave the words of links to what only the repository has."""
    place = page.file.src_uri
    listed = _list_commands(markdown) if place == COMMANDS else markdown
    words, weight = FOR.get(place) or FOR.get(place.partition("/")[0] + "/", ("", 1))
    if words:
        page.meta["search"] = {"boost": weight} if weight else {"exclude": True}
        listed = re.sub(r"\A(# .*\n)", rf"\1\n{words}\n", listed)
    text = ESCAPED.sub(lambda code: code[0].replace("\\|", "|"), listed)  # in code of a table, where GitHub needs it
    folder = posixpath.dirname(place)
    return LINK.sub(lambda found: found[1] if _is_outside(files, folder, found[2]) else found[0], text)


def _is_outside(files: Files, folder: str, target: str) -> bool:
    """Say whether a link leads to a file or folder of the repository that the site does not have."""
    path = target.partition("#")[0]
    if "://" in target or not path:
        return False
    file = files.get_file_from_path(posixpath.normpath(posixpath.join(folder, path)))
    return file is None or file.inclusion == InclusionLevel.EXCLUDED


def on_page_content(html: str, **_told: object) -> str:
    """Let names in tables break behind what parts their words, options in code not at all; title cells of wide ones."""
    html = BLOCK.sub(lambda block: WORD.sub(r"<span>\g<0></span>", block[0]), html)
    return TABLE.sub(lambda table: _name_cells(CELL.sub(lambda cell: _break_names(cell[0]), table[0])), html)


def _break_names(cell: str) -> str:
    long = LONG.sub(lambda word: PARTS.sub(r"\g<0><wbr>", word[0]), cell)
    return CODE.sub(lambda name: PARTS.sub(r"\g<0><wbr>", name[0]), long)


def _name_cells(table: str) -> str:
    titles = [re.sub(r"<[^>]+>", "", title).replace('"', "&quot;") for title in TITLE.findall(table)]
    if len(titles) <= BESIDE_EACH_OTHER:
        return table
    title = itertools.cycle(titles)
    wide = re.sub("<td", lambda cell: f'{cell[0]} data-title="{next(title)}"', table)
    return wide.replace("<table", "<table data-wide", 1)


def make_pages() -> dict[str, str]:
    """Give the text of each made page by its place."""
    known = parse_signatures(package_texts(FAILURES))
    failures = [one for one in known if not one.id.startswith(ELSEWHERE) and WINDOWS not in one.id]
    return {
        KEYS: _keys(),
        **{f"commands/{_file_name(name)}.md": _command(text) for name, text in _commands(_commands_page())},
        **_kind("checks", CHECKS, ((one.area, one.id, one.title, _check(one)) for one in check_texts().values())),
        **_kind("failures", KNOWN, ((one.phase, one.id, one.cause, _failure(one)) for one in failures)),
        **_kind("releases", PROFILES, ((one.tier, one.name, one.summary, _profile(one)) for one in every_profile())),
    }


def _keys() -> str:
    """Give the tables of a profile, each with its meaning and keys, from the types that read it."""
    schema: dict[str, Any] = dict(make_schema().data)
    tables: dict[str, Any] = {"A profile": schema, **schema["$defs"]}
    parts = ["# Keys of a profile", "Each table of a [profile](profiles.md), by the name of its type."]
    for name, table in tables.items():
        keys = ", ".join(f"`{key}`" for key in table.get("properties", ()))
        parts += [f"## {name}", table.get("description", ""), f"Keys: {keys}." if keys else ""]
    return _join(parts)


def _kind(folder: str, head: str, rows: Iterable[tuple[str, str, str, str]]) -> dict[str, str]:
    """Give a page for each row of group, id, words and text, and the list of them, group by group."""
    pages: dict[str, str] = {}
    listed: dict[str, list[str]] = {}
    for group, name, words, text in sorted(rows):
        pages[f"{folder}/{name}.md"] = text
        listed.setdefault(group, []).append(f"| [`{name}`]({name}.md) | {words.replace('|', BAR)} |")
    tables = ("\n".join((f"## {group}\n", HEAD, *lines)) for group, lines in listed.items())
    return {f"{folder}/index.md": _join([head, *tables]), **pages}


def _commands_page() -> str:
    return (CHECKOUT / "docs" / COMMANDS).read_text()


def _commands(page: str) -> list[tuple[str, str]]:
    """Give each command of the page of commands, which a test holds to the command line, with its part of it."""
    return [(part.partition("\n")[0], part) for part in page.split("\n## xpusetup ")[1:]]


def _command(text: str) -> str:
    return f"# xpusetup {text.rstrip()}\n\n[All commands](../{COMMANDS}), [what they write with --json](../json.md)\n"


def _list_commands(page: str) -> str:
    """Give the head of the page of commands, and in place of their parts a list."""
    told = ((name, text.split("\n\n")[1]) for name, text in _commands(page))
    rows = (f"| [{name}](commands/{_file_name(name)}.md) | {words} |" for name, words in told)
    return "\n".join((page.partition("\n## xpusetup ")[0], "## Each command\n", HEAD, *rows, ""))


def _file_name(command: str) -> str:
    return command.replace(" ", "-")


def _check(check: CheckText) -> str:
    about = f"{check.area} · {check.confidence} · [all checks](index.md)"
    lines = [f"# {check.id}: {check.title} {{#{check.id}}}", about, check.why, check.say]
    for family, commands in check.commands.items():
        lines.append(f"{family}:\n\n" + "\n".join(f"    {command}" for command in commands))
    return _join([*lines, *_follows(check.follows), _source(check.source)])


def _failure(failure: Signature) -> str:
    about = f"{failure.phase} · [all failures](index.md)"
    lines = [f"# {failure.id} {{#{failure.id}}}", about, failure.cause, failure.fix]
    if failure.commands:
        lines.append("\n".join(f"    {command}" for command in failure.commands))
    lines.append(f"A line of it:\n\n    {failure.example}")
    return _join([*lines, f"{failure.confidence}; {_source(failure.source)}"])


def _profile(profile: Profile) -> str:
    about = f"Tier {profile.tier}; tried: {profile.tried}. Python {profile.python}. [All profiles](index.md)"
    head = [f"# {profile.name}", profile.summary, about]
    if profile.toolkit:
        head.append(f"Toolkit: {profile.toolkit.kind} {profile.toolkit.preferred}.")
    parts = (f"| {part.name} | {part.kind} | {getattr(part, 'version', '') or ''} |" for part in profile.components)
    rows = ["| component | kind | version |", "|---|---|---|", *parts]
    name = profile.name
    shown = f"All of it: `xpusetup profiles show {name}`; what it would do here: `xpusetup plan --profile {name}`."
    return _join([*head, "\n".join(rows), shown])


def _follows(names: Iterable[str]) -> Iterator[str]:
    if told := ", ".join(f"[`{name}`]({name}.md)" for name in names):
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
