"""What a place or a project has of its own: the site file, the project's xpusetup.toml, and which of them rules.

Precedence: option, variable, `xpusetup.toml` of the project, site file, profile.
"""

from __future__ import annotations

from typing import Any, get_args

from pydantic import ValidationError

from xpusetup.errors import UsageError
from xpusetup.model import Provider
from xpusetup.profile import Operand, Strict, Text
from xpusetup.tomltext import TomlError, parse_toml


class ToolkitSettings(Strict):
    """How the toolkit is provided here."""

    provider: Provider | None = None
    root: Text = ""
    prelude: list[Text] = []


class Compilers(Strict):
    """The host compilers of this place."""

    cc: Operand = "gcc"
    cxx: Operand = "g++"


class Settings(Strict):
    """One settings file, or several merged. `origins` says for each value which file it came from."""

    profile: Text = ""
    root: Text = ""
    build_dir: Text = ""
    prefix: Text = ""
    jobs: int | None = None
    toolkit: ToolkitSettings = ToolkitSettings()
    compilers: Compilers = Compilers()
    origins: dict[str, str] = {}


def merge_settings(files: list[tuple[str, str]]) -> Settings:
    """Merge settings files, (name, text) from the weakest to the strongest. Raises UsageError for a bad one."""
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, text in files:
        values = _parse(name, text)
        merged.update(values)
        origins.update(dict.fromkeys(values, name))
    return Settings.model_validate({**merged, "origins": origins})


def _parse(name: str, text: str) -> dict[str, Any]:
    known = ", ".join(sorted(set(Settings.model_fields) - {"origins"}))
    try:
        values = parse_toml(text)
        Settings.model_validate(values)
    except TomlError as error:
        raise UsageError(f"{name} is not TOML: {error}", fix="mend the line") from error
    except ValidationError as error:
        lines = [f"{name}: {'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        fix = f"known: {known}; providers: {', '.join(get_args(Provider))}"
        raise UsageError("\n".join(lines), fix=fix) from error
    return values
