"""What a plan says of the tool chains of a machine: which GPUs ocloc does not know, what else would compile."""

from xpusetup.base.model import NONE, Plan
from xpusetup.config.profile import Profile
from xpusetup.machine.facts import Facts
from xpusetup.machine.toolkits import find_refusal, found_toolkits, say_others, unknown_targets, usable_toolkits
from xpusetup.plan.install import Purpose


def describe_targets(facts: Facts, plan: Plan) -> str:
    """Say which device targets of a plan the ocloc of this machine does not know: with them the last link would fail.

    The same where the tool chain brings none, and none is here. Empty where it knows them, where nothing is compiled
    for a device, or where what it knows could not be asked.
    """
    kit, ocloc = plan.target.toolkit, facts.toolkits.ocloc if facts.toolkits else None
    strange = unknown_targets(facts, plan.target.arch)
    told = any(value == ",".join(plan.target.arch) for step in plan.steps for _, value in step.env)
    if told and kit and kit.made and not ocloc and plan.target.arch != (NONE,):
        return f"--arch {','.join(plan.target.arch)} needs ocloc, which is not installed"
    if not strange or not told:
        return ""
    return f"{ocloc} does not know {', '.join(strange)}: it is older than the GPUs that are compiled for"


def name_lacking(facts: Facts) -> str:
    """Name the check of the doctor that is about what the device compiler lacks."""
    there = facts.toolkits is not None and facts.toolkits.ocloc
    return "oneapi.ocloc_knows_arch" if there else "oneapi.ocloc"


def describe_refused(facts: Facts, profile: Profile, purpose: Purpose) -> str:
    """Say why the toolkits of this machine cannot build the profile, where that is known and none of them can."""
    wanted = profile.toolkit
    if wanted is None or purpose.command != "build":
        return ""
    told = {kit.version: find_refusal(wanted, kit.version) for kit in found_toolkits(wanted, facts) if kit.version}
    if not told or not all(told.values()):
        return ""
    version, words = next(iter(told.items()))
    return f"{wanted.product.title} {version} does not build {profile.name}: {words}"


def describe_others(facts: Facts, profile: Profile, purpose: Purpose) -> str:
    """Say what else the profile can be compiled with on this machine, where its preferred toolkit is not here."""
    wanted = profile.toolkit
    if wanted is None or purpose.command != "build" or not profile.other_toolkits:
        return ""
    others = say_others(profile, facts)
    return f"{wanted.title} is not here.{others}" if others and not usable_toolkits(wanted, facts) else ""
