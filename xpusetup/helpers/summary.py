"""The line with which a step says what it found: it begins with "= ", and whoever runs the step shows it."""

from __future__ import annotations

UNIT = 1024
FEW = 10
"""Below this a size is told with one decimal."""
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def say_summary(*facts: str) -> None:
    """Print facts as a step's last word, in ASCII whatever the terminal can show; empty ones are left out."""
    text = " | ".join(fact for fact in facts if fact)
    print(f"= {text}".encode("ascii", "backslashreplace").decode(), flush=True)


def render_size(size: float) -> str:
    """Give a size in bytes as people say it: 412 MiB, 9.1 GiB."""
    power = 0
    while size >= UNIT and power < len(UNITS) - 1:
        size, power = size / UNIT, power + 1
    return f"{size:.1f} {UNITS[power]}" if power and size < FEW else f"{size:.0f} {UNITS[power]}"


def count(number: int, noun: str) -> str:
    """Give a number with its noun: 1 library, 2 libraries, 3 patches."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
