"""The last step of a plan: numbers on the device against the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import Step

if TYPE_CHECKING:
    from xpusetup.devices import Device
    from xpusetup.model import Target
    from xpusetup.plan.context import Context


def make_verify(context: Context, last: str) -> Step:
    """Give the step that verifies what the step `last` left."""
    result = f"{context.layout.results}/verify.json"
    options = (*verify_options(context.target), "--level", context.profile.verify_level)
    return Step(
        id="verify.smoke",
        title=f"numbers on {context.target.accelerator} against the CPU",
        run=(context.helper("verify_device.py", *options, "--out", result),),
        needs=("device",),
        after=(last,),
        makes=(result,),
    )


def verify_options(target: Target) -> tuple[str, ...]:
    """Give the options of the verification helper for this target."""
    expected = ("--expected",) if target.device_expected else ()
    known = _known(target.compile_backend, target.collective_backend, target.gaps, target.skips)
    return ("--device", target.accelerator, *expected, *known)


def device_options(device: Device) -> tuple[str, ...]:
    """Give the options of the verification helper for any device."""
    expected = ("--expected",) if device.expected else ()
    known = _known(device.compile_backend, device.collective_backend, device.listed_gaps, tuple(device.skips))
    return ("--device", device.name, *expected, *known)


def _known(compile_backend: str, collectives: str, gaps: tuple[str, ...], skips: tuple[str, ...]) -> tuple[str, ...]:
    named = {"--compile-backend": compile_backend, "--collectives": collectives}
    backends = (word for pair in named.items() if pair[1] for word in pair)
    judged = (("--gap", gaps), ("--skip", skips))
    return (*backends, *(word for option, values in judged for value in values for word in (option, value)))
