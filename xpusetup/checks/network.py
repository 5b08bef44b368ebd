"""The network as git and pip will use it."""

from __future__ import annotations

from xpusetup.checks.question import Answer, Question


def check_reach(question: Question) -> Answer | None:
    """Say which hosts answered, where they were asked."""
    network = question.facts.network
    if network is None or network.reach is None:
        return None
    silent = [host for host, answers in network.reach.items() if not answers]
    if silent:
        return Answer("warn", f"no answer from {', '.join(silent)}")
    return Answer("ok", ", ".join(network.reach))


def check_proxy(question: Question) -> Answer | None:
    """Look for a proxy that only some programs would take."""
    network = question.facts.network
    if network is None:
        return None
    proxies = network.proxies
    if not {name.lower() for name in proxies} - {"no_proxy"}:
        return Answer("ok", "none")
    if "http_proxy" not in proxies and "https_proxy" not in proxies and "all_proxy" not in proxies:
        return Answer("warn", f"set in capital letters alone: {', '.join(proxies)}")
    if ("http_proxy" in proxies or "HTTP_PROXY" in proxies) and not {"https_proxy", "HTTPS_PROXY"} & set(proxies):
        return Answer("warn", "set for http and not for https")
    return Answer("info", ", ".join(proxies))


def check_credentials(question: Question) -> Answer | None:
    """Look for passwords in addresses."""
    network = question.facts.network
    if network is None:
        return None
    there = network.credentials
    return Answer("info", ", ".join(there)) if there else Answer("ok", "none in the addresses of proxies and indexes")


def check_redirects(question: Question) -> Answer | None:
    """Say where git and pip go instead of the addresses that are written in profiles."""
    network = question.facts.network
    if network is None:
        return None
    gits = [f"{old} is {new}" for new, old in network.redirects.items()]
    pips = [f"{name.rpartition('/')[2]} = {value}" for name, value in network.indexes.items()]
    return Answer("info", ", ".join([*gits, *pips])) if gits or pips else Answer("ok", "none")
