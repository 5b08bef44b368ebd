"""What a file with errors is told: all of them at once, each with its key path and the nearest valid name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from data.profiles import small_text
from golden import hold_one
from xpusetup.base.errors import UsageError
from xpusetup.config.load import parse_profile

DATA = Path(__file__).parent / "data"


def error_of(text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse_profile(text, "x.toml")
    return caught.value


def unlined(error: UsageError) -> str:
    """Give what is said without the lines of the file: `test_each_error_names_its_line` holds those."""
    return re.sub(r"(?m)^x\.toml:\d+: ", "x.toml: ", error.message)


def message_of(*changes: tuple[str, str], more: str = "") -> str:
    return unlined(error_of(small_text(*changes, more=more)))


def test_golden_all_errors_at_once() -> None:
    error = error_of((DATA / "bad.toml").read_text())
    hold_one("errors/bad.txt", f"{error.message}\n---\n{error.fix}\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tier =", "teir =", "teir: unknown key; did you mean 'tier'?"),
        ("pins =", "pin = 1\npins =", "build_requirements.pin: unknown key; did you mean 'pins'?"),
        ("pins =", "x = 1\npins =", "build_requirements.x: unknown key; known: built, note, pins, resolved"),
        ("frontend =", "fontend = 1\nfrontend =", "components.first.fontend: unknown key; did you mean 'frontend'?"),
        ("frontend =", "inspect.apu = 1\nfrontend =", "components.first.inspect.apu: unknown key; did you mean 'xpu'?"),
        ("after =", "afterr = []\nafter =", "components.second.afterr: unknown key; did you mean 'after'?"),
        (
            "after =",
            "extra = 1\nafter =",
            "components.second.extra: unknown key; known: after, confidence, distribution, ",
        ),
    ],
)
def test_unknown_keys(old: str, new: str, message: str) -> None:
    lines = message_of((old, new)).splitlines()
    assert any(line.startswith(f"x.toml: {message}") for line in lines)


def test_unknown_key_of_a_vendored_source() -> None:
    table = '[[components.vendored]]\nname = "v"\npathh = "x"\n'
    first = message_of(('frontend = "build"', f'frontend = "build"\n\n{table}'))
    assert "x.toml: components.first.vendored.v.pathh: unknown key; did you mean 'path'?" in first.splitlines()


@pytest.mark.parametrize("key", ["source", "confidence", "version", "name"])
def test_missing_keys(key: str) -> None:
    lines = small_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{key} =") and number > 10)
    del lines[at]
    where = "components.0" if key == "name" else "components.first"
    assert f"x.toml: {where}.{key}: is missing" in unlined(error_of("\n".join(lines))).splitlines()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [('name = "second"', 'name = "first"'), ('after = ["first"]', "")],
            "x.toml: components.first: this name stands twice",
        ),
        (
            [('after = ["first"]', 'after = ["frist", "zzz"]')],
            (
                "x.toml: components.second.after: there is no component 'frist'; did you mean 'first'?\n"
                "x.toml: components.second.after: there is no component 'zzz'; known: first, second"
            ),
        ),
        (
            [('frontend = "build"', 'frontend = "build"\nafter = ["second"]')],
            "x.toml: components.first.after: these wait for each other: first -> second -> first",
        ),
        ([('after = ["first"]', 'after = ["second"]')], "x.toml: components.second.after: these wait"),
        ([('"pip==26.0"', '"pip==26.0", "PIP==26.1"')], "x.toml: build_requirements.pins: pip is pinned twice"),
    ],
)
def test_what_is_wrong_between_the_parts(changes: list[tuple[str, str]], message: str) -> None:
    assert message_of(*changes).startswith(message)


def test_pins_with_markers_may_stand_twice() -> None:
    pins = "\"pip==26.0; python_version < '3.11'\", \"pip==26.1; python_version >= '3.11'\""
    assert parse_profile(small_text(('"pip==26.0"', pins)), "x.toml").name == "small"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "x.toml is not TOML: Invalid value (at end of document)"),
        ("a = 1\na = 2", "x.toml is not TOML: Cannot overwrite a value (at end of document)"),
        ("\ufffd\ufffd", "x.toml is not TOML: it is no UTF-8; in the editor: save as UTF-8 (at line 1, column 1)"),
    ],
)
def test_not_toml(text: str, message: str) -> None:
    error = error_of(text)
    assert error.message == message
    assert error.fix == "correct the line, then: xpusetup profiles check x.toml"


@pytest.mark.parametrize("text", ["", "components = 1", "components = [1]", "components = [[]]", "[components]\nx = 1"])
def test_wrong_shapes(text: str) -> None:
    lines = unlined(error_of(text)).splitlines()
    assert "x.toml: name: is missing" in lines
    assert any(line.startswith("x.toml: components") for line in lines)


def test_no_components() -> None:
    head = small_text().split("[[components]]", maxsplit=1)[0]
    assert unlined(error_of("components = []\n" + head)) == (
        "x.toml: components: there is none, and no [installer] of the device's maker"
    )


def test_errors_are_usage_errors() -> None:
    assert error_of("").code == 2
