"""What a plan is for, and the checks before a build: it stops where one that the build needs fails."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import ROOT, Finding, Goal, VerifyMode
from xpusetup.config.settings import make_network
from xpusetup.doctor.question import Question, check_texts
from xpusetup.doctor.registry import BAD, about_machine, examine, sections_for
from xpusetup.machine.facts import Facts, Held, Section
from xpusetup.machine.tables import gpu_table
from xpusetup.plan.install import BUILD, Purpose
from xpusetup.run.workspace import Workspace
from xpusetup.system.environment import variable, variables

# The gate before a build: probe what the checks ask for, and stop where one that the build needs fails.


OF_DEVICE = ("hardware", "firmware", "kernel", "container", "permissions", "driver", "plugins")
"""Areas of checks that are about a device on this machine."""
NETWORK = "network"
EVERYTHING: tuple[Section, ...] = get_args(Section)
WHEEL_HOSTS = ("download.pytorch.org", "pypi.org")
SHOWN: tuple[Section, ...] = ("system", "resources", "python")
"""What the first line of a diagnosis is made of."""


def probe_to_begin(workspace: Workspace, purpose: Purpose) -> Facts:
    """Probe what has to be known before the first step: of the machine alone, and what a target is made from."""
    sections = {*sections_for(("build", purpose.goal), about_machine()), *SHOWN}
    return probe_all(workspace, [section for section in EVERYTHING if section in sections])


def probe_for(workspace: Workspace, goals: Iterable[Goal], only: Sequence[str] = ()) -> Facts:
    """Probe what the checks read that are asked for these goals; a check that is named asks the network too."""
    sections = {*sections_for(goals, only), *SHOWN}
    hosts = workspace.profile.git_hosts if "net.git_reach" in only else ()
    hosts += WHEEL_HOSTS if "net.wheels_reach" in only else ()
    return probe_all(workspace, [section for section in EVERYTHING if section in sections], hosts)


def probe_all(
    workspace: Workspace, sections: Iterable[Section] = EVERYTHING, hosts: tuple[str, ...] = (), *, shell: bool = True
) -> Facts:
    """Probe sections of the facts, about the folders and interpreters of a workspace.

    `shell`: the site's prelude is run to find the compiler, where the profile needs one.
    """
    from xpusetup.machine.probe import Ask, probe  # noqa: PLC0415 - facts that are read need no probe
    from xpusetup.machine.probe_tools import with_toolkit_of_shell  # noqa: PLC0415 - same

    # what a build writes to, and what each folder holds; of a root without folders elsewhere all of it
    places: dict[Path, list[Held]] = {workspace.root: ["wheels"]}
    parts: tuple[tuple[Held, str], ...] = (("sources", workspace.layout.src), ("environment", workspace.layout.venv))
    for held, place in parts:
        inside = place.startswith(ROOT)
        places.setdefault(workspace.root if inside else Path(place), []).append(held)
    about = Ask(
        places=places,
        python=workspace.python,
        toolkit=workspace.settings.toolkit.root,
        adopted=workspace.layout.adopted,
        environments=_environments(workspace),
        hosts=hosts,
        network=make_network(workspace.settings.network, variables()),
        compilers={"gcc": workspace.settings.compilers.cc, "g++": workspace.settings.compilers.cxx},
    )
    facts = probe(sections, about)
    return with_toolkit_of_shell(facts, workspace.settings, workspace.profile.toolkit) if shell else facts


def _environments(workspace: Workspace) -> tuple[str, ...]:
    """Give the environments whose torch is in question: the one that is named, else the active one, else the built."""
    if workspace.layout.adopted:
        return (str(Path(workspace.python).parent.parent),)
    active = [path for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if (path := variable(name))]
    return (*active, workspace.layout.venv.replace(ROOT, str(workspace.root)))


def findings_of(workspace: Workspace, facts: Facts, goal: Goal) -> tuple[Finding, ...]:
    """Ask all checks of the machine for one profile; what lies in someone's environment stops nothing."""
    question = Question(facts, workspace.profile, workspace.device, goal, gpu_table())
    return examine(question, check_texts(), only=about_machine())


def gate(workspace: Workspace, facts: Facts, purpose: Purpose = BUILD, verify: VerifyMode = "auto") -> None:
    """Stop before the first step when a check that it needs fails."""
    found = failing(workspace, facts, purpose, verify)
    if found:
        families = facts.system.places if facts.system else ()
        lines = [f"this machine is not ready to {purpose.command} {workspace.profile.name}"]
        lines += [f"{finding.title}: {finding.seen}. {finding.why}" for finding in found]
        follows = f"xpusetup setup --for {purpose.goal}"
        raise NotReadyError("\n".join(lines), fix=_fix(workspace, found, families, purpose), follows=follows)


def _fix(workspace: Workspace, found: list[Finding], families: tuple[str, ...], purpose: Purpose) -> Advice:
    """Give what mends the findings, to be pasted as it is: prose between commands becomes a comment."""
    commands = {finding.id: finding.fix.commands_for(families) for finding in found}
    fixes: list[str] = []
    if any("sudo " in line for lines in commands.values() for line in lines):
        name = shlex.quote(workspace.profile.name)
        setup = Command(f"xpusetup setup {name} --for {purpose.goal} --apply")
        fixes += [setup, "# it asks before it changes anything. By hand:"]
    mark = "# " if any(commands.values()) or len(found) > 1 else ""
    for finding in found:
        fixes += [f"# {finding.id}"] if len(found) > 1 else []
        fixes += commands[finding.id]
        fixes += [Advice(mark, finding.fix.say)] if finding.fix.say else []
    return Advice.lines(fixes, "\n  ")


def find_unreached(workspace: Workspace, facts: Facts, purpose: Purpose = BUILD) -> list[Finding]:
    """Give what keeps a machine from the network. It stops no build: sources may be here, or come in a bundle."""
    found = findings_of(workspace, facts, purpose.goal)
    return [finding for finding in found if finding.level in BAD and finding.area == NETWORK]


def failing(workspace: Workspace, facts: Facts, purpose: Purpose = BUILD, verify: VerifyMode = "auto") -> list[Finding]:
    """Give the checks that the purpose needs and that fail here.

    Nobody needs a device to install for it (images, login nodes): its checks count where verification is required.
    """
    found = [finding for finding in findings_of(workspace, facts, purpose.goal) if finding.level in BAD]
    found = [finding for finding in found if finding.id not in purpose.without]
    found = [finding for finding in found if finding.area != NETWORK]
    return [finding for finding in found if verify == "require" or finding.area not in OF_DEVICE]
