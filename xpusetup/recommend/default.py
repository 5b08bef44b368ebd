"""The release that is meant where no profile is named: the newest one that fits this machine."""

from xpusetup.base.errors import UsageError
from xpusetup.config.shipped import shipped
from xpusetup.machine.facts import Facts, Section

SEEN: tuple[Section, ...] = ("hardware",)
"""Read from files within a few milliseconds; no process is started for a default."""


def newest_that_fits(facts: Facts | None = None) -> tuple[str, str]:
    """Give the newest release that the GPUs of these facts, or of this machine, can use, and why it is that one."""
    from xpusetup.recommend.machine import known  # noqa: PLC0415 - same
    from xpusetup.recommend.solve import choose_release  # noqa: PLC0415 - a profile that is named needs no choice

    if facts is None:
        from xpusetup.machine.probe import probe  # noqa: PLC0415 - facts that are read need no probe

        facts = probe(SEEN)
    name, why = choose_release(facts, shipped(), known())
    if not name:
        raise UsageError("no profile of a release ships with this program", fix="name one: --profile FILE")
    return name, why
