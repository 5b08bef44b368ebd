"""The device suite: the families of checks beyond those of numbers, in the order in which they run."""

from __future__ import annotations

import checks_attention
import checks_autocast
import checks_indexing
import checks_memory
import checks_operators
import checks_random
import checks_storage
import checks_streams
import checks_tensors
import checks_training
import checks_views

FAMILIES = (
    checks_tensors,
    checks_views,
    checks_operators,
    checks_indexing,
    checks_attention,
    checks_random,
    checks_memory,
    checks_streams,
    checks_storage,
    checks_training,
    checks_autocast,
)
CHECKS = tuple(check for family in FAMILIES for check in family.CHECKS)
