"""Spoil what the CPU gives in every case of the device suite, and print the cases that do not notice.

Run by the python of an environment that holds torch, with the folder of the helpers as argument.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch

REACH = 3
"""So many times a limit a number is moved by: less is no fault."""


def spoil(value: Any, limit: float) -> Any:
    """Change a result by the least that has to be seen."""
    if isinstance(value, (tuple, list)):
        return [spoil(value[0], limit), *value[1:]] if value else [0]
    if not isinstance(value, torch.Tensor):
        return not value if isinstance(value, bool) else None
    if not value.numel():
        return value.new_ones(1)
    if limit:
        return value.detach().cpu() * (1 + REACH * limit) if value.any() else value.detach().cpu() + 1
    spoiled = value.detach().cpu().resolve_conj().resolve_neg().contiguous().clone()
    last = spoiled.flatten()[-1:]
    last.copy_(~last if value.dtype == torch.bool else torch.where(last.isfinite(), last * 2 + 1, 0))
    return spoiled


def main(helpers: str) -> None:
    sys.path.insert(0, helpers)
    from device_checks import perform  # type: ignore[import-not-found]  # noqa: PLC0415, found by the line above
    from helperlib.verify import bench, verdicts  # type: ignore[import-not-found]  # noqa: PLC0415

    judge, seen, blind = bench.judge_case, [], []

    def judge_spoiled(device: Any, case: Any) -> Any:
        spoiled = judge(device, case._replace(ours=lambda: spoil(case.ours(), case.limit)))
        seen.append(case.name)
        if not spoiled.wrong:
            blind.append(case.name)
        return judge(device, case)

    bench.judge_case = judge_spoiled
    for check in verdicts.SUITE:
        perform(check, bench.DeviceBench("cpu"))
    sys.stdout.write(json.dumps({"cases": len(seen), "blind": blind}))


if __name__ == "__main__":
    main(sys.argv[1])
