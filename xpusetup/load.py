"""From the text of a profile to a Profile, or to every error of the file at once."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, get_args

from packaging.utils import canonicalize_name
from pydantic import BaseModel, ValidationError

from xpusetup.errors import UsageError
from xpusetup.order import make_order
from xpusetup.profile import Profile, SkippedComponent, SourceComponent, WheelComponent
from xpusetup.tomltext import TomlError, parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

KINDS = ("source", "wheel", "skip")
CLASSES: dict[str, type[BaseModel]] = {
    "source": SourceComponent,
    "wheel": WheelComponent,
    "skip": SkippedComponent,
}


def parse_profile(text: str, origin: str) -> Profile:
    """Read a profile; `origin` names the file in messages. Raises UsageError with all errors of the file."""
    try:
        profile = Profile.model_validate(parse_toml(text))
    except TomlError as error:
        raise UsageError(f"{origin} is not TOML: {error}", fix=f"mend the line, then: {_check(origin)}") from error
    except ValidationError as error:
        lines = [f"{origin}: {_say(details)}" for details in error.errors()]
        raise UsageError("\n".join(lines), fix=f"mend the file, then: {_check(origin)}") from error
    _check_names(profile, origin)
    return profile


def _check(origin: str) -> str:
    return f"xpusetup profiles check {origin}"


def _check_names(profile: Profile, origin: str) -> None:
    names = [part.name for part in profile.components]
    for part in profile.components:
        for other in [] if part.kind == "skip" else part.after:
            if other not in names:
                raise UsageError(
                    f"{origin}: components.{part.name}.after: there is no component {other!r}{_nearest(other, names)}",
                    fix=f"mend the file, then: {_check(origin)}",
                )
    make_order(profile.components)
    _check_pins(profile, origin)


def _check_pins(profile: Profile, origin: str) -> None:
    names = [canonicalize_name(pin.split("==")[0]) for pin in profile.build_requirements.pins]
    doubled = {name for name in names if names.count(name) > 1}
    markers = {canonicalize_name(pin.split("==")[0]) for pin in profile.build_requirements.pins if ";" in pin}
    if wrong := sorted(doubled - markers):
        raise UsageError(f"{origin}: build_requirements.pins: {wrong[0]} is pinned twice", fix=_check(origin))


def _say(details: ErrorDetails) -> str:
    where = [str(part) for part in details["loc"] if part not in KINDS]
    path = ".".join(where) or "(file)"
    if details["type"] == "extra_forbidden":
        known = _fields_at(details["loc"])
        return f"{path}: unknown key{_nearest(where[-1], known)}"
    if details["type"] == "union_tag_not_found":
        return f"{path}: needs a kind, one of {', '.join(KINDS)}"
    message = details["msg"].removeprefix("Value error, ")
    if details["type"] == "missing":
        return f"{path}: is missing"
    return f"{path}: {message}{_given(details['input'])}"


def _given(value: Any) -> str:
    return f" (here: {value!r})" if isinstance(value, str | int | float | bool) else ""


def _nearest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(sorted(known))}"


def _fields_at(loc: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Profile
    for part in loc[:-1]:
        if isinstance(part, str) and part in CLASSES:
            model = CLASSES[part]
        elif isinstance(part, str) and (inner := _model_of(model, part)) is not None:
            model = inner
    return [info.alias or name for name, info in model.model_fields.items()]


def _model_of(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    info = model.model_fields.get(key)
    return None if info is None else _first_model(info.annotation)


def _first_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_first_model(part) for part in get_args(annotation))
    return next((model for model in found if model is not None), None)
