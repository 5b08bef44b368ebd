"""A Profile as the text of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tomli_w

if TYPE_CHECKING:
    from xpusetup.profile import Profile


def render_profile(profile: Profile, comment: str) -> str:
    """Give a profile as TOML with one line of comment above it; what has its default value is left out."""
    data = profile.model_dump(by_alias=True, mode="json", exclude_defaults=True, exclude_none=True)
    dumps = data.pop("components", [])
    parts = [{"kind": part.kind, **dumped} for part, dumped in zip(profile.components, dumps, strict=True)]
    return f"# {comment}\n{tomli_w.dumps({**data, **({'components': parts} if parts else {})})}"
