"""One command of the command line: how it reads its words, and what of them it remembers while it is at work."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from xpusetup.base.verbs import OLD
from xpusetup.cli import finish
from xpusetup.cli.help import list_pieces, write_help
from xpusetup.cli.named import Words

CALLED = "xpusetup.called"
"""The alias or old name by which the command was called, in the context's `meta`."""
DASHED = "xpusetup.dashed"
"""Whether `--` stood before the words of another program, in the context's `meta`."""


class _AsGiven:
    """How an option takes its value: one that has its type already as it is, any other as Typer reads it.

    Typer makes a reader of pydantic for each option, also for those that were left out: a fifth of a short command.
    """

    def __init__(self, kind: Any, read: Callable[[], Any]) -> None:
        self._kind = kind
        self._read = read

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Give the value of an option; Typer calls this."""
        words = value if isinstance(value, list | tuple) else ()
        if self._kind == list[str] and (value is None or words) and all(type(each) is str for each in words):
            return list(words)
        if value is None or type(value) is self._kind:
            return value
        for kind, word in NUMBERS.items():
            if self._kind in {kind, kind | None}:
                return _read_number(kind, word, str(value).strip(), param, ctx)
        if self._kind is bool and str(value).lower() not in TRUTHS:
            raise _bad(f"{value!r} is neither 1 nor 0", param, ctx)
        return self._read().coerce(value, param=param, ctx=ctx)


NUMBERS: dict[type[int | float], str] = {int: "whole number", float: "number"}
TRUTHS = {"0", "1", "true", "false", "yes", "no", "on", "off", "t", "f", "y", "n"}
"""What Typer reads as a flag's value."""


def _bad(message: str, param: Any, ctx: Any) -> Exception:
    import typer

    return typer.BadParameter(message, ctx=ctx, param=param)


def _read_number(kind: type[int | float], word: str, text: str, param: Any, ctx: Any) -> int | float:
    try:
        number = kind(text)
    except ValueError:
        raise _bad(f"{text!r} is not a {word}", param, ctx) from None
    if param.min is not None and not number >= param.min:
        raise _bad(f"{text} is too small; the least is {param.min:g}", param, ctx)
    return number


def take_as_given(parameters: list[Any]) -> list[Any]:
    """Let options take what has its type already as it is."""
    for each in parameters:
        known = getattr(each, "get_runtime_param", None)  # Typer before 0.29 has none
        if known is not None and not isinstance(known, partial):
            each.get_runtime_param = partial(_AsGiven, each.type_descriptor.annotation, known)
    return parameters


def variables_of(parameter: Any, context: Any) -> tuple[str, ...]:
    """Give the variables that set an option, the strongest first; those of another name where it was called by that."""
    own = parameter.param_type_name == "option" and getattr(parameter, "allow_from_autoenv", True)
    if not own or not context.auto_envvar_prefix:
        return ()
    word = max(parameter.opts, key=len)[2:].replace("-", "_").upper()
    called = context.meta.get(CALLED, "").replace(" ", "_").replace("-", "_").upper()
    own = f"{context.auto_envvar_prefix}_{word}"
    return (f"XPUSETUP_{called}_{word}", own) if called else (own,)


def variable_of(parameter: Any, context: Any) -> str:
    """Give the variable that set an option; empty where none did."""
    source = context.get_parameter_source(parameter.name) if context else None
    if source is None or source.name != "ENVIRONMENT":
        return ""
    from xpusetup.system.environment import variable

    return next((name for name in variables_of(parameter, context) if variable(name)), "")


@contextmanager
def propose_near(parameters: Iterable[Any]) -> Iterator[None]:
    """Let an option that is not known be told with the one that is near to it, where there is one."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "possibilities") and hasattr(error, "option_name"):
            from xpusetup.base.text import nearest

            words = [word.removeprefix("--") for each in parameters for word in each.opts if word.startswith("--")]
            close = nearest(error.option_name.lstrip("-"), words)
            error.possibilities = [f"--{close}"] if close else None
        raise


class RememberingCommand(TyperCommand):
    """A command that remembers its options for as long as it is at work."""

    follows = False
    """Whether the words of another program follow, as those of `run`."""
    examples: tuple[str, ...] = ()
    common: frozenset[str] = frozenset()
    """The options that most people want: they come first in its help."""
    takes = ""
    """What its argument names: a PROFILE or a BUILD; empty for neither."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Give the options, also those that Typer adds by itself."""
        return take_as_given(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        write_help(self, ctx, formatter)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Give the words behind its name: arguments as people write them, and the command that it runs."""
        return list_pieces(self, ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; each is a variable by its own word, also where Python has that for its own (--for)."""
        for each in self.params:
            each.envvar = list(variables_of(each, ctx)) or None
        with propose_near(self.params):
            if self.follows and "--" in args:
                return self._parse_before(ctx, args)
            left = super().parse_args(ctx, args)
        if self.follows and not self.takes and left and left[0].startswith("-"):
            raise _bad(f"{left[0]} stands where the command begins; put -- before the command", None, ctx)
        return left

    def _parse_before(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the -- of another program's words, and leave those as they are."""
        place = args.index("--")
        ctx.meta[DASHED] = ctx.allow_interspersed_args = True
        extra = super().parse_args(ctx, args[:place])
        if extra:
            raise _bad(f"{extra[0]!r} stands before the --; put -- before the whole command", None, ctx)
        ctx.args = args[place + 1 :]
        return ctx.args  # type: ignore[no-any-return]

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        called = ctx.meta.get(CALLED, "")
        if called == "test":  # the suite was its argument
            ctx.params.update(suite=ctx.params["named"] or "list", named="")
        finish.name_stdout(self.params, ctx.params)
        found = {max(each.opts, key=len): variable_of(each, ctx) for each in self.params}
        words = Words(
            takes=self.takes,
            follows=self.follows,
            dashed=DASHED in ctx.meta,
            rest=tuple(ctx.args),
            variables={option: name for option, name in found.items() if name},
        )
        finish.begin({**ctx.find_root().params, **ctx.params}, words)
        if called in OLD:
            finish.name_new(called, silent=ctx.params["json"] or ctx.params["quiet"])
        from xpusetup.system.files import places_of

        with places_of(self._list_places(ctx.params)):
            return super().invoke(ctx)

    def _list_places(self, given: dict[str, Any]) -> dict[Path, str]:
        """Give the files and folders that were named, and the option or argument that names each; / is any other."""
        places = {each.name: _write_place(each) for each in self.params if each.metavar in finish.OF_PLACES}
        usual = {} if "root" in places else {Path("/"): places.get("out", "export XPUSETUP_ROOT=DIR")}
        found = {how: value for name, how in places.items() if isinstance(value := given.get(name), str) and value}
        return usual | {Path(os.path.expanduser(value)): how for how, value in found.items()}  # noqa: PTH111 - ~nobody


def _write_place(parameter: Any) -> str:
    longest = max(parameter.opts, key=len) if parameter.param_type_name == "option" else ""
    return f"{longest} {parameter.metavar}".strip()
