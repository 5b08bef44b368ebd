"""The profile of the real XPU build differs from the shipped one in what is listed, and each difference says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tomli
import tomli_w

from e2e.support import CHECKOUT
from real.xpu_profile import DIFFERENCES, SHIPPED, derive
from xpusetup.config.load import parse_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

REVS = {name: digit * 40 for name, digit in (("torch", "1"), ("vision", "2"), ("audio", "3"))}


def shipped() -> dict[str, Any]:
    return tomli.loads((CHECKOUT / SHIPPED).read_text())


def differing(one: Any, other: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Name the places in which two documents differ; members of lists are called by their names."""
    sides = [by_name(side) for side in (one, other)]
    kinds = [side.get("kind") if isinstance(side, dict) else side for side in sides]
    if not all(isinstance(side, dict) for side in sides) or kinds[0] != kinds[1]:
        if one != other:
            yield keys
        return
    for name in sorted(sides[0].keys() | sides[1].keys()):
        yield from differing(sides[0].get(name), sides[1].get(name), (*keys, name))


def by_name(side: Any) -> Any:
    named = isinstance(side, list) and side and all(isinstance(each, dict) and "name" in each for each in side)
    return {each["name"]: each for each in side} if named else side


def test_no_other_value_differs() -> None:
    listed = {("components", one.component, *one.keys) for one in DIFFERENCES}
    assert set(differing(shipped(), derive(shipped(), REVS))) == listed
    assert set(differing(derive(shipped(), {}), derive(shipped(), REVS))) == {
        ("components", name, "rev") for name in REVS
    }


def test_every_difference_has_a_reason_of_its_own_kind() -> None:
    assert all(len(one.why.split()) > 3 for one in DIFFERENCES)
    assert len({(one.component, one.keys) for one in DIFFERENCES}) == len(DIFFERENCES)


def test_it_is_a_profile() -> None:
    profile = parse_profile(tomli_w.dumps(derive(shipped(), REVS)), "derived")
    torch = next(part for part in profile.components if part.name == "torch")
    assert torch.kind == "source"
    assert (torch.rev, torch.inspect.xpu, torch.inspect.device_code) == ("1" * 40, True, False)
    assert [item.path for item in torch.vendored] == ["third_party/torch-xpu-ops", "third_party/ideep/mkl-dnn"]
