"""Package managers: which one a distribution has, and how it installs without a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.facts import Facts
    from xpusetup.platforms import Manager

INSTALL: dict[Manager, tuple[str, ...]] = {
    "apt": ("apt-get", "install", "-y"),
    "dnf": ("dnf", "install", "-y"),
    "zypper": ("zypper", "--non-interactive", "install"),
}
FAMILIES: dict[str, Manager] = {"debian": "apt", "ubuntu": "apt", "rhel": "dnf", "fedora": "dnf", "suse": "zypper"}


def manager_of(facts: Facts) -> Manager | None:
    """Give the package manager of a distribution, by what it is made from."""
    families = facts.system.families if facts.system else []
    return next((FAMILIES[family] for family in families if family in FAMILIES), None)


def install_argv(manager: Manager, names: Sequence[str], options: Sequence[str] = ()) -> tuple[str, ...]:
    """Give the command that installs packages."""
    return (*INSTALL[manager], *options, *names)
