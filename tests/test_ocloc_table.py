"""The table of GPUs beside what ocloc says: a part of what the real one wrote, and what would be a difference."""

from __future__ import annotations

import pytest

from real.ocloc_table import compare, version_of, wheel_images, wrong_in
from xpusetup.machine.tables import gpu_table

TEXT = """\
ocloc:
  device_ip_versions:
    - 0x5004000
    - 0x5008000
  ip_to_dev_rev_id:
    - ip: 0x5004000
      revision_id: 0
      device_id: 0xe20b
    - ip: 0x5008000
      revision_id: 0
      device_id: 0xe223
    - ip: 0x30f0007
      revision_id: 47
      device_id: 0xbd5
  acronym:
    bmg-g21: 0x5004000
    bmg: 0x5004000
    bmg-g31: 0x5008000
    pvc: 0x30f0007
  family_groups:
    xe2: [0x5004000, 0x5004001, 0x5008000]
  release_groups:
    xe2-hpg: [0x5004000, 0x5004001, 0x5008000]
    xe-hpc: [0x30f0000, 0x30f0007]
"""


def differences(text: str) -> str:
    return wrong_in(compare(text, gpu_table().families, wheel_images.VERSIONS))


def test_what_the_real_one_says_is_what_the_table_has() -> None:
    assert version_of("0x30f0007") == "12.60"
    assert differences(TEXT) == ""
    found = compare(TEXT, gpu_table().families, wheel_images.VERSIONS)["unknown to ocloc"]
    assert {"e202", "b080"} <= set(found)
    assert not {"e20b", "e223", "0bd5"} & set(found)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("0xe20b", "0xffff", "unknown to us: ffff"),
        ("ip: 0x5008000", "ip: 0x500c000", "another version: e223"),
        ("    bmg: 0x5004000", "    bmg: 0x500c000", "names that lack a version: bmg"),
        ("    pvc: ", "    pvd: ", "names that lack a version: pvd"),
    ],
)
def test_a_difference_is_named(old: str, new: str, says: str) -> None:
    assert old in TEXT
    assert differences(TEXT.replace(old, new)) == says
