"""What every part of the facts is, and the names of their sections."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Section = Literal[
    "system",
    "resources",
    "hardware",
    "kernel",
    "userland",
    "container",
    "network",
    "toolkits",
    "tools",
    "python",
    "torch",
    "tree",
    "caches",
    "gaudi",
    "ascend",
    "environment",
]


class Fact(BaseModel):
    """No unknown key, no change; a snapshot of a newer version is refused by its schema number."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)
