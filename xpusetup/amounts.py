"""Times and sizes as people read them."""

from __future__ import annotations

UNITS = ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)
FEW = 10


def render_duration(seconds: float) -> str:
    """Give a time as people say it: 9 s, 1:12, 2:41:07."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}" if minutes else f"{rest} s"


def render_size(size: float | None) -> str:
    """Give a size in bytes as people read it, with one digit behind the point below ten: 82 KiB, 412 MiB, 3.4 GiB."""
    if size is None:
        return "unknown"
    name, unit = next(((name, unit) for name, unit in UNITS if size >= unit), UNITS[-1])
    value = size / unit
    return f"{value:.1f}".removesuffix(".0") + f" {name}" if value < FEW else f"{value:.0f} {name}"
