"""explain --prompt and doctor --prompt: a failure or a machine as one text for an assistant, a colleague or an issue.

The text is printed without the names, addresses and passwords that are recognized; nothing is sent anywhere.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from xpusetup.base.errors import UsageError
from xpusetup.commands.collect_env import make_report
from xpusetup.commands.doctor import DoctorOptions, judge_machine, look_at_machine, redactor_of
from xpusetup.commands.explain import explain_log, find_log, root_of_log
from xpusetup.commands.result import Result
from xpusetup.explain.prompt import make_prompt, make_prompt_of_machine
from xpusetup.machine.tables import gpu_table
from xpusetup.run.preflight import probe_all
from xpusetup.run.workspace import Where, open_workspace


@dataclass(frozen=True)
class Prompt:
    """The text to hand on: what is asked, the lines that matter or the machine, and what this program makes of them."""

    prompt: str


def prompt_of_log(log: str) -> Result[Prompt]:
    """Make the text for a log; for that of a step of a build also with the machine, which is this one then."""
    log = find_log(log)
    told, lines = explain_log(log)
    root = root_of_log(Path(log))
    facts = probe_all(open_workspace(Where(root=str(root.path))), shell=False) if root else None
    machine = make_report(facts, gpu_table()) if facts else ""
    return Result("explain", Prompt(make_prompt(told, lines, machine, redactor_of(facts).knowing(lines.texts).text)))


def prompt_of_machine(where: Where, asked: DoctorOptions) -> Result[Prompt]:
    """Make the text for a machine: what was pasted of it, else a report of what was seen; then what the checks say.

    Raises UsageError for options that ask for something else beside it.
    """
    others = {"--save": asked.save, "--collect-env": asked.collect_env, "a second --facts": asked.facts[1:]}
    if unfit := [name for name, given in others.items() if given]:
        raise UsageError(f"--prompt is one text about one machine, without {unfit[0]}", fix=f"leave {unfit[0]} out")
    look = look_at_machine(where, replace(asked, whole=True))
    told, _ = judge_machine(look)
    text = "\n".join(look.paste.lines) if look.paste else make_report(look.facts, gpu_table())
    causes = [each for name in told.root_causes for each in told.findings if each.id == name]
    later = set(told.stops.get("build", ())) - set(told.stops.get("run", told.stops.get("build", ())))
    notes = dict.fromkeys(later, " (needed only for source builds)")
    said = [f"{each.title}{notes.get(each.id, '')}: {each.seen}. {each.why} {each.fix.say}".strip() for each in causes]
    clean = redactor_of(None if look.paste else look.facts).knowing(text.splitlines()).text
    return Result("doctor", Prompt(make_prompt_of_machine(text, said, clean)))
