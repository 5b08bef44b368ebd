"""What stays in the environment of an image: what is named, and what that requires."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

keep_closure: Any = importlib.import_module("keep_closure")
Found: Any = importlib.import_module("helperlib.env.distributions").Found


def there(**requires: tuple[str, ...]) -> dict[str, Any]:
    names = {name.replace("_", "-"): needs for name, needs in requires.items()}
    return {name: Found(name, "1", "pip", True, "", needs) for name, needs in names.items()}


ENVIRONMENT = there(
    torch=("Sympy>=1.13", "typing_extensions", 'colorama; sys_platform == "win32"', 'opt-einsum; extra == "opt"'),
    sympy=("mpmath<1.4,>=1.1.0",),
    mpmath=(),
    typing_extensions=(),
    opt_einsum=(),
    colorama=(),
    ninja=(),
    numpy=(),
    pip=(),
)


def test_what_is_required_stays_and_what_only_an_extra_or_another_system_asks_for_goes() -> None:
    kept = keep_closure.closure(["torch", "pip"], ENVIRONMENT)
    assert kept == {"torch", "sympy", "mpmath", "typing-extensions", "pip"}


def test_circles_end_and_what_is_not_there_is_not_asked_for() -> None:
    circle = there(a=("b",), b=("a", "gone"))
    assert keep_closure.closure(["a", "numpy"], circle) == {"a", "b"}


def test_the_rest_is_uninstalled(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    gone: list[str] = []
    monkeypatch.setattr(keep_closure, "installed", lambda: ENVIRONMENT)
    monkeypatch.setattr(keep_closure, "uninstall", gone.extend)
    monkeypatch.setattr(sys, "argv", ["keep_closure.py", "torch", "pip", "--if-there", "numpy"])
    keep_closure.main()
    assert gone == ["colorama", "ninja", "opt-einsum"]
    assert capsys.readouterr().out == "6 distributions stay, 3 went: colorama ninja opt-einsum\n"


def test_what_has_to_be_there_is_asked_for_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep_closure, "installed", lambda: ENVIRONMENT)
    monkeypatch.setattr(sys, "argv", ["keep_closure.py", "torchvision"])
    with pytest.raises(SystemExit) as end:
        keep_closure.main()
    assert end.value.code == 1
