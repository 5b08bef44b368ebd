"""doctor --paste and --collect-env: what people post is read, and what it does not tell is not known."""

from __future__ import annotations

import json
import time
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.diagnosis import diagnose
from data.outcomes import OUTCOMES
from data.saved import machine_file
from data.texts import GPUS
from fuzzing import examples
from xpusetup.base.document import read_json_as, to_table, to_text
from xpusetup.base.errors import UsageError
from xpusetup.commands.collect_env import make_report
from xpusetup.commands.doctor import DoctorOptions, UpstreamReport, examine_machine
from xpusetup.commands.paste import read_paste
from xpusetup.doctor.known import FROM_ABSENCE, TELLS
from xpusetup.doctor.registry import CHECKS
from xpusetup.machine.facts import SEEN_ELSEWHERE, Facts
from xpusetup.machine.probe import TOLD
from xpusetup.paste.facts import PARTS, facts_from_paste
from xpusetup.paste.lines import MOST_LINES, MOST_TEXT
from xpusetup.run.workspace import Where
from xpusetup.ui.console import Terminal
from xpusetup.ui.doctor import show_doctor, show_report

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.commands.doctor import Diagnosis
    from xpusetup.paste.facts import PasteReport

LSPCI = """\
03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]
\tSubsystem: ASRock Incorporation Device [1849:6021]
\tKernel driver in use: xe
\tKernel modules: xe
"""
NODES = """\
crw-rw---- 1 root video  226,   1 Mar  5 10:05 card1
crw-rw---- 1 root render 226, 128 Mar  5 10:05 renderD128
"""
ID = "uid=1000(jo) gid=1000(jo) groups=1000(jo),4(adm),27(sudo)\n"
BLIND = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i7 OpenCL 3.0\n"
SEES = (
    "[level_zero:gpu][level_zero:0] Intel(R) oneAPI Unified Runtime over Level-Zero, "
    "Intel(R) Arc(TM) B580 Graphics 20.1.0 [1.6.32413]\n"
)
DENIED = LSPCI + NODES + ID + BLIND
PIECES = [
    *DENIED.splitlines(),
    *SEES.splitlines(),
    "$ id",
    "$ groups",
    "> >",
    "```",
    "\x1b[",
    "uname -r",
    "OS: ",
    "ID=",
]
LONG = ("[", " ", "a@b:", "x-1", "|", "1:", "\x1b[", "= ", "Kernel ", "* ", "lib ", "x ", "(", "0000:")


def read(*texts: str) -> tuple[Facts, PasteReport]:
    return facts_from_paste(texts, "2026-11-22", GPUS, TOLD)


def judge(tmp_path: Path, *texts: str, **asked: Any) -> Any:
    files = [tmp_path / f"{number}.txt" for number, _ in enumerate(texts)]
    for file, text in zip(files, texts, strict=True):
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
    return examine_machine(Where(), DoctorOptions(paste=tuple(map(str, files)), **asked)).data


def levels(data: Diagnosis) -> dict[str, str]:
    return {each.id: each.level for each in data.findings}


def screen(data: Diagnosis, *, verbose: bool = False) -> str:
    console = Terminal(width=100, no_color=True, force_terminal=False, file=StringIO(), highlight=False, soft_wrap=True)
    show_doctor(console, data, verbose=verbose)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def report(data: UpstreamReport) -> str:
    console = Terminal(width=100, no_color=True, force_terminal=False, file=StringIO(), highlight=False, soft_wrap=True)
    show_report(console, data, verbose=False)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_a_post_names_its_cause(tmp_path: Path) -> None:
    data = judge(tmp_path, DENIED)
    assert data.root_causes == ["perm.render_group"]
    assert "belongs to group render" in screen(data)


def test_what_is_not_told_is_not_known(tmp_path: Path) -> None:
    data = judge(tmp_path, DENIED)
    found = levels(data)
    assert {found[name] for name in ("fw.guc_missing", "umd.ze_loader", "torch.is_xpu_build", "runtime.ur_mixed")} == {
        "unknown"
    }
    asked = {row.paste: row.checks for row in data.pasted.unknown}
    assert "fw.guc_missing" in asked["sudo dmesg | grep -iE 'i915|xe |guc|drm'"]
    assert "Not known" in screen(data)


def test_one_line_of_a_post_makes_nothing_well(tmp_path: Path) -> None:
    data = judge(tmp_path, "Linux box 6.14.0-33-generic #33-Ubuntu SMP x86_64 GNU/Linux\n")
    assert data.root_causes == []
    assert "ok" not in levels(data).values()
    assert "Nothing that was told is wrong" in screen(data)
    assert "Nothing is wrong" not in screen(data)


def test_a_listed_gpu_proves_the_way_to_it(tmp_path: Path) -> None:
    found = levels(judge(tmp_path, SEES))
    proven = ("hw.intel_gpu_present", "kmd.bound", "perm.dri_nodes", "perm.render_group", "umd.ze_loader")
    assert {found[name] for name in proven} == {"ok"}
    assert found["umd.device_filter_env"] == "unknown"


@pytest.mark.parametrize(
    "around",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
        lambda text: f"```\n{text}```\n",
        lambda text: f"Hello all,\nwhat my machine says is below.\n\n{text}\nThanks!\n",
        lambda text: "".join(f"\x1b[0;32m{line}\x1b[0m\n" for line in text.splitlines()),
        lambda text: f"(base) jo@box:~/src$ lspci -nnk | grep -A3 VGA\n{text}jo@box:~/src$ \n",
        lambda text: f"<details>\n<summary>output</summary>\n{text}</details>\n",
    ],
    ids=["crlf", "quoted", "fenced", "prose", "colours", "prompts", "details"],
)
def test_what_stands_around_it_changes_nothing(around: Any) -> None:
    plain, _ = read(DENIED)
    other, _ = read(around(DENIED))
    assert other == plain


def test_the_order_and_the_files_change_nothing() -> None:
    plain, _ = read(DENIED)
    for texts in ((BLIND + ID + NODES + LSPCI,), (ID, LSPCI, BLIND, NODES)):
        assert read(*texts)[0].hardware == plain.hardware
        assert read(*texts)[0].system == plain.system


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("Linux b 6.8.0-87-generic #87 SMP x86_64 GNU/Linux", "kernel.release", "6.8.0-87-generic"),
        ("$ uname -r\n7.0.0-10-generic", "kernel.release", "7.0.0-10-generic"),
        ("| **Kernel (broken)** | 6.18.5-200.fc43.x86_64 |", "kernel.release", "6.18.5-200.fc43.x86_64"),
        ("- **Kernel:** `6.17.2-1-pve` (pinned)", "kernel.release", "6.17.2-1-pve"),
        ('PRETTY_NAME="Fedora Linux 43"\nID=fedora\nVERSION_ID=43', "system.version", "43"),
        ("Description:\tUbuntu 24.04.1 LTS", "system.families", ["ubuntu", "debian"]),
        ("OS: Arch Linux (x86_64)", "system.families", ["arch"]),
        ("ii  libze-intel-gpu1  25.40.35563.7-1~24.04~ppa1  amd64  x", "userland.packages.libze-intel-gpu1", "25.40."),
        ("libze1/noble,now 1.24.3-1 amd64 [installed]", "userland.packages.libze1", "1.24.3-1"),
        (
            "intel-compute-runtime-25.48.36300.8-1.fc43.x86_64",
            "userland.packages.intel-compute-runtime",
            "25.48.36300.8",
        ),
        ("intel-compute-runtime 25.40.35563.7-1", "userland.packages.intel-compute-runtime", "25.40.35563.7-1"),
        ("* intel_opencl: 24.39.31294.21-1032~22.04", "userland.packages.intel-opencl-icd", "24.39.31294.21"),
        ("torch==2.9.1+xpu", "torch.distributions.torch", "2.9.1+xpu"),
        ("pytorch-triton-xpu        3.3.0", "torch.distributions.pytorch-triton-xpu", "3.3.0"),
        ("[pip3] intel-sycl-rt==2025.3.1", "torch.distributions.intel-sycl-rt", "2025.3.1"),
        ("export ONEAPI_DEVICE_SELECTOR=opencl:gpu", "environment.ONEAPI_DEVICE_SELECTOR", "opencl:gpu"),
        (":: oneAPI environment initialized ::", "environment.SETVARS_COMPLETED", "1"),
        ("zeInit failed with ZE_RESULT_ERROR_UNINITIALIZED", "userland.level_zero.init", 0x78000001),
        ("i915                 3928064  7", "kernel.modules", {"i915": None}),
        (
            "libze_loader.so.1 (libc6,x86-64) => /lib/libze_loader.so.1",
            "userland.libraries",
            {"libze_loader.so.1": "/lib/"},
        ),
        ("Is XPU available: False\nXPU used to build PyTorch: 20250101", "torch.report.available", False),
        (">>> torch.xpu.is_available()\nFalse", "torch.report.available", False),
        (
            "Platform #0: Intel(R) OpenCL\n `-- Device #0: Intel(R) Arc(TM)",
            "userland.clinfo",
            ["Intel(R) OpenCL: Intel"],
        ),
        ("root@7aab3474ddb9:~# sycl-ls", "container.kind", "docker"),
        ("Python platform: Linux-6.6.87.2-microsoft-standard-WSL2-x86_64-with-glibc2.39", "container.kind", "wsl2"),
        (
            "crw-rw-rw- 1 root render 226, 129 Mar 5 10:05 renderD129",
            "hardware.nodes",
            [{"path": "/dev/dri/renderD129"}],
        ),
        ("| 0 | Device Name: Intel(R) Arc(TM) A770 Graphics |", "hardware.gpus", [{"device": "56a0"}]),
        (
            "03:00.0 VGA compatible controller: Intel Corporation DG2 [Arc A770] (rev 08)",
            "hardware.gpus",
            [{"device": "56a0"}],
        ),
        ("Intel Arc Pro B50 (Battlemage), PCI ID `8086:e212`", "hardware.gpus", [{"device": "e212"}]),
        ("GPU : Intel Arc A750 8GB", "hardware.gpus", [{"device": "56a1", "driver": "?"}]),
        ("i915.force_probe=!5690 xe.force_probe=5690", "hardware.gpus", [{"device": "5690", "driver": "xe"}]),
        ("since compute-runtime 26.14.37833.4 it fails", "userland.packages.intel-compute-runtime", "26.14.37833.4"),
        ("xe 0000:03:00.0: [drm] Small BAR device", "hardware.gpus", [{"address": "0000:03:00.0", "bar": 256 << 20}]),
        (
            "xe 0000:03:00.0: Your graphics device 56a1 is not officially supported",
            "hardware.gpus",
            [{"device": "56a1", "driver": SEEN_ELSEWHERE}],
        ),
        (
            "i915 0000:03:00.0: Your graphics device 4908 is not properly supported by i915 in this",
            "hardware.gpus",
            [{"device": "4908", "driver": None}],
        ),
        (
            "xe 0000:03:00.0: Your graphics device e20b is not officially supported",
            "hardware.gpus",
            [{"device": "e20b", "driver": None}],
        ),
        ("/dev/dri/renderD128 is not accessible (permission denied)", "hardware.nodes", [{"openable": False}]),
        ("AssertionError: Torch not compiled with XPU enabled", "torch.xpu", ""),
        ("/v/torch/xpu/__init__.py:60: UserWarning: XPU device count is zero!", "torch.report.available", False),
        (
            "[ 3.1] xe 0000:03:00.0: [drm] Found dg2/g10 (device ID 56a1) display version 13.00",
            "hardware.gpus",
            [{"device": "56a1", "driver": "xe"}],
        ),
    ],
)
def test_each_kind_of_line(text: str, path: str, value: Any) -> None:
    facts, report = read(text)
    seen: Any = to_table(facts)
    first, _, rest = path.partition(".")
    seen = seen[first]
    while rest and isinstance(seen, dict):
        key = rest if rest in seen else rest.partition(".")[0]
        rest = "" if rest in seen else rest.partition(".")[2]
        seen = seen[key]
    assert holds(seen, value), seen
    assert report.kinds


def holds(seen: Any, value: Any) -> bool:
    """Say whether what was read is as wanted: texts by their beginning, tables by what is named."""
    if isinstance(value, list):
        return len(seen) == len(value) and all(map(holds, seen, value))
    if isinstance(value, dict):
        return all(holds(seen.get(name), each) for name, each in value.items())
    return bool(seen.startswith(value)) if isinstance(value, str) else bool(seen == value)


def test_only_watched_variables_are_kept() -> None:
    facts, _ = read("AWS_SECRET_ACCESS_KEY=abc\nZE_AFFINITY_MASK=0\nHTTP_PROXY=http://u:p@h\n")
    assert facts.environment == {"ZE_AFFINITY_MASK": "0"}


@examples(150)
@given(
    st.text()
    | st.lists(st.sampled_from([*DENIED.splitlines(), *SEES.splitlines(), "$ id", "> >", "```", "\x1b["])).map(
        "\n".join
    )
)
def test_any_text_is_read_and_judged(text: str) -> None:
    facts, report = read(text)
    assert report.lines >= report.unread
    assert read_json_as(Facts, to_text(facts)) == facts


@pytest.mark.parametrize("piece", LONG)
def test_a_hostile_line_takes_no_time(piece: str) -> None:
    begun = time.process_time()
    read(f"{piece * 1000}\n" * 200)
    assert time.process_time() - begun < 4


def test_of_too_much_the_beginning_is_read(tmp_path: Path) -> None:
    data = judge(tmp_path, LSPCI + "x\n" * MOST_TEXT)
    assert data.pasted.cut
    assert data.pasted.lines <= MOST_LINES
    assert "only the first 4 MiB" in screen(data)


def test_where_no_cause_is_sure_the_screen_ends_with_the_question(tmp_path: Path) -> None:
    unsure = judge(tmp_path, "RuntimeError: driver (code 2013265921, ZE_RESULT_ERROR_UNINITIALIZED)\n")
    assert unsure.pasted.ask == f"xpusetup doctor --paste {tmp_path / '0.txt'} --prompt"
    assert screen(unsure).rstrip().endswith(unsure.pasted.ask)
    works = ">>> torch.xpu.is_available()\nTrue\n"
    for text in (DENIED, works, "ImportError: libsycl.so.8: cannot open shared object file: No such file\n"):
        told = judge(tmp_path, text)
        assert told.pasted.ask == ""
        assert "--prompt" not in screen(told)


def test_nothing_that_is_known_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Hello, it does not work. Regards\n")
    with pytest.raises(UsageError, match=r"nothing in .* is recognised"):
        read_paste([str(tmp_path / "a.txt")])
    with pytest.raises(UsageError, match="two ways"):
        examine_machine(Where(), DoctorOptions(paste=("a",), facts=("b",)))


def test_errors_in_a_post_are_explained(tmp_path: Path) -> None:
    text = "$ python t.py\nImportError: libsycl.so.8: cannot open shared object file: No such file or directory\n"
    data = judge(tmp_path, text)
    (cause,) = data.pasted.causes
    (finding,) = [each for each in data.findings if each.id == "torch.import"]
    assert (finding.level, finding.fix.say) == ("fail", cause.fix)
    assert "Its errors" not in screen(data)  # the finding says it
    assert cause.fix[:40] in screen(data)


def test_why_pip_did_not_install_torch_is_why_it_does_not_import(tmp_path: Path) -> None:
    pip = "ERROR: Could not find a version that satisfies the requirement torch (from versions: none)\n"
    data = judge(tmp_path, f"$ pip install torch\n{pip}$ python t.py\nModuleNotFoundError: No module named 'torch'\n")
    (finding,) = [each for each in data.findings if each.id == "torch.import"]
    assert finding.why.startswith("The index has no version of that package for this Python")
    assert [each.id for each in data.pasted.causes] == ["pip.no_match"]


def test_errors_are_shown_before_what_only_warns(tmp_path: Path) -> None:
    driver = "ii  libze-intel-gpu1  24.31.30714.9  amd64  Level Zero\n"
    shown = screen(judge(tmp_path, f"{driver}E: Unable to correct problems, you have held broken packages.\n"))
    assert 0 < shown.index("pkg.unmet") < shown.index("\n ! GPU driver")


def test_what_was_not_recognised_is_shown(tmp_path: Path) -> None:
    data = judge(tmp_path, "it broke yesterday, no idea why\n" + SEES)
    assert data.pasted.unread_lines == ["it broke yesterday, no idea why"]
    assert "it broke yesterday" in screen(data, verbose=True)
    assert data.pasted.kinds == {"sycl-ls": 1}


def test_every_part_is_asked_for_and_every_check_is_there() -> None:
    checks = {check.id for check in CHECKS}
    assert {*TELLS, *FROM_ABSENCE} <= checks
    wanted = {part for parts in (*TELLS.values(), *FROM_ABSENCE.values()) for part in parts}
    assert wanted <= set(PARTS)
    assert all(PARTS[part] for part in wanted)


# Reports for an issue upstream.


def saved(name: str) -> Facts:
    return read_json_as(Facts, machine_file(name).read_text())


@pytest.mark.parametrize("name", sorted(OUTCOMES))
def test_a_report_that_is_pasted_names_no_cause_that_the_machine_has_not(name: str, tmp_path: Path) -> None:
    facts = saved(name)
    data = judge(tmp_path, make_report(facts, GPUS))
    own = diagnose(Where(), DoctorOptions(goal="run", facts=(str(machine_file(name)),)))
    amiss = {each.id for each in own.findings if each.level in ("fail", "skip")}
    assert set(data.root_causes) <= amiss
    assert "crash" not in levels(data).values()


def test_a_report_has_what_pytorchs_own_lacks(tmp_path: Path) -> None:
    text = make_report(saved("b580-ubuntu-24.04"), GPUS)
    for line in (
        "PyTorch version: 2.14.1+xpu",
        "Is XPU available: True",
        "* libze-intel-gpu1:\t25.40.35563.7-1~24.04~ppa1",
        "PCI 0000:03:00.0 [8086:e20b] kernel driver in use: xe, window 16384 MiB",
        "oneAPI 2026.1.0 in /opt/intel/oneapi",
        "[pip3] torch==2.14.1+xpu",
    ):
        assert line in text.splitlines()
    file = tmp_path / "report.txt"
    asked = DoctorOptions(facts=(str(machine_file("b580-ubuntu-24.04")),), collect_env=str(file))
    told = examine_machine(Where(), asked).data
    assert isinstance(told, UpstreamReport)
    assert f"the report is in {file}" in report(told)
    assert file.read_text() == text.replace("/home/me", "/home/<user>")


def test_a_report_is_of_any_facts_and_hides_what_it_must(tmp_path: Path) -> None:
    document = {"schema": 1, "taken": "x", "environment": {"LD_LIBRARY_PATH": "/home/jo/lib", "CC": "ghp_" + "a" * 36}}
    (tmp_path / "f.json").write_text(json.dumps(document))
    asked = DoctorOptions(facts=(str(tmp_path / "f.json"),), collect_env="-")
    told = examine_machine(Where(), asked).data
    assert isinstance(told, UpstreamReport)
    text = report(told)
    assert "PyTorch version: N/A" in text
    assert "jo" not in text
    assert "ghp_" not in text
