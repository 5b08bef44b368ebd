"""A verification that failed sends nobody to `doctor` unless the device is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from data import screens
from xpusetup.commands import verify


@pytest.mark.parametrize(("check", "lacks"), [("numbers.matmul", False), ("device.available", True)])
def test_doctor_is_named_where_the_device_is_missing(check: str, *, lacks: bool) -> None:
    seen = replace(screens.VERIFY, checks=[replace(screens.VERIFY.checks[0], id=check, level="fail")])
    assert verify.lacks_device(seen) is lacks
