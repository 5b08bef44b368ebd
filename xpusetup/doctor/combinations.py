"""Combinations of GPU, kernel, driver and packages that others found not to work."""

from xpusetup.doctor.question import CheckAnswer, Question, is_xpu
from xpusetup.machine.known_bad import Situation, find_known_bad
from xpusetup.machine.works import lists_gpu


def check_combinations(question: Question) -> CheckAnswer | None:
    """Look for what is known not to work together here; one with which nothing works fails where nothing does."""
    if not is_xpu(question) or question.gpus is None or not question.bad:
        return None
    found = find_known_bad(question.bad, Situation(question.facts, question.gpus))
    if not found:
        return CheckAnswer("ok", "none here")
    first = found[0]
    words = {"happens": first.happens, "workaround": first.workaround, "thread": first.source}
    stops = first.stops and (first.firm or not lists_gpu(question.facts))
    return CheckAnswer("fail" if stops else "warn", "\n".join(f"{each.what} ({each.id})" for each in found), words)
