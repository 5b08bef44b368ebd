"""What Typer refuses, told as every other error is: what is wrong, and the whole command that is right."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import InterruptedRunError, UsageError, XpuError
from xpusetup.base.text import nearest
from xpusetup.base.verbs import ALIASES, BESIDE, COMMANDS, MEANT, OLD, VERBS
from xpusetup.cli.finish import begin, finish
from xpusetup.cli.named import Words

Refused: type[Any] = typer.BadParameter.__bases__[0]
"""The error of bad usage, which Typer has from click or brings itself."""
Abort = typer.Abort


def refuse(error: Any, words: Sequence[str]) -> NoReturn:
    """End with an error of Typer's. A group without a command shows its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        raise SystemExit(UsageError.code)
    name = error.ctx.command_path.partition(" ")[2] if error.ctx else ""
    _end(name if name in COMMANDS else "xpusetup", _translate(error, list(words)), words)


def refuse_abort(words: Sequence[str]) -> NoReturn:
    """End where somebody pressed Ctrl-C at a question."""
    _end("xpusetup", InterruptedRunError("interrupted: nothing was done"), words)


def _end(name: str, error: XpuError, words: Sequence[str]) -> NoReturn:
    from xpusetup.system.environment import variable

    def fail() -> NoReturn:
        raise error

    begin({}, Words())  # nothing of an option is known yet
    own = words[: words.index("--")] if "--" in words else words
    finish(name, fail, json="--json" in own or bool(variable("XPUSETUP_JSON")))


def _translate(error: Any, words: list[str]) -> UsageError:
    kind, context = type(error).__name__, error.ctx
    path = context.command_path if context else _path_of(words)
    name = path.partition(" ")[2] or "xpusetup"
    if kind == "NoSuchOption":
        return _no_option(error, name, words)
    if kind == "BadParameter":
        return _bad_value(error, path)
    if kind == "MissingParameter":
        told = error.param.metavar or max(error.param.opts, key=len)
        if error.param.param_type_name == "option":
            asked = f"{min(error.param.opts, key=len)} {told}"
            line = f"{shlex.join(['xpusetup', *words])} {asked}"
            return UsageError(f"{name} needs {asked}", command=Command(line, gaps=(told,)))
        example = next(iter(getattr(context.command, "examples", ())), f"{path} --help")
        means = " ".join((getattr(error.param, "help", "") or "").removesuffix("  [required]").split())
        message = (
            f"{name} needs {told}: {means[:1].lower()}{means[1:].rstrip('.')}" if means else f"{name} needs {told}"
        )
        return UsageError(message, fix=Advice("as in: ", Command(example, gaps=(example,))))
    message = f"{error.option_name} needs a value" if kind == "BadOptionUsage" else error.message
    if extra := re.search(r"unexpected extra argument\(?s?\)? \((.*)\)", error.message):
        message = f"{name}: unexpected argument {extra[1]!r}"
    if unknown := re.search(r"No such command '(.*?)'", error.message):
        return _no_command(unknown[1], context, words)
    return UsageError(message, command=f"{path} --help")


def _path_of(words: Sequence[str]) -> str:
    """Give the program and the command that words name."""
    names = [word for word in words if not word.startswith("-")][:2]
    there = (" ".join(names[:count]) for count in (2, 1) if " ".join(names[:count]) in COMMANDS)
    return f"xpusetup {next(there, '')}".strip()


def _no_command(name: str, context: Any, words: list[str]) -> UsageError:
    group = context.command_path.partition(" ")[2]
    known = (*VERBS, *(old for old in OLD if " " not in old)) if not group else tuple(context.command.commands)
    close = (MEANT.get(name) if not group else None) or nearest(name, known)
    if not close and not group and (named := _profile_of(name)):
        return UsageError(f"there is no command {name!r}; it is a profile", command=f"xpusetup install {named}")
    if not close:
        return UsageError(
            f"there is no command {f'{group} {name}'.strip()!r}", command=f"{context.command_path} --help"
        )
    now = close if group else OLD.get(close, close)
    right = [part for word in words for part in (now.split() if word == name else [word])]
    message = f"there is no command {f'{group} {name}'.strip()!r}; did you mean {f'{group} {close}'.strip()}?"
    return UsageError(message, command=shlex.join(["xpusetup", *right]))


def _profile_of(word: str) -> str:
    from xpusetup.config.shipped import full_name, profile_names

    return word if full_name(word) in profile_names() else ""


def _bad_value(error: Any, path: str) -> UsageError:
    """Tell a value that cannot be, and where it came from."""
    from xpusetup.cli.command import variable_of

    message = error.message[:1].lower() + error.message[1:]
    if error.param is None:
        return UsageError(message, command=f"{path} --help")
    variable = variable_of(error.param, error.ctx)
    option = error.param.metavar if error.param.param_type_name == "argument" else max(error.param.opts, key=len)
    if variable:
        return UsageError(f"{variable}: {message}", fix=f"unset {variable}, or give it a value that {option} takes")
    return UsageError(f"{option}: {message}", command=f"{path} --help")


def _no_option(error: Any, name: str, words: list[str]) -> UsageError:
    """Tell an option that is not known: where it belongs, which is near, or that there is none."""
    option = error.option_name
    if error.ctx and error.ctx.parent is None and (right := _put_behind(error.ctx.command, words)):
        return UsageError(f"{option} goes after the command", command=shlex.join(right))
    if option == "--dry-run" and name in ASKING:
        line = shlex.join(["xpusetup", *(word for word in words if word != option)])
        return UsageError(f"{name} has no {option}: it shows what it would do, and asks first", command=line)
    if beside := INSTEAD.get((name, option)):
        (verb, *more), why = beside[0].split(), beside[1]
        commands = error.ctx.find_root().command.commands
        right = [verb, *_only_known(words[1:], commands[name], commands[verb]), *more]
        return UsageError(f"{name} has no {option}: {why}", command=shlex.join(["xpusetup", *right]))
    if (name, option) == ("emit", "--bundle") and "module" in words:
        return _module_of_bundle(words)
    if error.possibilities:
        close = error.possibilities[0]
        right = [re.sub(rf"^{re.escape(option)}(?==|$)", close, word) for word in words]
        return UsageError(f"{name} has no {option}; did you mean {close}?", command=shlex.join(["xpusetup", *right]))
    return _unknown_option(error, name, words)


def _unknown_option(error: Any, name: str, words: list[str]) -> UsageError:
    """Tell an option that no spelling makes one of this command, and which commands have it."""
    option = error.option_name
    path = _path_of(words)
    message = f"{path.partition(' ')[2] or name} has no option {option}"
    one_dash = next((word for word in words if re.match(rf"{re.escape(option)}[a-z]", word)), "")
    known = {each for param in (error.ctx.command.params if error.ctx else ()) for each in param.opts}
    if f"-{one_dash}".partition("=")[0] in known:
        right = [f"-{word}" if word == one_dash else word for word in words]
        return UsageError(f"{message}; did you mean -{one_dash}?", command=shlex.join(["xpusetup", *right]))
    others = _commands_with(option, error.ctx.find_root().command) if error.ctx else []
    if 0 < len(others) <= FEW:
        message += f"; {' and '.join(others)} {'has' if len(others) == 1 else 'have'} it"
    return UsageError(message, command=f"{path} --help")


def _module_of_bundle(words: list[str]) -> UsageError:
    """Tell the two commands by which a module comes from a bundle: it is its build that reads one."""
    at = next(place for place, word in enumerate(words) if word.partition("=")[0] == "--bundle")
    _, joined, file = words[at].partition("=")
    end = at + (1 if joined else 2)
    file = file or next(iter(words[at + 1 : end]), "FILE")
    line = shlex.join(["xpusetup", *words[:at], *words[end:]])
    build = Command(f"xpusetup build --bundle {shlex.quote(file)} --root DIR/software/NAME", gaps=("DIR", "NAME"))
    message = "emit has no option --bundle; the build of a module has it"
    return UsageError(message, fix=Advice("", Command(line), "\nthen, in the folder that it writes: ", build))


def _only_known(words: list[str], mine: Any, other: Any) -> list[str]:
    """Keep what another command takes too. Of a bundle that it does not take stays what it is of."""
    kept: list[str] = []
    named = False
    for found, piece in _pieces(words, other, mine):
        theirs = _takes(other, piece)
        if theirs or not piece[0].startswith("-"):
            kept += piece
            named |= not piece[0].startswith("-") or (found is not None and found.name in {"profile", "name"})
        elif found is not None and found.name == "bundle" and not named:
            kept += _made_with(piece[-1].partition("=")[2] or piece[-1])
    return kept


def _made_with(file: str) -> tuple[str, ...]:
    """Give the options with which a bundle was made; none where it cannot be read."""
    from xpusetup.bundle.contents import asked_words
    from xpusetup.bundle.io import read_head

    try:
        bundle = read_head(Path(file))
    except XpuError:
        return ()
    return asked_words(bundle.base.name, bundle.revs, bundle.takes, bundle.toolkit)


FEW = 2
"""Number of commands up to which an option is theirs, and not one of builds or of all."""


def _commands_with(option: str, root: Any) -> list[str]:
    """Name the commands that show this option in their help."""
    groups = {name: root.commands[name if name in BESIDE else name.partition(" ")[0]] for name in COMMANDS}
    below = {name: getattr(each, "commands", {}).get(name.partition(" ")[2], each) for name, each in groups.items()}
    return [
        name
        for name, command in below.items()
        if any(option in each.opts and not getattr(each, "hidden", False) for each in command.params)
    ]


INSTEAD: dict[tuple[str, str], tuple[str, str]] = {
    ("build", "--dry-run"): ("plan", "plan does that"),
    ("list", "--root"): ("status", "status does that"),
    ("setup", "--paste"): ("doctor", "doctor does that"),
    **dict.fromkeys((("doctor", "--fix"), ("doctor", "--apply")), ("setup --apply", "setup mends what it can")),
    **dict.fromkeys((("build", "--yes"), ("build", "-y")), ("build", "it asks nothing")),
}
"""What does what an option is asked for: the command with what it needs, and the words."""
ASKING = ("remove", "uninstall", "adopt")
"""Commands that show what they would do, and ask."""


def _put_behind(root: Any, words: list[str]) -> list[str]:
    """Give the command line with the options behind the command; empty where no command takes them."""
    for place, word in enumerate(words):
        first = ALIASES.get(word, word).split()
        if word.startswith("-") or first[0] not in root.commands:
            continue
        command, names = root, [word]
        for part in (*first, *words[place + 1 : place + 2]):
            if part in getattr(command, "commands", {}):
                command = command.commands[part]
                names = names if part in first else [*names, part]
        if _takes(command, words[:place]):
            return ["xpusetup", *names, *words[:place], *words[place + len(names) :]]
    return []


def _takes(command: Any, words: Sequence[str]) -> bool:
    """Say whether a command takes these words as options with their values, all of them."""
    return all(found is not None for found, _piece in _pieces(words, command))


def _pieces(words: Sequence[str], *commands: Any) -> Iterator[tuple[Any, list[str]]]:
    """Cut words into options with their values, and others; give the option, or None where no command has it."""
    options = {option: each for command in commands for each in command.params for option in each.opts}
    place = 0
    while place < len(words):
        option, attached, _ = words[place].partition("=")
        found = options.get(option) or (options.get(option[:2]) if option[1:2] != "-" else None)
        count = 1 if found is None or attached or found.is_flag or option not in found.opts else 2
        piece = [*words[place : place + count]]
        yield (found if len(piece) == count else None), piece
        place += count
