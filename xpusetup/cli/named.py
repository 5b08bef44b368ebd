"""A profile or a build named by an argument, put where the options have it: `build 2.14`, `remove sim`."""

import re
from dataclasses import dataclass, field
from typing import Any

from xpusetup.base.errors import UsageError
from xpusetup.base.verbs import BUILD


@dataclass(frozen=True, kw_only=True)
class Words:
    """How the words of a command line are read.

    `takes`: what the argument names. `follows`: the words of another program come after it; `dashed`: behind `--`.
    `rest`: those words. `variables`: the options that the environment set, with the variable of each.
    """

    takes: str = ""
    follows: bool = False
    dashed: bool = False
    rest: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)


def place_named(given: dict[str, Any], how: Words) -> dict[str, Any]:
    """Give the values of options with what the argument names, and with names of profiles in full.

    An argument is stronger than a variable. Raises UsageError where it names nothing, or an option says otherwise.
    """
    words = dict(given)
    named = words.pop("named", None)
    if not named and not any(re.search(r"\d", str(words.get(name) or "")) for name in ("profile", "stack")):
        return words
    from xpusetup.run.named import Named, full_names  # only where something is named

    for name in ("profile", "stack"):
        if words.get(name):
            words[name] = full_names(words[name])
    if isinstance(named, list):
        told = [] if "--profile" in how.variables else words["profile"] or []
        return {**words, "profile": [*full_names(named), *told]} if named else words
    if not named:
        return words
    for name in ("profile", "name", "root"):
        if f"--{name}" in how.variables:
            words[name] = ""
    stated = {name: words.get(name) or "" for name in ("profile", "name", "root")}
    meant = Named(word=named, build=how.takes == BUILD, **stated)
    if how.follows and not how.dashed and not meant.is_known():
        words["context"].args = [named, *how.rest]  # xpusetup run python x.py
        return words
    if how.rest and how.rest[0].startswith("-") and not how.dashed:
        message = f"{how.rest[0]} stands where the command begins; put -- before the command"
        raise UsageError(message, command=f"xpusetup run {named} -- python")
    return {**words, **meant.place()}
