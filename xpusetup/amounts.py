"""Times and sizes as people read them."""

from __future__ import annotations

MIB = 1 << 20
NEXT = 1024


def render_duration(seconds: float) -> str:
    """Give a time as people say it: 9 s, 1:12, 2:41:07."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}" if minutes else f"{rest} s"


def render_size(size: float | None) -> str:
    """Give a size in bytes as people read it: 82 KiB, 412 MiB, 3.4 GiB."""
    if size is None:
        return "unknown"
    mib = size / MIB
    if 0 < mib < 1:
        return f"{max(1.0, mib * NEXT):.0f} KiB"
    return f"{mib / NEXT:.1f} GiB" if mib >= NEXT else f"{mib:.0f} MiB"
