"""The ledger and the plans together: a plan holds what a row says of ours, and a row explains what a plan holds."""

from __future__ import annotations

from collections import Counter

import pytest

from data.held import Held, lacking, unexplained
from data.ledger import LEDGER_FILE, parse_ledger, release_of, rows_of
from data.ledger_page import make_page
from data.profiles import FROM_SOURCE, SHIPPED, TOP, shipped, taken
from xpusetup.base.document import UnfitError
from xpusetup.config.load import parse_profile
from xpusetup.config.profile import SourceComponent
from xpusetup.machine.toolkits import find_refusal

TEXT = LEDGER_FILE.read_text()
LEDGER = parse_ledger(TEXT)
NAMES = [name for name in SHIPPED if rows_of(LEDGER, shipped(name))]


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_does_what_the_rows_say(name: str) -> None:
    held = Held(shipped(name))
    assert lacking(held, rows_of(LEDGER, shipped(name))) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_row_explains_what_the_plan_does(name: str) -> None:
    held = Held(shipped(name))
    assert unexplained(held, rows_of(LEDGER, shipped(name))) == []


@pytest.mark.parametrize("name", FROM_SOURCE)
def test_a_triton_that_is_built_on_request_does_what_its_rows_say(name: str) -> None:
    profile = taken(name, triton="source")
    rows = [row for row in rows_of(LEDGER, profile) if row.of == "triton"]
    assert lacking(Held(profile), rows) == []
    assert unexplained(Held(profile), rows) == []


def changed(name: str, old: str, new: str) -> Held:
    text = (TOP / f"profiles/{name}.toml").read_text()
    assert old in text
    return Held(parse_profile(text.replace(old, new), f"{name}.toml"))


PTI = '  "pti/latest/env/vars.sh",\n'
UMF = '  "umf/latest/env/vars.sh",\n'
FRONTEND = "frontend: runs torch.build -m build --wheel --no-isolation"
CONFIGURE = "configure.none: runs torch.configure -Cbuild.targets=help"
ON = 'USE_XCCL = "1"\n'
TRITON = 'version_file = ".ci/docker/triton_xpu_version.txt"\n'
PINNED = '  "intel-pti==0.13.1",\n'


@pytest.mark.parametrize(
    ("name", "old", "new", "lacks", "strange"),
    [
        ("torch-2.9", ON, "", ["xccl: env USE_XCCL=1", "exported: env USE_XCCL=1"], []),
        ("torch-2.13", ON, f'{ON}USE_MPI = "1"\n', ["mpi.new: env USE_MPI=0", "mpi.ccl: env USE_MPI=0"], []),
        ("torch-2.9", 'USE_XPU = "1"', 'USE_XPU = "1"\nUSE_NCCL = "0"', [], ["torch: variable USE_NCCL"]),
        ("torch-2.6", UMF, "", ["scripts.2.6: sources umf"], []),
        ("torch-2.6", f"{UMF}{PTI}", f"{PTI}{UMF}", ["scripts.2.6: sourced in another order"], []),
        ("torch-2.7", PTI, f"{PTI}{PTI.replace('pti', 'mpi')}", [], ["script mpi/latest/env/vars.sh"]),
        ("torch-2.9", PINNED, PINNED.replace("13.1", "13.2"), ["runtime.2.9: brings intel-pti==0.13.1"], []),
        ("torch-2.9", PINNED, f'{PINNED}  "numpy==2.3.4",\n', [], ["requires numpy"]),
        ("torch-2.11", "v0.6", "v0.7", ["sycl_tla.0.6: vendored sycl-tla third_party/sycl-tla v0.6"], []),
        ("torch-2.12", 'gcc = ">=11.3"', 'gcc = ">=9.4"', ["gcc.cxx20: gcc >=11.3"], []),
        ("torch-2.9", 'python = ">=3.10', 'python = ">=3.9', ["python: python >=3.10"], []),
        ("torch-2.8", 'BUILD_SOX = "0"\n', "", ["downloads: env BUILD_SOX=0"], []),
        ("torch-2.7", 'USE_XPU = "1"\n', f'USE_XPU = "1"\n{ON}', ["xccl.off: env USE_XCCL=0"], []),
        ("torch-2.10", 'cmake = ">=3.27"', 'cmake = ">=3.18"', ["cmake: cmake >=3.27"], []),
        ("torch-2.14", 'frontend = "build"', 'frontend = "setup.py"', [FRONTEND, CONFIGURE], []),
        ("torch-2.14", '  "mkl-include==2026.1.0",\n', "", ["static_mkl.new: pin mkl-include"], []),
        ("torch-2.6", 'sets = ["CMPLR_ROOT"]', 'sets = ["UMF_ROOT"]', ["sycl.root.2.6: sets CMPLR_ROOT"], []),
        ("torch-2.9", "third_party/xpu.txt", "xpu.txt", ["xpu_ops: pin-file torch-xpu-ops third_party/xpu.txt"], []),
        ("torch-2.8", TRITON, "", ["triton.version: version-file triton .ci/docker/triton_xpu_version.txt"], []),
        ("cpu-2.13", 'FORCE_CUDA = "0"\n', "", ["cuda: env FORCE_CUDA=0"], []),
    ],
)
def test_a_plan_that_parts_from_a_row_is_found(
    name: str, old: str, new: str, lacks: list[str], strange: list[str]
) -> None:
    held = changed(name, old, new)
    rows = rows_of(LEDGER, held.profile)
    assert lacking(held, rows) == lacks
    assert unexplained(held, rows) == strange


def test_every_release_has_rows_for_all_that_it_compiles() -> None:
    """No source of a profile for Intel GPUs is without rows, and no row is of a release that no profile has."""
    assert set(NAMES) == {name for name in SHIPPED if name.startswith("torch-")} | {"main", "cpu-2.13"}
    profiles = [*map(shipped, NAMES), *(taken(name, triton="source") for name in FROM_SOURCE)]
    compiled = {
        (part.name, release_of(part))
        for profile in profiles
        for part in profile.components
        if isinstance(part, SourceComponent)
    }
    assert {(row.of, row.release) for row in LEDGER} == compiled
    assert max(Counter((row.of, row.release, row.id) for row in LEDGER).values()) == 1


def test_torch_xpu_ops_was_read_at_the_pin_of_each_profile() -> None:
    """Where the profile knows the pin; the trees of 2.14 and 2.15 and of the branch name their own."""
    read = {row.release: row.commit for row in LEDGER if row.file.startswith("intel/torch-xpu-ops:")}
    parts = {name: Held(shipped(name)).source("torch").vendored for name in NAMES if name != "cpu-2.13"}
    pins = {name: next(item.rev for item in found if item.name == "torch-xpu-ops") for name, found in parts.items()}
    assert {name: read[name.removeprefix("torch-")] for name, rev in pins.items() if rev} == {
        name: rev for name, rev in pins.items() if rev
    }
    assert sorted(name for name, rev in pins.items() if rev is None) == ["main", "torch-2.14", "torch-2.15"]


def test_what_was_read_names_its_commit() -> None:
    """Also what nobody could read says where it would stand, and is not called confirmed."""
    assert [row.id for row in LEDGER if row.seen in ("stand-in", "read") and not row.commit] == []
    assert [row.id for row in LEDGER if row.seen == "nobody" and row.confidence == "confirmed"] == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('ours = ["env USE_XPU=1"]', 'ours = ["exports USE_XPU=1"]', "begins with none of env, no-env"),
        ('ours = ["env USE_XPU=1"]', "", "needs ours, or left"),
        (
            'until = { release = "2.13"',
            'until = { release = "2.12"',
            "until names 2.12, and the last",
        ),
        ('but = { "2.6" = "built" }', 'but = { "2.99" = "built" }', "but names 2.99"),
        ('seen = "read"', 'seen = "heard"', "Input should be"),
        ('seen = "read"', 'seen = "nobody"', "confidence is said of what was not read"),
    ],
)
def test_a_row_that_says_nothing_is_refused(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(UnfitError, match=message):
        parse_ledger(TEXT.replace(old, new, 1))


def test_the_page_is_made_of_the_rows() -> None:
    """docs/ledger.md; XPUSETUP_TEST_UPDATE=1 writes it anew."""
    make_page(LEDGER)


def test_a_compiler_is_refused_where_the_rule_that_let_it_in_has_ended() -> None:
    """What guarded compilers before 2026 ended with 2.13: such a oneAPI is an alternative there, and refused later."""
    (row,) = (row for row in LEDGER if row.id == "sycl.before-2026")
    assert row.until.startswith("ends with 2.13: pytorch PR 191470")
    before, *after = (shipped(name) for name in ("torch-2.13", "torch-2.14", "torch-2.15", "main"))
    assert [kit.called for kit in before.other_toolkits if "2025.3" in kit.accepts] == ["oneapi-2025.3"]
    for profile in after:
        assert profile.toolkit is not None
        assert find_refusal(profile.toolkit, "2025.3.1")
        assert not [kit for kit in profile.other_toolkits if "2025" in kit.accepts]


def test_rules_whose_end_is_not_known_hold_for_the_newest() -> None:
    ends = {row.id: row.until for row in LEDGER if row.until}
    assert ends.keys() == {"host.gnu", "host.kernels", "sycl.before-2026", "exported"}
    for row in (row for row in LEDGER if row.until.startswith("no end is known")):
        assert [each for each in LEDGER if each.id == row.id and each.release == "main"]
