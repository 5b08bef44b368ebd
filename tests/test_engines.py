"""sccache's distributed mode: what it says of itself, and what keeps device compiles here."""

from __future__ import annotations

import json

import pytest

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.run.compiler_caches import (
    Counts,
    Engine,
    Launcher,
    parse_engine,
    parse_sccache_stats,
    render_launcher,
    render_local_configuration,
    render_local_launcher,
)

URL = "http://10.0.0.1:10600/"
CONFIGURATION = """
server_startup_timeout_ms = 10000

[dist]
scheduler_url = "http://10.0.0.1:10600"

[dist.auth]
type = "token"
token = "secret"

[cache.disk]
dir = "/sw/cache"
"""


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


def test_the_local_configuration_keeps_all_but_the_scheduler() -> None:
    text = render_local_configuration(CONFIGURATION, "config")
    assert "dist" not in text
    assert "secret" not in text
    assert '[cache.disk]\ndir = "/sw/cache"' in text
    assert render_local_configuration("", "config") == ""
    with pytest.raises(UsageError, match="config is not TOML"):
        render_local_configuration("[dist", "config")


@pytest.mark.parametrize(("told", "port"), [({}, 4227), ({"SCCACHE_SERVER_PORT": "5000"}, 5001)])
def test_the_local_launcher_has_a_server_of_its_own(told: dict[str, str], port: int) -> None:
    text = render_local_launcher("/opt/my tools/sccache", "/r/sccache.toml", told)
    command = f"SCCACHE_CONF=/r/sccache.toml SCCACHE_SERVER_PORT={port} '/opt/my tools/sccache' \"$@\""
    assert text.endswith(f"exec env -u SCCACHE_SERVER_UDS {command}\n")


def test_only_device_compiles_go_through_it() -> None:
    told = render_launcher(Launcher("sccache", "/s", "/r/local"), "/r", {})
    assert told.pop("CMAKE_SYCL_COMPILER_LAUNCHER") == "/r/local"
    assert set(told.values()) == {"/s"}


def test_what_was_sent_is_counted_and_said() -> None:
    stats = {"cache_hits": {"counts": {"C/C++": 3}}, "cache_misses": {"counts": {"C/C++": 5}}}
    more = {"dist_compiles": {"10.0.0.2:10501": 3, "10.0.0.3:10501": 1}, "dist_errors": 1}
    counts = parse_sccache_stats(json.dumps({"stats": {**stats, **more}}))
    assert counts == Counts(3, 5, sent=4, kept=1)
    assert str(counts) == "3 of 8 compiles, 4 were done elsewhere, 1 could not be sent"
    assert counts - Counts(1, 1, sent=1) + Counts(0, 1) == Counts(2, 5, sent=3, kept=1)
