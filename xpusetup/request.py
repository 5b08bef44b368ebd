"""From the words of the command line to a Request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from xpusetup.errors import UsageError
from xpusetup.model import ROOT, Request, VerifyMode
from xpusetup.redact import hide
from xpusetup.values import holds_credentials

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,59}")
"""As `DeviceTarget` of profiles."""
SET = re.compile(r"(.+?)\.([A-Za-z_][A-Za-z0-9_]*)=(.*)")


def make_request(
    *, only: Sequence[str], until: str, arch: str, set_: Sequence[str], verify: str, target: str = ""
) -> Request:
    """Check and freeze what was asked. Raises UsageError for words that mean nothing."""
    if verify not in get_args(VerifyMode):
        raise UsageError(f"--verify {verify!r} means nothing", fix=f"one of {', '.join(get_args(VerifyMode))}")
    return Request(
        only=tuple(only),
        until=until,
        arch=() if arch in ("", "auto") else _parse_targets(arch),
        set=tuple(_parse_set(text) for text in set_),
        verify=verify,  # type: ignore[arg-type]  # checked above
        target=_parse_target(target),
    )


def _parse_targets(text: str) -> tuple[str, ...]:
    found = parse_arch(text)
    if not found:
        raise UsageError(f"--arch {text!r} names no device target", fix="as in: --arch pvc,bmg; auto: what is here")
    return found


def parse_arch(text: str) -> tuple[str, ...]:
    """Read a list of device targets. Raises UsageError for what none is called."""
    targets = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if odd := next((target for target in targets if not TARGET.fullmatch(target)), ""):
        raise UsageError(f"--arch {odd!r} is no device target", fix="letters, digits and '-', as in: --arch bmg,pvc")
    return targets


def render_request(request: Request) -> tuple[str, ...]:
    """Give the options that ask for the same again."""
    return (
        *(word for name in request.only for word in ("--only", name)),
        *(("--until", request.until) if request.until else ()),
        *(("--arch", ",".join(request.arch)) if request.arch else ()),
        *(word for name, key, value in request.set for word in ("--set", f"{name}.{key}={value}")),
        *(("--target", request.target) if request.target else ()),
        *(("--require-hashes",) if request.require_hashes else ()),
        *(("--verify", request.verify) if request.verify != "auto" else ()),
        *(word for source in request.sources for word in ("--source", _render_source(request, *source))),
        *(word for patch in request.patches for word in ("--patch", f"{patch.source}={patch.file}")),
    )


def _render_source(request: Request, name: str, folder: str) -> str:
    return f"{name}={folder}{':editable' if name in request.editable else ''}"


def _parse_set(text: str) -> tuple[str, str, str]:
    found = SET.fullmatch(text)
    if found is None or not text.isprintable() or ROOT in text:
        raise UsageError(f"--set {hide(text)!r} is not COMPONENT.KEY=VALUE", fix="as in: --set torch.USE_XCCL=0")
    if holds_credentials(text):
        fix = "leave them out: git has a credential helper, pip and uv read ~/.netrc"
        raise UsageError("--set holds a user, a password or a token, which would stand in scripts and logs", fix=fix)
    return found[1], found[2], found[3]


def _parse_target(text: str) -> str:
    if text.startswith("-") or not text.isprintable() or ROOT in text or any(char.isspace() for char in text):
        raise UsageError(f"--target {text!r} is no target of ninja", fix="as in: --target c10")
    return text
