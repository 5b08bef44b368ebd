"""What a place or a project has of its own: the site file, the project's xpusetup.toml, and which of them rules.

Precedence: option, variable, `xpusetup.toml` of the project, site file, profile.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError

from xpusetup.errors import UsageError
from xpusetup.load import describe
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


class SettingsFile(Strict):
    """What one settings file may say."""

    profile: Text = ""
    root: Text = ""
    build_dir: Text = ""
    prefix: Text = ""
    jobs: int | None = Field(default=None, ge=1)
    toolkit: ToolkitSettings = ToolkitSettings()
    compilers: Compilers = Compilers()


class Settings(SettingsFile):
    """Settings files merged. `origins` says for each value (as in toolkit.root) which file it came from."""

    origins: dict[str, str] = {}


def merge_settings(files: list[tuple[str, str]]) -> Settings:
    """Merge settings files, (name, text) from the weakest to the strongest. Raises UsageError for a bad one."""
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, text in files:
        for key, value in _parse(name, text).items():
            table = isinstance(value, dict)
            merged[key] = {**merged.get(key, {}), **value} if table else value
            origins.update(dict.fromkeys([f"{key}.{inner}" for inner in value] if table else [key], name))
    return Settings.model_validate({**merged, "origins": origins})


def _parse(name: str, text: str) -> dict[str, Any]:
    values = {}
    try:
        values = parse_toml(text)
        SettingsFile.model_validate(values)
    except TomlError as error:
        raise UsageError(f"{name} is not TOML: {error}", fix="mend the line") from error
    except ValidationError as error:
        lines = [f"{name}: {line}" for line in describe(error, SettingsFile, values)]
        raise UsageError("\n".join(lines), fix=f"mend {name}") from error
    return values
