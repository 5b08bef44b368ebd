"""The last steps of a plan: numbers on the device against the CPU, in each mode that the device is verified in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.base.model import ROOT, Mode, Plan, Step, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xpusetup.config.devices import Device
    from xpusetup.config.profile import Profile
    from xpusetup.plan.context import Context


FIRST = "verify.smoke"
"""The step whose result is that of the build; further modes have a step of their own."""
NODES = "verify.nodes"
"""The step that a scheduler's job over several nodes runs; no other plan has it."""
ONLY = Mode(name="", variables=())
COLLECTIVES = "collectives.two_ranks"
"""The check without which a torch does not compute over several devices."""


def make_verify(context: Context, last: str) -> Iterator[Step]:
    """Give the steps that verify what the step `last` left, one for each mode."""
    for number, mode in enumerate(context.target.modes or (ONLY,)):
        name = f"verify.{mode.name}" if number else FIRST
        target = context.target
        result = f"{context.layout.results}/{name.replace('.smoke', '')}.json"
        options = (*verify_options(target, context.profile, mode), "--level", context.profile.verify_level)
        within = f", {mode.name} mode" if mode.name else ""
        yield Step(
            id=name,
            title=f"{describe_proof(target.accelerator)}{within}",
            run=(context.helper("verify_device.py", *options, "--out", result),),
            env=parse_variables((*target.variables, *mode.variables, *mode.models)),
            needs=("device",),
            after=(last,),
            makes=(result,),
        )


def make_nodes(plan: Plan) -> Step:
    """Give the step that verifies that the devices of several nodes compute together: after that of a single one."""
    target, layout = plan.target, plan.layout
    result = f"{layout.results}/{NODES}.json"
    named = {"--collectives": target.collective_backend, "--extension": target.extension}
    options = ("--device", target.accelerator, *(word for pair in named.items() if pair[1] for word in pair))
    first = target.modes[0] if target.modes else ONLY
    return Step(
        id=NODES,
        title=f"collectives of {target.accelerator} over several nodes",
        run=(
            (
                *(layout.python, f"{layout.helpers}/verify_nodes.py", *options),
                *("--shared", f"{ROOT}/logs", "--out", result),
            ),
        ),
        env=parse_variables((*target.variables, *first.variables)),
        needs=("device", "nodes"),
        after=(FIRST,),
        makes=(result,),
    )


def lacks_collectives(profile: Profile, target: Target) -> str:
    """Say why this torch cannot compute over several devices, from what the profile records of it; empty where it can.

    What nobody recorded is found out where it runs.
    """
    if target.toolkit and COLLECTIVES in _unproven(profile, target):
        return f"no XCCL with {target.toolkit.title}"
    told = profile.published.collectives if profile.published else None
    return f"no XCCL: {told.source}" if told is not None and not told.built else ""


def _unproven(profile: Profile, target: Target) -> tuple[str, ...]:
    """Name the checks that cannot pass: what they need is left out, or the tool chain of a build does not have it."""
    left = (check for part in profile.components if part.kind == "skip" for check in part.checks)
    kit = profile.toolkit if target.toolkit else None  # published wheels are compiled with none
    return tuple(dict.fromkeys((*left, *(kit.checks if kit else ()))))


def describe_proof(accelerator: str) -> str:
    """Say what is computed, and what that is held against."""
    return "numbers on the CPU" if accelerator == "cpu" else f"numbers on {accelerator} against the CPU"


def parse_variables(pairs: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Read NAME=VALUE; of a name that comes twice the last."""
    return tuple({name: value for name, _, value in (pair.partition("=") for pair in pairs)}.items())


def verify_options(target: Target, profile: Profile, mode: Mode = ONLY) -> tuple[str, ...]:
    """Give the options of the verification helper for what a profile builds for this target."""
    expected = ("--expected",) if target.device_expected else ()
    named = {"--compile-backend": target.compile_backend, "--collectives": target.collective_backend}
    named |= {"--extension": target.extension, "--loader": target.loader}
    skips = (*target.skips, *mode.skips, *_unproven(profile, target))
    return ("--device", target.accelerator, *expected, *_known(named, target.gaps, skips))


def device_options(device: Device) -> tuple[str, ...]:
    expected = ("--expected",) if device.expected else ()
    named = {"--compile-backend": device.compile_backend, "--collectives": device.collective_backend}
    known = device.extension
    named |= {"--extension": known.module if known.imported else "", "--loader": known.loader} if known else {}
    return ("--device", device.name, *expected, *_known(named, device.listed_gaps, tuple(device.skips)))


def _known(named: dict[str, str], gaps: tuple[str, ...], skips: tuple[str, ...]) -> tuple[str, ...]:
    given = (word for pair in named.items() if pair[1] for word in pair)
    return (*given, *_words("--gap", gaps), *_words("--skip", skips))


def _words(option: str, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for value in values for word in (option, value))
