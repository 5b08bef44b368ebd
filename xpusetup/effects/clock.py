"""The clock."""

from __future__ import annotations

import datetime as dt
import time


def now() -> float:
    """Give the time in seconds since the epoch."""
    return time.time()


def today() -> str:
    """Give the day as 2026-11-21, in universal time."""
    return dt.datetime.now(dt.timezone.utc).date().isoformat()
