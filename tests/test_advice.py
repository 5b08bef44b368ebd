"""Advice: every command that a text of this program names is a whole one, and carries the situation it is given in."""

from __future__ import annotations

import ast
import copy
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from in_process import repeats
from xpusetup.base.command import Advice, Command, whole_lines
from xpusetup.base.values import parse_toml
from xpusetup.base.verbs import ALIASES, BESIDE, COMMANDS, options_about_builds
from xpusetup.cli import app, main
from xpusetup.commands.result import complete, complete_result
from xpusetup.doctor import resources

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[1] / "xpusetup"
ROOT = typer.main.get_command(app)
CONTEXT = {"--profile": ["torch-2.5"], "--root": ["/builds/my root"]}
NAMED = re.compile(r"(?<![\w./-])xpusetup ([a-z][a-z-]*)")
STOPS = re.compile(r"\n|[;)`'\">]|, |(?<=\w)\.(?= |$)| > | \| | # | --$| \(| · |\s{3}|$")
NO_VERB = {"profile", "in", "itself", "for", "was", "calls", "and", "writes", "installed", "names", "are", "sim"}
"""What follows the program's name where a text speaks of it, or names its version."""
TITLES = ("verify/outcomes.py", "emit/github.py", "emit/github.py", "helpers/helperlib/verify/verdicts.py")
"""Modules in whose texts a command is who wrote a file, and no advice."""


def command_of(words: list[str]) -> tuple[Any, list[str]] | None:
    """Give the click command that words name, and the rest of them."""
    found: Any = ROOT
    words = [*ALIASES.get(words[0], words[0]).split(), *words[1:]] if words else []
    if " ".join(words[:2]) in BESIDE:
        return found.commands[" ".join(words[:2])], words[2:]
    while words and hasattr(found, "commands"):
        if words[0] not in found.commands:
            return None
        found, words = found.commands[words[0]], words[1:]
    return None if hasattr(found, "commands") else (found, words)


def parse(text: str) -> None:
    """Parse a command line as the program would, without running it. Fails for one that the program refuses."""
    head, _, command = text.partition(" -- ")
    found = command_of(shlex.split(head)[1:])
    assert found is not None, f"no such command: {text}"
    known, words = found
    if not words or words[-1] not in ("--help", "-h"):
        known.make_context(known.name, [*words, *(["--", *shlex.split(command)] if command else [])])


def commands_in(text: str) -> Iterator[str]:
    """Give the commands that stand in a running text."""
    for found in NAMED.finditer(text):
        if found[1] in NO_VERB:
            continue
        rest = text[found.start() :]
        end = STOPS.search(rest)
        assert end is not None
        yield rest[: end.start()].strip()


def said_in_code() -> Iterator[tuple[str, str]]:
    """Give every text of the program's code that is no docstring, what is put into it as a word of its kind."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text()
        if "simxpu" in path.parts or "xpusetup " not in source:
            continue  # most modules name no command, and each worker of the tests would read all of them
        tree = ast.parse(source)
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if id(node) in docs or id(node) in parts:
                continue
            if isinstance(node, ast.JoinedStr):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", "".join(map(_piece, node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node.value


def _piece(part: ast.expr) -> str:
    """Give what a placeholder would become: options for options, else a word."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    text = ast.unparse(part.value)
    if "options" in text:
        return " --profile sim"
    if "join(" in text or text == "given":
        return ""
    return "build" if text in ("verb", "made_by", "command", "standing.command", "purpose.command") else "sim"


def said_in_data() -> Iterator[tuple[str, str]]:
    def walk(where: str, data: Any) -> Iterator[tuple[str, str]]:
        if isinstance(data, str):
            yield where, data
        for key, each in data.items() if isinstance(data, dict) else enumerate(data if isinstance(data, list) else ()):
            yield from walk(f"{where}/{key}", each)

    for path in sorted((PACKAGE / "data").rglob("*.toml")):
        yield from walk(path.name, parse_toml(path.read_text()))


SAID = [
    (where, command)
    for where, text in (*said_in_code(), *said_in_data())
    for command in commands_in(text)
    if not where.startswith(TITLES)
]


def fixes_in_code() -> Iterator[tuple[str, str]]:
    """Give each text that is given as a fix, or kept under that name, with its place."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            named = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "fix"
            if named or (isinstance(node, ast.keyword) and node.arg == "fix"):
                value = node.value  # type: ignore[attr-defined]
                parts = value.values if isinstance(value, ast.JoinedStr) else [value]
                if all(isinstance(part, ast.Constant | ast.FormattedValue) for part in parts):
                    yield f"{path.relative_to(PACKAGE)}:{value.lineno}", "".join(map(_piece, parts))


def test_no_command_hides_in_the_words_of_a_fix() -> None:
    """A sentence is not searched: what is to get the options of a situation is given as a command."""
    hidden = [
        f"{where}: {command}"
        for where, text in fixes_in_code()
        if not where.startswith("helpers")
        for command in commands_in(text)
        if any(f"{command} ".startswith(f"xpusetup {verb} ") and options_about_builds(verb) for verb in COMMANDS)
        if not re.search("--into DIR", command)  # these name all that they are about
    ]
    assert hidden == []


def test_there_is_advice_to_look_at() -> None:
    assert len(SAID) > 90


def test_every_command_is_whole() -> None:
    for where, command in SAID:
        hold_whole(where, command)


def hold_whole(where: str, command: str) -> None:
    parse(command)
    completed = complete(Command(command), CONTEXT)
    parse(completed)
    verbs = (verb for verb in COMMANDS if f"{command} ".startswith(f"xpusetup {verb} "))
    verb = max(verbs, key=len, default="")
    takes = options_about_builds(verb)
    words = command.removeprefix(f"xpusetup {verb}").split()
    named = takes & {"PROFILE", "BUILD"} and words and not words[0].startswith("-")
    if verb and not named and not {"--profile", "--name", "--bundle"} & {*words}:
        assert ("torch-2.5" in completed.split()) == ("--profile" in takes), where
        assert "--root" in command or ("--root '/builds/my root'" in completed) == ("--root" in takes), where


def test_which_commands_get_the_options_of_a_situation() -> None:
    """Those that are about a profile or a build; `wheel check --profile` asks whether a wheel is of one."""
    without = {name for name in COMMANDS if not options_about_builds(name)}
    assert without == {
        *("list", "explain", "toolkit", "self", "skill", "setup site", "devices table"),
        *("profiles list", "profiles show", "profiles check", "profiles new", "profiles trust", "profiles schema"),
        *("wheel check", "wheel sign", "bundle verify"),
    }


def test_the_way_without_a_network_names_its_profile_once() -> None:
    question: Any = SimpleNamespace(profile=SimpleNamespace(name="torch-2.5"))
    create = resources._bundle(question, " --from wheels")["create"]
    assert complete(Command(create), CONTEXT).split().count("torch-2.5") == 1


def test_every_command_that_a_workspace_gives_is_one() -> None:
    """Where packing failed, `bundle create FILE` was asked for as a command, and ended with a traceback."""
    pattern = re.compile(r'(?:workspace|self|built)\.command\(\s*"([^"]+)"|about_build\(\s*"([^"]+)"')
    verbs = {"".join(found) for path in PACKAGE.rglob("*.py") for found in pattern.findall(path.read_text())}
    assert {"build", "bundle create", "verify"} <= verbs <= {*COMMANDS}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("xpusetup doctor --for run", "xpusetup doctor torch-2.5 --root '/builds/my root' --for run"),
        ("xpusetup build --profile torch-2.5", "xpusetup build --root '/builds/my root' --profile torch-2.5"),
        ("xpusetup build sim", "xpusetup build sim"),
        ("xpusetup build --profile=sim", "xpusetup build --profile=sim"),
        (
            "xpusetup run -- python -p 8000",
            "xpusetup run --profile torch-2.5 --root '/builds/my root' -- python -p 8000",
        ),
        ("xpusetup verify --json > FILE", "xpusetup verify --profile torch-2.5 --root '/builds/my root' --json > FILE"),
        ("xpusetup profiles list", "xpusetup profiles list"),
        ("xpusetup wheel check --help", "xpusetup wheel check --help"),
        ("xpusetup itself", "xpusetup itself"),
        ("xpusetup status sim", "xpusetup status sim"),
        ("xpusetup remove --root /x --yes", "xpusetup remove --profile torch-2.5 --root /x --yes"),
        ("xpusetup build torch-2.5", "xpusetup build --root '/builds/my root' torch-2.5"),
        ("xpusetup build torch-2.14", "xpusetup build torch-2.14"),
        ("xpusetup emit shell", "xpusetup emit --profile torch-2.5 shell"),
        ("xpusetup run -- python x.py", "xpusetup run --profile torch-2.5 --root '/builds/my root' -- python x.py"),
    ],
)
def test_completed(text: str, wanted: str) -> None:
    assert complete(Command(text), CONTEXT) == wanted
    assert complete(Command(text), {}) == text


def test_a_bundle_names_its_profile() -> None:
    """Of a bundle of sim the fix was the command that had been refused: build torch-2.14 --bundle sim.tar."""
    context = {"--profile": ["torch-2.14"], "--name": ["x"]}
    assert complete(Command("xpusetup build --bundle sim.tar"), context) == "xpusetup build --name x --bundle sim.tar"


def test_a_fix_that_repeats_is_seen() -> None:
    said = " x sim.tar holds sim\n   fix  xpusetup build torch-2.14 --bundle sim.tar\n"
    assert repeats(said, "build --bundle sim.tar -p torch-2.14")
    assert not repeats(said, "build --bundle sim.tar")


def test_only_what_is_a_command_is_touched() -> None:
    """A sentence that names one, as a log may, is none; the prose of a table marks its own."""
    prose = Advice.read("all of it (<xpusetup setup>). Not <this>, and not xpusetup build")
    data = {"text": "xpusetup build", "causes": [{"fix": prose, "commands": [Command("xpusetup build")], "line": 3}]}
    found = complete_result(data, {"--profile": ["sim"]})
    said = "all of it (xpusetup setup sim). Not <this>, and not xpusetup build"
    told = {"fix": said, "commands": ["xpusetup build sim"], "line": 3}
    assert found == {"text": "xpusetup build", "causes": [told]}


def test_what_a_command_is_known_to_be_stays_with_it() -> None:
    known = Command("xpusetup profiles show FILE", "it is new", gaps=("FILE",))
    for same in (Command(known), known.like("x"), complete_result([known], CONTEXT)[0], copy.deepcopy(known)):
        assert (same.why, same.gaps) == ("it is new", ("FILE",))


def test_what_stands_on_a_line_by_itself_is_offered() -> None:
    one, two = Command("xpusetup verify"), Command("xpusetup build")
    assert [*whole_lines(Advice(one, "\nor else: ", two))] == [one]
    assert [*whole_lines(Advice.lines([one, "# read this", two], "\n  "))] == [one, two]
    assert [*whole_lines(one)] == [one]
    assert [*whole_lines("xpusetup verify")] == []


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("emit github -o d", "xpusetup emit github -o d --from source"),
        ("emit github --from wheels -o d", "xpusetup emit github -o d --from source"),
        ("emit github --from=wheels -o d", "xpusetup emit github -o d --from source"),
    ],
)
def test_the_same_command(words: str, wanted: str) -> None:
    fix = Advice("compile: ", Command("the same command with --from source", again=("--from", "source")))
    assert complete_result(fix, {}, words.split()) == f"compile: {wanted}"


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("install --profile sim --root r", "build it instead: xpusetup build sim --root r"),
        ("status --profile sim --name x", "xpusetup build sim --name x"),
        ("doctor --profile sim --facts no.json", "write one: xpusetup doctor sim --save FILE"),
        ("run --profile sim --root r", "xpusetup run --profile sim --root r -- python -c 'import torch'"),
    ],
)
def test_an_error_tells_the_whole_command(
    words: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["xpusetup", *words.split()])
    with pytest.raises(SystemExit):
        main()
    told, *more = capsys.readouterr().err.partition("fix  ")[2].strip().splitlines()
    assert told == fix
    assert bool(more) == told.endswith("FILE"), "what has to be replaced is told below"
    parse(told[told.index("xpusetup") :])


LABELS = {"paste/facts.py", "verify/outcomes.py"}
"""Modules that say so what to paste and which file is read; a screen shows these as they stand."""


def unmarked(module: Path) -> Iterator[str]:
    """Give the commands in a module's code with a word that a person has to replace, which nothing says of them."""
    top = ast.parse(module.read_text())
    calls = [node for node in ast.walk(top) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Command"]
    marked = {node.args[0] for node in calls if any(one.arg in ("gaps", "again") for one in node.keywords)}
    parts = {part for node in ast.walk(top) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(top):
        if isinstance(node, (ast.JoinedStr, ast.Constant)) and node not in marked | parts:
            line = ast.unparse(node).lstrip("f").strip("'\"")
            if re.fullmatch(r"xpusetup .*[ =/](?:[A-Z]{2,})(?: .*)?", line):
                yield f"{module.relative_to(PACKAGE)}: {line}"


def test_a_command_that_a_person_has_to_complete_says_so() -> None:
    """`adopt` told `--into ENV`, and doctor `--save FILE`, as commands that run as they stand."""
    modules = (path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in ("cli", "helpers"))
    asked = (path for path in modules if str(path.relative_to(PACKAGE)) not in LABELS)
    assert [each for path in asked for each in unmarked(path)] == []
