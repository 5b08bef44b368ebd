"""Every Dockerfile that can be written passes hadolint, and every script for root passes shellcheck."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from data.profiles import SHIPPED
from e2e.test_shellcheck import shellcheck
from xpusetup.base.errors import UsageError
from xpusetup.commands.emit import KINDS, EmitOrder
from xpusetup.config.request import read_request
from xpusetup.emit.image_system import Dialect, Origin, Stage, image_table
from xpusetup.run.workspace import Where

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("packaging")]
CHOICES = {
    "os": [system.id for system in image_table().system],
    "target": get_args(Stage),
    "from": get_args(Origin),
    "dialect": get_args(Dialect),
}
ONE = ("sim",)
OTHERS = [name for name in SHIPPED if name not in (*ONE, "main")]


def texts(profile: str, *told: str) -> dict[str, str]:
    """Give an image's files; nothing where there can be no such image."""
    request = read_request(only=None, until="", arch="auto", variables=None, verify="auto")
    order = EmitOrder(places=(Where(profile=profile),), request=request, options=dict(zip(CHOICES, told, strict=True)))
    try:
        return dict(KINDS["dockerfile"].make(order).files)
    except UsageError:
        return {}


@pytest.mark.parametrize("profiles", [ONE, pytest.param(OTHERS, marks=pytest.mark.long)], ids=["one", "others"])
def test_every_dockerfile(tmp_path: Path, profiles: list[str]) -> None:
    """Texts that are alike are looked at once."""
    written: dict[str, Path] = {}
    for profile, *told in product(profiles, *CHOICES.values()):
        for name, text in texts(profile, *told).items():
            if text not in written and (name == "Dockerfile" or name.startswith("system/") or "/" not in name):
                written[text] = tmp_path / f"{len(written)}-{Path(name).name}"
                written[text].write_text(text)
    dockerfiles = [path for path in written.values() if path.name.endswith("Dockerfile")]
    assert len(dockerfiles) >= 32
    hadolint(*dockerfiles)
    shellcheck(*(str(path) for path in written.values() if path.suffix == ".sh"))


def test_hadolint_sees_what_it_looks_for(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM debian\nRUN cd /x && apt-get install gcc\n")
    with pytest.raises(AssertionError, match="DL3006"):
        hadolint(tmp_path / "Dockerfile")


def hadolint(*files: Path) -> None:
    """Run hadolint, as strict as it is by default."""
    program = Path(sys.executable).parent / "hadolint"
    done = subprocess.run((str(program), *map(str, files)), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
