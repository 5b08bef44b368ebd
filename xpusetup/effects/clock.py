"""The clock."""

from __future__ import annotations

import time


def now() -> float:
    """Give the time in seconds since the epoch."""
    return time.time()
