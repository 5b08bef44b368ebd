"""What is known of every release, as its profile has to say it; commits by their first twelve digits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """One release: version, commit and confidence of torch; commit and confidence of torch-xpu-ops; and so on.

    `triton` is the distribution, its version and its confidence, `scripts` what is sourced, `abi` the variable's value.
    """

    torch: tuple[str, str, str]
    ops: tuple[str, str]
    vision: tuple[str, str]
    audio: tuple[str, str]
    triton: tuple[str, str, str] | None
    tier: str
    cmake: str
    gcc: str
    bundle: str
    scripts: str
    arch: str
    tla: str = ""
    abi: str | None = None
    frontend: str = "setup.py"


TO_2_9 = "pvc,bmg,dg2,arl-h,mtl-h,lnl-m"
FROM_2_10 = f"{TO_2_9},ptl-h,ptl-u"
FIVE = "compiler pti umf ccl mpi"
GPU_DEV = "intel-for-pytorch-gpu-dev-0.5"
ESSENTIALS = "intel-deep-learning-essentials"
AUDIO_2_11 = ("2.11.0", "34c52a67e894")
FACTS = {
    "torch-2.4": Fact(
        torch=("2.4.1", "ee1b6804381c", "likely"),
        ops=("97d692eb8c4b", "likely"),
        vision=("0.19.1", "61943691d339"),
        audio=("2.4.1", "e8cbe1776979"),
        triton=("pytorch-triton-xpu", "3.0.0", "likely"),
        tier="reference",
        cmake="3.18",
        gcc="9.4",
        bundle=GPU_DEV,
        scripts="pytorch-gpu-dev-0.5/oneapi-vars.sh",
        arch="pvc,xe-lpg",
        abi="1",
    ),
    "torch-2.5": Fact(
        torch=("2.5.1", "a8d6afb511a6", "confirmed"),
        ops=("7e3d00acea9f", "likely"),
        vision=("0.20.1", "3ac97aa91201"),
        audio=("2.5.1", "1661daf10599"),
        triton=("pytorch-triton-xpu", "3.1.0", "confirmed"),
        tier="reference",
        cmake="3.18",
        gcc="9.4",
        bundle=f"{GPU_DEV} intel-pti-dev-0.9",
        scripts="pytorch-gpu-dev-0.5/oneapi-vars.sh pti",
        arch="pvc,xe-lpg,ats-m150",
        abi="1",
    ),
    "torch-2.6": Fact(
        torch=("2.6.0", "1eba9b3aa3c4", "likely"),
        ops=("28cfac20ec66", "confirmed"),
        vision=("0.21.0", "7af698794ede"),
        audio=("2.6.0", "d88314252033"),
        triton=("pytorch-triton-xpu", "3.2.0", "likely"),
        tier="kept",
        cmake="3.18",
        gcc="9.4",
        bundle=f"{ESSENTIALS}-2025.0",
        scripts="compiler umf pti",
        arch="pvc,xe-lpg,ats-m150",
        abi="1",
    ),
    "torch-2.7": Fact(
        torch=("2.7.1", "e2d141dbde55", "confirmed"),
        ops=("3ee2bd2f13e1", "confirmed"),
        vision=("0.22.1", "59a3e1f9f78c"),
        audio=("2.7.1", "95c61b4168fc"),
        triton=("pytorch-triton-xpu", "3.3.1", "confirmed"),
        tier="kept",
        cmake="3.18",
        gcc="9.4",
        bundle=f"{ESSENTIALS}-2025.0",
        scripts="compiler pti umf",
        arch=TO_2_9,
        abi="1",
    ),
    "torch-2.8": Fact(
        torch=("2.8.0", "ba56102387ef", "likely"),
        ops=("3a9419c8bb6a", "likely"),
        vision=("0.23.0", "824e8c8726b6"),
        audio=("2.8.0", "6e1c7fe9ff6d"),
        triton=("pytorch-triton-xpu", "3.4.0", "confirmed"),
        tier="kept",
        cmake="3.27",
        gcc="9.4",
        bundle=f"{ESSENTIALS}-2025.1",
        scripts=FIVE,
        arch=TO_2_9,
    ),
    "torch-2.9": Fact(
        torch=("2.9.1", "d38164a545b4", "likely"),
        ops=("789f59d8261b", "likely"),
        vision=("0.24.1", "d801a3463202"),
        audio=("2.9.1", "a224ab24a7f4"),
        triton=("pytorch-triton-xpu", "3.5.0", "likely"),
        tier="kept",
        cmake="3.27",
        gcc="9.4",
        bundle=f"{ESSENTIALS}-2025.2",
        scripts=FIVE,
        arch=TO_2_9,
    ),
    "torch-2.10": Fact(
        torch=("2.10.0", "449b17684101", "confirmed"),
        ops=("60bb67cae89d", "confirmed"),
        vision=("0.25.0", "8ac84ee75afb"),
        audio=("2.10.0", "27b7ebdebd2d"),
        triton=("triton-xpu", "3.6.0", "unconfirmed"),
        tier="kept",
        cmake="3.27",
        gcc="9.4",
        bundle=f"{ESSENTIALS}-2025.3",
        scripts=FIVE,
        arch=FROM_2_10,
        tla="v0.6",
    ),
    "torch-2.11": Fact(
        torch=("2.11.0", "70d99e998b49", "confirmed"),
        ops=("de4f698b8414", "confirmed"),
        vision=("0.26.0", "336d36e8db99"),
        audio=AUDIO_2_11,
        triton=("triton-xpu", "3.7.0", "unconfirmed"),
        tier="current",
        cmake="3.27",
        gcc="9.4",
        bundle=f"{ESSENTIALS}-2025.3",
        scripts=FIVE,
        arch=FROM_2_10,
        tla="v0.6",
    ),
    "torch-2.12": Fact(
        torch=("2.12.1", "7269437d6557", "confirmed"),
        ops=("62b793fed8e0", "likely"),
        vision=("0.27.1", "df56172e4d5a"),
        audio=AUDIO_2_11,
        triton=("triton-xpu", "3.7.1", "likely"),
        tier="current",
        cmake="3.27",
        gcc="11.3",
        bundle=f"{ESSENTIALS}-2025.3",
        scripts=FIVE,
        arch=FROM_2_10,
        tla="v0.8",
    ),
    "torch-2.13": Fact(
        torch=("2.13.0", "cf30153c4c13", "unconfirmed"),
        ops=("bc294243807d", "likely"),
        vision=("0.28.0", "8fb87713a249"),
        audio=AUDIO_2_11,
        triton=("triton-xpu", "3.7.2", "likely"),
        tier="current",
        cmake="3.27",
        gcc="11.3",
        bundle=f"{ESSENTIALS}-2026.0",
        scripts=FIVE,
        arch=FROM_2_10,
        tla="v0.9",
    ),
    "torch-2.14": Fact(
        torch=("2.14.1", "5c4886908584", "likely"),
        ops=("", "unconfirmed"),
        vision=("0.29.1", "1f1a920d685d"),
        audio=AUDIO_2_11,
        triton=("triton-xpu", "3.8.0", "likely"),
        tier="current",
        cmake="3.27",
        gcc="11.3",
        bundle=f"{ESSENTIALS}-2026.1",
        scripts="compiler pti umf tcm ccl mpi",
        arch=FROM_2_10,
        tla="v0.9",
        frontend="build",
    ),
    "torch-2.15": Fact(
        torch=("2.15.0", "d0f2af8b66b2", "unconfirmed"),
        ops=("", "unconfirmed"),
        vision=("0.29.2", "f12281517f1b"),
        audio=AUDIO_2_11,
        triton=("triton-xpu", "3.9.0", "unconfirmed"),
        tier="new",
        cmake="3.27",
        gcc="11.3",
        bundle=f"{ESSENTIALS}-2026.1",
        scripts="compiler pti umf tcm ccl mpi",
        arch=FROM_2_10,
        tla="v0.9",
        frontend="build",
    ),
}
