"""Intel's run time in a guarded environment: whether what replaced a part of it leaves a libsycl that loads.

Its packages require each other with ==, and pip ends with 0 over a requirement that it breaks: `pip install mkl` brings
the Unified Runtime's loader of another day, which lacks functions that the libsycl of before asks for.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from posixpath import basename
from typing import TYPE_CHECKING

from xpusetup.base.errors import NotReadyError
from xpusetup.machine.probe_fit import site_packages
from xpusetup.machine.probe_torch import look_at_libraries
from xpusetup.run.guard import (
    DistributionChange,
    describe,
    find_replaced,
    read_changes,
    read_distributions,
    read_guarded,
)
from xpusetup.run.root import Root, read_stamps
from xpusetup.system.files import Sysroot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.machine.environments import LibraryConflict

OF_INTEL = re.compile(r"intel-.+|dpcpp-.+|onemkl-.+|mkl|oneccl.*|impi-rt|tbb|tcmlib|umf|onednn.*")
SYCL = re.compile(r"lib(?:sycl|ur_|umf|pti)")
PROVEN = ("symbol", "version", "majors")


def hold_run_time(root: Root, prefix: Path) -> None:
    """Refuse an environment whose libsycl does not load since a part of the run time was replaced.

    Libraries are looked at only where something was. Raises NotReadyError.
    """
    found = read_changes(read_guarded(root), read_stamps(root).values())
    changes = [each for each in found[1] if OF_INTEL.fullmatch(each.of)] if found else []
    if found is None or not changes:
        return
    seen = look_at_libraries(prefix, site_packages(prefix), Sysroot.from_environment())
    broken = None if isinstance(seen, str) else _find_broken(seen.conflicts, prefix)
    if broken is not None:
        now = read_distributions(Path(found[0].packages))
        by = next((each.culprit for each in find_replaced(changes, now) if each.culprit), "")
        raise NotReadyError(_told(changes, broken, by), fix=_mend(changes, prefix))


def _find_broken(conflicts: Iterable[LibraryConflict], prefix: Path) -> LibraryConflict | None:
    """Give a conflict of SYCL's libraries that both lie in the environment: its own library path is no part of it."""
    inside = (one for one in conflicts if one.first.startswith(f"{prefix}/") and one.library.startswith(f"{prefix}/"))
    return next(
        (one for one in inside if one.level == "fail" and one.kind in PROVEN and SYCL.match(basename(one.library))),
        None,
    )


def _told(changes: Sequence[DistributionChange], broken: LibraryConflict, by: str) -> str:
    more = f" and {broken.count - 1} more" if broken.count > 1 else ""
    lacks = f"{basename(broken.library)} needs {broken.names[0]}{more}, which {basename(broken.first)} lacks"
    whose = f", by {by}" if by else ""
    return f"{'; '.join(map(describe, changes))}{whose}: {lacks}, so that no program with SYCL starts here"


def _mend(changes: Sequence[DistributionChange], prefix: Path) -> str:
    """Give the command that puts back what was there."""
    pins = (shlex.quote(f"{each.name}=={each.was}") for each in changes if each.was is not None)
    return f"{shlex.quote(str(prefix / 'bin/python'))} -m pip install --no-deps {' '.join(pins)}"
