"""Many machines: which facts and findings are not the same everywhere, and who has which."""

from __future__ import annotations

from dataclasses import replace

from data.asking import findings
from data.machines import GIB, NODE
from data.well import CARD, LADDER, well
from xpusetup.doctor.differences import differing_facts, differing_findings

NODES = {f"node{number:03d}": well() for number in range(200)}
OLD = well(kernel={"release": "6.8.0-31-generic"})
CLOSED = well(hardware={"nodes": [{**NODE, "address": "0000:03:00.0", "openable": False}]})
SMALLER = well(resources={"memory": 32 * GIB}, userland={"level_zero": {**LADDER, "devices": []}})
BARE = well(hardware={"gpus": [], "nodes": []})


def test_machines_that_are_alike() -> None:
    other = well(system={"user": "you", "uid": 7}, resources={"memory_available": 1})
    assert differing_facts({**NODES, "other": replace(other, taken="later")}) == ()


def test_who_differs_in_what() -> None:
    machines = {**NODES, "node007": OLD, "node100": OLD, "node150": CLOSED}
    found = {row.id: row.groups for row in differing_facts(machines)}
    assert set(found) == {"kernel.release", "hardware.nodes[/dev/dri/renderD128].openable"}
    common, rare = found["kernel.release"]
    assert (common.value, len(common.machines)) == ("6.14.0-33-generic", 198)
    assert (rare.value, rare.machines) == ("6.8.0-31-generic", ("node007", "node100"))


def test_what_is_missing_altogether_is_one_difference() -> None:
    found = differing_facts({"a": well(), "b": BARE})
    assert [row.id for row in found] == ["hardware.gpus[0000:03:00.0]", "hardware.nodes[/dev/dri/renderD128]"]
    assert [(group.value, group.machines) for group in found[0].groups] == [("(not seen)", ("b",)), ("(there)", ("a",))]


def test_a_second_card_is_told_apart_by_its_address() -> None:
    two = well(hardware={"gpus": [{**CARD, "address": "0000:01:00.0"}, CARD]})
    assert [row.id for row in differing_facts({"a": well(), "b": two})] == ["hardware.gpus[0000:01:00.0]"]


def test_cards_of_one_name_are_counted() -> None:
    four = well(userland={"level_zero": {**LADDER, "devices": LADDER["devices"] * 4}})
    three = well(userland={"level_zero": {**LADDER, "devices": LADDER["devices"] * 3}})
    name = LADDER["devices"][0]["name"]
    assert [row.id for row in differing_facts({"a": four, "b": three})] == [f"userland.level_zero.devices[{name} 4]"]


def test_findings() -> None:
    machines = {"a": well(), "b": CLOSED, "c": SMALLER, "d": SMALLER}
    rows = differing_findings({name: tuple(findings(each, "run").values()) for name, each in machines.items()})
    found = {row.id: [(group.value, group.machines) for group in row.groups] for row in rows}
    assert found["perm.render_group"] == [
        ("ok", ("a", "c", "d")),
        ("fail: me may not open it: /dev/dri/renderD128 belongs to group 992", ("b",)),
    ]
    assert found["umd.ze_init"][1] == ("ok", ("a", "b"))
    assert "res.cgroup" not in found
