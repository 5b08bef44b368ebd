"""What is known of each accelerator: one data file a device."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from xpusetup.profile import Name, Strict, Text
from xpusetup.tomltext import parse_toml

Word = Annotated[str, Field(pattern=r"^[a-z0-9_]*$")]
CheckId = Annotated[str, Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)+$")]


class Device(Strict):
    """An accelerator as torch calls it. `expected`: it is there whenever its software is, so absence is a fault.

    `compile_backend` is that of torch.compile, `collective_backend` that of torch.distributed, `gaps` the checks of
    verify that this device is known not to pass, each with its reason.
    """

    name: Name
    title: str
    pci_vendors: list[str] = []
    nodes: Literal["render", "none"] = "none"
    expected: bool = False
    compile_backend: Word = ""
    collective_backend: Word = ""
    gaps: dict[CheckId, Text] = {}

    @property
    def listed_gaps(self) -> tuple[str, ...]:
        """The gaps as the verifier's options say them: ID=REASON."""
        return tuple(f"{name}={reason}" for name, reason in self.gaps.items())


def parse_device(text: str) -> Device:
    """Read one file of data/devices."""
    return Device.model_validate(parse_toml(text))
