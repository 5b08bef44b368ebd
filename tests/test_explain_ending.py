"""Logs that only seem to have ended well."""

from __future__ import annotations

from typing import Any

import pytest

from logs import HERE, explained, ids
from xpusetup.base.values import parse_toml

CASES: dict[str, list[dict[str, Any]]] = parse_toml((HERE / "told.toml").read_text(encoding="utf-8"))


def name(case: dict[str, Any]) -> str:
    return str(case["what"])


@pytest.mark.parametrize("case", CASES["failed"], ids=name)
def test_what_failed_did_not_go_well(case: dict[str, Any]) -> None:
    found = explained(case["log"].strip("\n"))
    told = found.describe()
    if "id" in case:
        assert ids(found)[:1] == [case["id"]]
    else:
        assert case["line"] in (found.causes[0].text if found.causes else told.first_error)
        assert told.ended is None


WENT_WELL_BEFORE = (
    "$ ./run.sh\nCollecting x\nSuccessfully installed x-1.0\nstep 1 loss 2.0\nstep 2 loss 1.9\nsaved: 3 files\n",
    "step 1 of 5\nBuilding\n[100%] Built target x\n-- Build files have been written to: /b\n",
)
TRACE = 'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in <module>\n    main()\n'
LAST_WORDS = (
    f"{TRACE}ValueError: odd",
    f"{TRACE}KeyError: 'x'\nwandb:   loss 2.1\nwandb: synced 5 files",
    f"{TRACE}ValueError: odd\n 33%|███▎      | 1/3 [00:01<00:02,  2.1it/s]",
    f"{TRACE}RuntimeError: odd\nSet TORCH_LOGS=+dynamo for more\n    torch._dynamo.config.suppress_errors = True",
    f"{TRACE}ValueError: odd\nTrue",
    f"{TRACE}ValueError: odd\nDone.",
    "ERROR: Could not install packages due to an OSError: odd",
    "  × Failed to build `odd==1`\n  ╰─▶ The build backend returned an error",
    "ResolvePackageNotFound:\n  - odd==1.0=py38_0",
    "No provider of 'odd' found.",
    "odd : The term 'odd' is not recognized as the name of a cmdlet, function, script file, or operable program.",
    "Because odd (1) depends on x (2) and y depends on x (3), version solving failed.",
    "dpkg: error processing package odd (--configure):\nErrors were encountered while processing:\n odd",
    "CMake Error at CMakeLists.txt:3 (message):\n  odd\n\n\n-- Configuring incomplete, errors occurred!",
    "npm error code ODD\nnpm error A complete log of this run can be found in: /root/x.log",
)


@pytest.mark.parametrize("before", WENT_WELL_BEFORE, ids=("installed", "built"))
@pytest.mark.parametrize("last", LAST_WORDS, ids=[words.splitlines()[-1][:24] for words in LAST_WORDS])
def test_what_ends_with_a_failure_did_not_go_well(before: str, last: str) -> None:
    told = explained(before + last).describe()
    assert told.ended is None
    assert told.causes or not told.went_on
