"""containers/ is what the program writes today. `make containers` writes it anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data.profiles import SHIPPED, shipped
from golden import hold
from xpusetup.commands.emit import KINDS, EmitOrder
from xpusetup.config.request import read_request
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from collections.abc import Iterator

TIERS = ("current", "reference")
RECIPES = {"dockerfile": "Dockerfile", "apptainer": "xpusetup.def"}
README = """# Images of the releases

What `xpusetup emit dockerfile` and `xpusetup emit apptainer` write for the current releases and those of the first
guides, to read, and to see what a change of the program changes. The recipes alone: what they copy
(steps, helpers, scripts)

    xpusetup emit dockerfile --profile NAME -o DIR
    xpusetup emit apptainer --profile NAME -o DIR

write beside them: those folders build as they lie. [How images are made](../docs/containers.md).

| profile | |
|---|---|
{rows}
"""


def recipes(profile: str) -> Iterator[tuple[str, str]]:
    request = read_request(only=None, until="", arch="auto", variables=None, verify="auto")
    order = EmitOrder(places=(Where(profile=profile),), request=request)
    yield from ((f"{profile}/{file}", KINDS[kind].make(order).files[file]) for kind, file in RECIPES.items())


def test_containers_are_current() -> None:
    names = [name for name in SHIPPED if shipped(name).tier in TIERS]
    assert len(names) > 4
    rows = "\n".join(f"| [{name}]({name}/Dockerfile) | {shipped(name).summary} |" for name in names)
    texts = dict(pair for name in names for pair in recipes(name))
    hold("../../containers", {**texts, "README.md": README.format(rows=rows)})
