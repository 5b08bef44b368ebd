"""Programs that see the network as the machine is set up for it: its proxies, certificates and redirections."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PASSED_ON = re.compile(r"(?i)PATH|HOME|LANG|TMPDIR|APT_CONFIG|GIT_CONFIG_\w+|GIT_SSL_\w+|SSL_CERT_\w+|\w+_proxy")


class UnavailableError(RuntimeError):
    """No way to what is wanted is open from here."""


def outer_environment() -> dict[str, str]:
    passed_on = {name: value for name, value in os.environ.items() if PASSED_ON.fullmatch(name)}
    return {**passed_on, "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}


def run(argv: Sequence[str], *, env: Mapping[str, str], seconds: int = 60, cwd: Path | None = None) -> str:
    """Start it without a terminal to prompt on and return its output; `timeout` ends its children too."""
    line = ("timeout", "--kill-after=2", str(seconds), *argv)
    done = subprocess.run(line, env=env, cwd=cwd, input="", capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        why = done.stderr.strip()[-500:] or f"nothing said within {seconds} s"
        raise UnavailableError(f"`{shlex.join(argv)}` ended with {done.returncode}: {why}")
    return done.stdout
