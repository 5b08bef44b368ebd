"""The data files of the checks as values."""

from __future__ import annotations

from data.profiles import TOP
from xpusetup.doctor.question import parse_check_texts
from xpusetup.machine.tables import gpu_table

TEXTS = parse_check_texts((TOP / "xpusetup/data/checks.toml").read_text())
GPUS = gpu_table()
