"""The JSON schema of what each command writes with --json, made from the types of its results.

docs/json-schema.json holds it, and docs/json.md says it for people; real runs are held to it (`hold_to_schema`).
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from jsonschema import Draft202012Validator

from xpusetup import commands
from xpusetup.base.command import Command
from xpusetup.base.document import key_of
from xpusetup.commands.next_commands import NextCommand

RESULTS: dict[str, str] = {
    "bisect": "Bisection",
    "build": "BuildResult",
    "bundle create": "CreatedBundle",
    "bundle verify": "VerifiedBundle",
    "devices table": "DeviceTable",
    "doctor": "Diagnosis | Comparison | CheckList | UpstreamReport | Prompt",
    "emit": "Emitted",
    "env": "ShellEnvironment",
    "explain": "ExplainResult | Prompt",
    "install": "InstallResult | InstallOffer",
    "list": "BuildList",
    "list --cache": "CacheSize",
    "plan": "PlanResult",
    "profiles check": "CheckedProfile",
    "profiles list": "ProfileList",
    "profiles lock": "LockedProfile",
    "profiles new": "NewProfile",
    "profiles schema": "ProfileSchema",
    "profiles show": "ShownProfile",
    "profiles trust": "TrustedFiles",
    "adopt": "AdoptedProject",
    "remove": "Removed",
    "remove --cache": "PrunedCache",
    "report": "WrittenReport",
    "try": "TriedChange",
    "run": "CommandRun",
    "self": "Self",
    "setup": "SetupResult",
    "setup site": "SiteFile",
    "skill": "Skill",
    "status": "BuildStatus | BuildList",
    "status log": "StepLog",
    "toolkit": "MadeToolkit",
    "verify": "DeviceVerification | DeviceCheckList",
    "verify --codegen": "GeneratedCode",
    "verify --fallbacks": "FallbackTables",
    "verify --devices": "DeviceList",
    "verify --suite": "SuiteResult | SuiteList",
    "wheel check": "WheelVerification",
    "wheel fits": "FitResult",
    "wheel rebuild": "RebuildResult",
    "wheel sign": "SignedWheels",
    "xpusetup": "Overview",
}
"""The types of each command's result."""
PARTS: dict[str, type] = {}
"""The types that stand in the schema, by name."""
KINDS: dict[str, type] = {}
"""The types that the schema speaks of, by name: no two have the same."""
PLAIN = {str: "string", Command: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
ERROR = {
    "type": "object",
    "description": "What happened, the command that mends it, the exit code, and the commands that lead on.",
    "properties": {
        "message": {"type": "string"},
        "fix": {"type": "string"},
        "code": {"type": "integer"},
        "next": {"type": "array", "items": {"$ref": "#/$defs/NextCommand"}},
    },
    "required": ["message", "fix", "code", "next"],
}


@cache
def results() -> dict[str, type]:
    """Give the classes of the modules of commands by name."""
    found = [import_module(f"xpusetup.commands.{each.name}") for each in iter_modules(commands.__path__)]
    own = [each for module in found for each in vars(module).values() if isinstance(each, type)]
    return {each.__name__: each for each in own if each.__module__.startswith("xpusetup.commands.")}


def types_of(command: str) -> list[type]:
    """Give the types of a command's result."""
    return [results()[name] for name in RESULTS[command].split(" | ")]


def hints_of(kind: type) -> dict[str, Any]:
    """Give the types of the fields of a result, each read where its class is written."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__[:-1]):
        known = names_in(base.__module__)
        for name, told in vars(base).get("__annotations__", {}).items():
            found[name] = eval(told, known) if isinstance(told, str) else told  # noqa: S307 - our own words
    return found


@cache
def names_in(module: str) -> dict[str, Any]:
    """Give what names mean in a module, those too that it imports for types alone."""
    place = import_module(module)
    imports = [each for each in ast.walk(ast.parse(inspect.getsource(place))) if isinstance(each, ast.ImportFrom)]
    named = [(each.module, alias) for each in imports if each.module for alias in each.names]
    ours = {alias.asname or alias.name: getattr(import_module(origin), alias.name) for origin, alias in named}
    return {**ours, **vars(place)}


def schema_of(hint: Any, defs: dict[str, Any]) -> dict[str, Any]:
    """Give the schema of a type; those of its parts go into `defs`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is not None:
        return _generic(origin, arguments, defs)
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if hint in {Any, object} or issubclass(hint, dict):
        return {"type": "object"} if hint not in {Any, object} else {}
    assert KINDS.setdefault(hint.__name__, hint) is hint, f"two types of one name: {hint}"
    if hint.__name__ not in defs:
        defs[hint.__name__] = {}
        defs[hint.__name__] = _object(hint, defs)
    assert PARTS.setdefault(hint.__name__, hint) is hint, f"two types are called {hint.__name__}"
    return {"$ref": f"#/$defs/{hint.__name__}"}


def _generic(origin: Any, arguments: Sequence[Any], defs: dict[str, Any]) -> dict[str, Any]:
    if origin is Annotated:
        return schema_of(arguments[0], defs)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in {Union, UnionType}:
        return {"anyOf": [schema_of(each, defs) for each in arguments]}
    if origin in {dict, Mapping}:
        return {"type": "object", "additionalProperties": schema_of(arguments[1], defs)}
    return {"type": "array", "items": schema_of(arguments[0], defs)}


def _object(kind: type, defs: dict[str, Any]) -> dict[str, Any]:
    said = (kind.__doc__ or "").strip().splitlines()[0]
    assert is_dataclass(kind), kind
    hints = hints_of(kind)
    told = {key_of(each.name): schema_of(hints[each.name], defs) for each in fields(kind)}
    needed = [name for name in told if name not in getattr(kind, "UNSAID", ())]
    closed = {"required": needed, "additionalProperties": False}
    return {"type": "object", "description": said, "properties": told, **closed}


@cache
def make_schema() -> dict[str, Any]:
    """Give the schema of every document, one for each command."""
    defs: dict[str, Any] = {}
    commands = [_envelope(command, defs) for command in sorted(RESULTS)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "xpusetup COMMAND --json",
        "anyOf": commands,
        "$defs": {"Error": ERROR, **dict(sorted(defs.items()))},
    }


def render_schema() -> str:
    """Give the schema with a line for each command and each type."""
    whole = make_schema()
    commands = ",\n".join(json.dumps(each) for each in whole["anyOf"])
    types = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in whole["$defs"].items())
    head = json.dumps({key: whole[key] for key in ("$schema", "title")})[1:-1]
    return f'{{{head},\n"anyOf": [\n{commands}\n],\n"$defs": {{\n{types}\n}}}}\n'


def _envelope(command: str, defs: dict[str, Any]) -> dict[str, Any]:
    kinds = [schema_of(kind, defs) for kind in types_of(command)]
    for told in (defs[kind.__name__] for kind in types_of(command) if kind.__name__ in defs):
        told["properties"]["next"] = {"type": "array", "items": schema_of(NextCommand, defs)}
        told["required"] = [*dict.fromkeys((*told["required"], "next"))]
    return {
        "type": "object",
        "properties": {
            "schema": {"const": 1},
            "command": {"const": command},
            "ok": {"type": "boolean"},
            "result": kinds[0] if len(kinds) == 1 else {"anyOf": kinds},
            "error": {"$ref": "#/$defs/Error"},
        },
        "required": ["schema", "command", "ok"],
        "oneOf": [{"required": ["result"]}, {"required": ["error"]}],
        "additionalProperties": False,
    }


def hold_to_schema(document: Any) -> None:
    """Hold what a run wrote to the schema of its command."""
    whole = make_schema()
    if document["command"] not in RESULTS:
        return
    (one,) = [each for each in whole["anyOf"] if each["properties"]["command"]["const"] == document["command"]]
    faults = list(Draft202012Validator({**one, "$defs": whole["$defs"]}).iter_errors(document))
    assert not faults, [(list(each.absolute_path), each.message[:300]) for each in faults]


def render_page() -> str:
    """Give the page for people: what each command's result holds."""
    parts = [HEAD]
    for command in sorted(RESULTS):
        parts.append(f"\n## {'xpusetup' if command == 'xpusetup' else f'xpusetup {command}'}\n")
        for kind in types_of(command):
            parts.extend(_paragraph(kind))
    parts.append("\n## Parts\n")
    shown = {kind.__name__ for command in RESULTS for kind in types_of(command)}
    for name in sorted(set(make_schema()["$defs"]) - shown - {"Error"}):
        parts.extend(_paragraph(PARTS[name]))
    return "\n".join(parts).rstrip("\n") + "\n"


HEAD = """\
# What --json writes

Every command writes one document on stdout: `{"schema": 1, "command": ..., "ok": ..., "result": ...}`, and on an error
`"error": {"message", "fix", "code", "next"}` in the place of `result`. Messages go to stderr. This page and
[json-schema.json](json-schema.json) are made from the types that the commands return; keys are added with time, and
one that is taken away or changes its meaning comes with a new `schema` number.

Each `result` and `error` ends with `next`: the whole commands that lead on from it, in their order (empty where nothing
does). A program that runs the first, and the first of what that writes, comes to *verified* or to what cannot be, and
why ([tried](tried.md#following-next))."""


def _paragraph(kind: type) -> list[str]:
    told = make_schema()["$defs"].get(kind.__name__)
    if told is None:
        return ["The JSON schema itself.", ""]
    said = " ".join((kind.__doc__ or "").split())
    rows = [f"| `{key}` | {render_type(each)} |" for key, each in told["properties"].items()]
    return [
        f'<a id="{kind.__name__.lower()}"></a>**{kind.__name__}**: {said}',
        "",
        "| key | type |",
        "|---|---|",
        *rows,
        "",
    ]


def render_type(schema: Mapping[str, Any]) -> str:
    """Give a type as people read it."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{each}`" if each else "empty" for each in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(render_type(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {render_type(schema['items'])}"
    if schema.get("type") == "object" and "additionalProperties" in schema:
        return f"object of {render_type(schema['additionalProperties'])}"
    return str(schema.get("type", "any value"))
