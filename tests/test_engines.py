"""sccache's distributed mode: what it says of itself."""

from __future__ import annotations

import json

import pytest

from xpusetup.base.errors import NotReadyError
from xpusetup.run.compiler_caches import (
    Counts,
    Engine,
    parse_engine,
    parse_sccache_stats,
)

URL = "http://10.0.0.1:10600/"


def test_a_scheduler_with_machines() -> None:
    told = {"SchedulerStatus": [URL, {"num_servers": 3, "num_cpus": 96, "in_progress": 0}]}
    assert parse_engine(json.dumps(told)) == Engine(URL, 3, 96)
    assert parse_engine('{"Disabled": "disabled"}') is None


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"NotConnected": [URL, "enabled, not connected"]}, f"{URL}, does not answer: enabled, not connected"),
        ({"SchedulerStatus": [URL, {"num_servers": 0, "num_cpus": 0}]}, "no machine compiles"),
        ({"Another": "state"}, "does not answer: state"),
    ],
)
def test_nobody_to_send_to(told: dict[str, object], says: str) -> None:
    with pytest.raises(NotReadyError) as caught:
        parse_engine(json.dumps(told))
    assert says in caught.value.message
    assert "--launcher ccache" in caught.value.fix


@pytest.mark.parametrize("text", ["", "[]", "{}", "3"])
def test_what_is_no_status(text: str) -> None:
    with pytest.raises(ValueError, match=r"no status of sccache|Expecting value"):
        parse_engine(text)


def test_what_was_sent_is_counted_and_said() -> None:
    stats = {"cache_hits": {"counts": {"C/C++": 3}}, "cache_misses": {"counts": {"C/C++": 5}}}
    more = {"dist_compiles": {"10.0.0.2:10501": 3, "10.0.0.3:10501": 1}, "dist_errors": 1}
    counts = parse_sccache_stats(json.dumps({"stats": {**stats, **more}}))
    assert counts == Counts(3, 5, sent=4, kept=1)
    assert str(counts) == "3 of 8 compiles, 4 were done elsewhere, 1 could not be sent"
    assert counts - Counts(1, 1, sent=1) + Counts(0, 1) == Counts(2, 5, sent=3, kept=1)
