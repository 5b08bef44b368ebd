"""The last step of a plan: numbers on the device against the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import Step

if TYPE_CHECKING:
    from xpusetup.model import Target
    from xpusetup.plan.context import Context


def make_verify(context: Context, last: str) -> Step:
    """Give the step that verifies what the step `last` left."""
    layout, result = context.layout, f"{context.layout.results}/verify.json"
    return Step(
        id="verify.smoke",
        title=f"numbers on {context.target.accelerator} against the CPU",
        run=((layout.python, f"{layout.helpers}/verify_device.py", *verify_options(context.target), "--out", result),),
        needs=("device",),
        after=(last,),
        makes=(result,),
    )


def verify_options(target: Target) -> tuple[str, ...]:
    """Give the options of the verification helper for this target."""
    expected = ("--expected",) if target.device_expected else ()
    return ("--device", target.accelerator, *expected)
