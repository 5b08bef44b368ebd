"""What commands return, made by hand: the input of the golden screens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from data.targets import plan_for
from xpusetup.base.command import Command
from xpusetup.base.document import fields_of
from xpusetup.base.model import BuildSummary, RootWheel
from xpusetup.bisect.io import Commit
from xpusetup.bisect.search import Trial
from xpusetup.bundle.offline import NetworkAttempt
from xpusetup.commands.bisect import Bisection, CommitSearch, NightlySearch
from xpusetup.commands.build_result import (
    BuildResult,
    InstallResult,
    NinjaTarget,
    OtherEnvironment,
    ProofSummary,
    RemovedPackage,
    UnverifiedOrigin,
)
from xpusetup.commands.bundle import BundleContents, BundledRepository, CreatedBundle, VerifiedBundle
from xpusetup.commands.cache import CachedRepository, CacheSize, KeptFolder, PrunedCache, RootSize
from xpusetup.commands.emit import Emitted
from xpusetup.commands.env import ShellEnvironment
from xpusetup.commands.explain import ExplainResult, FullDisk, GoingOn, StepFailure, StepWords
from xpusetup.commands.list import BuildList
from xpusetup.commands.members import InstalledMisfit
from xpusetup.commands.offer import InstallOffer, WheelToFetch
from xpusetup.commands.plan import PlannedStep, PlanResult, Saving
from xpusetup.commands.profiles import LockedProfile, NewProfile, TrustedFiles
from xpusetup.commands.recommend import Overview
from xpusetup.commands.report import WrittenReport
from xpusetup.commands.site import SiteFile
from xpusetup.commands.status import BuildStatus, InstalledWheel, SourceTree
from xpusetup.commands.try_change import TriedChange
from xpusetup.commands.verify import DeviceCheckList, DeviceVerification
from xpusetup.commands.wheel_check import WheelCheck, WheelLibrary, WheelVerification
from xpusetup.commands.wheel_fits import FitResult
from xpusetup.commands.wheel_rebuild import RebuildResult, RebuiltWheel
from xpusetup.config.lock import PinChange
from xpusetup.emit.script import recipe_of
from xpusetup.explain.explanation import Cause, LogLine
from xpusetup.machine.fit import FittedWheel, FitTorch
from xpusetup.machine.fit_read import FitLibrary, FitProblem
from xpusetup.rebuild.compare import WHY, MemberDifference
from xpusetup.rebuild.io import VariedCondition
from xpusetup.report.contents import Edge, Material, Span, make_report
from xpusetup.run.guard import ReplacedPackage
from xpusetup.run.time_left import Estimate, ExpectedCost
from xpusetup.system.trust import Foreign
from xpusetup.verify.outcomes import CheckResult, SeenDevice, TorchVersions
from xpusetup.verify.runner import DeviceCheck

if TYPE_CHECKING:
    from xpusetup.base.model import Level
    from xpusetup.bisect.search import Verdict

ROOT = "/home/me/.local/share/xpusetup/torch-2.5"
SHA = "51c9d2f0a7be43c1"
WHEELS = [
    RootWheel(name=name, version=version, path=f"{ROOT}/wheels/{name}-{version}-x.whl", sha256=SHA * 4)
    for name, version in (("torch", "2.5.1+xpu"), ("torchvision", "0.20.1+xpu"), ("torchaudio", "2.5.1+xpu"))
]
STEPS = [step.id for step in plan_for("torch-2.5").steps]
BUILT = BuildResult(
    profile="torch-2.5",
    root=ROOT,
    ran=STEPS[4:],
    skipped=STEPS[:4],
    failed=None,
    wheels=WHEELS,
    left=[],
    only=[],
    until="",
    go_on="xpusetup build torch-2.5",
    verified=True,
    not_verified="no device",
    verify="xpusetup verify torch-2.5",
    use='eval "$(xpusetup env torch-2.5)"',
    elsewhere=OtherEnvironment(command=f"pip install {ROOT}/wheels/*.whl", needs="oneAPI 2024.1.4"),
    report="xpusetup report torch-2.5 --open",
    proof=ProofSummary(device="Data Center GPU Max 1100", checks=14),
    seconds=9667.2,
    took={"torch.build": 8380.0, "torch.inspect": 30.5, "vision.build": 402.25},
    editable={},
    target=None,
    unverified=[],
    cached={},
)
TARGET = NinjaTarget(target="torch_xpu", files=[f"{ROOT}/src/torch/build/lib/libtorch_xpu.so"])
FAILED = replace(
    BUILT,
    ran=STEPS[:5],
    skipped=[],
    failed="torch.build",
    wheels=[],
    verified=None,
    failure=StepFailure(
        step="torch.build",
        log=f"{ROOT}/logs/torch.build.log",
        causes=[],
        first_error_line=48211,
        first_error="icpx: error: unable to execute command: Killed",
        last_lines=[
            "[4121/7561] Building SYCL object BinaryMiscBackwardOpsKernels.cpp.o",
            "FAILED: third_party/torch-xpu-ops/src/ATen/BinaryMiscBackwardOpsKernels.cpp.o [code=254]",
            "icpx: error: unable to execute command: Killed",
            "ninja: build stopped: subcommand failed.",
        ],
        again=f"bash {ROOT}/steps/torch.build.sh",
        go_on=GoingOn(command="xpusetup build torch-2.5", reached=[4121, 7561], seconds=3731.0),
        tried=[],
        heaviest=0,
        full=[],
    ),
)
SYNTAX = [
    "src/aten/xpu/a/long/name/of/a/folder/that/no/terminal/has/room/for/Kernels.cpp:18:6: error: expected ';'",
    "   18 | this is not C++;",
    "      |      ^~",
]
CAUSES = [
    Cause(
        id="compile.oom_kill",
        phase="compile",
        level="error",
        line=48211,
        text="icpx: error: unable to execute command: Killed",
        cause="the kernel killed the compiler: out of memory",
        fix="Fewer jobs, or more memory or swap, or a shorter list of architectures.",
        commands=[Command("xpusetup build torch-2.5 --jobs 2")],
        source="https://github.com/pytorch/pytorch/issues/49078",
        confidence="high",
        likely=False,
        caused_by=None,
    )
]
EXPLAINED = ExplainResult(
    known=[],
    log="torch.build.log",
    causes=[
        *CAUSES,
        replace(CAUSES[0], id="compile.frontend_signal", line=48212, caused_by="compile.oom_kill"),
        replace(CAUSES[0], id="compile.disk_full", line=48300, cause="a file system is full: the build folder's"),
    ],
    first_error_line=48211,
    first_error="icpx: error: unable to execute command: Killed",
    context=[
        LogLine(line=48210, text="/opt/intel/oneapi/compiler/2024.1/bin/icpx -c [x].cpp"),
        LogLine(line=48211, text="icpx: error: unable to execute command: Killed"),
        LogLine(line=48212, text="ninja: build stopped: subcommand failed."),
    ],
    later_errors=12,
    later_errors_more=False,
    first_error_sure=True,
    last=[LogLine(line=203877, text="ninja: build stopped: subcommand failed.")],
    beside=[],
    ended=None,
    went_on=[],
    lines=203877,
)
BESIDE = [LogLine(line=48190, text="ld.lld: warning: this may take [much] memory and cannot be taken back")]
UNEXPLAINED = replace(EXPLAINED, causes=[], later_errors=1, beside=BESIDE)
WELL = replace(EXPLAINED, causes=[], later_errors=0, ended=LogLine(203877, "3 passed in 0.12s"))
WENT_ON = replace(EXPLAINED, causes=[], went_on=CAUSES)
UNSURE = replace(EXPLAINED, causes=[replace(CAUSES[0], likely=True, confidence="medium")], beside=BESIDE)
assert FAILED.failure
FULL_FAILURE = replace(
    FAILED.failure,
    first_error="",
    last_lines=[],
    full=[
        FullDisk(
            path="/scratch", free=0, total=1 << 34, files=None, says="/scratch has 0 KiB of 16 GiB left", lacks=5 << 30
        ),
        FullDisk(
            path="/cache", free=4096, total=1 << 30, files=None, says="/cache has 4 KiB of 1 GiB left", lacks=None
        ),
    ],
)
SAID = StepWords(
    "cannot get 14920a32752e62e3b88c965384bcd7cff9cff9b7 of simxpu from /srv/sources/simxpu: it has no such commit",
    "pin a commit that it has: git ls-remote /srv/sources/simxpu says where its branches and tags are, in words that"
    " are longer than a line of a screen is wide",
)
SAID_FAILURE = replace(FAILED.failure, said=SAID)
KILLED_FAILURE = replace(FAILED.failure, causes=CAUSES, tried=[14, 7], heaviest=18 << 30)
UNKNOWN_FAILURE = replace(
    FAILED.failure,
    first_error_line=None,
    first_error="",
    last_lines=[],
    go_on=replace(FAILED.failure.go_on, reached=[0, 0]),
)


CHANGED = ("env USE_XCCL 0 → 1", "tools: /usr/bin/g++ g++ 12.2.0 → /usr/bin/g++ g++ 13.1.0")


def step_rows() -> list[PlannedStep]:
    """Give the rows of a plan that is half done."""
    states = {"torch.build": ("stale", f"{CHANGED[0]} and 1 more")}
    states |= dict.fromkeys(STEPS[:4], ("done", ""))
    states |= dict.fromkeys(STEPS[5:], ("stale", "after torch.build")) | {"verify.smoke": ("todo", "")}
    plan = plan_for("torch-2.5")
    return [
        PlannedStep(
            id=step.id,
            title=step.title,
            needs=list(step.needs),
            after=list(step.after),
            run=[list(argv) for argv in step.run],
            env=dict(step.env),
            recipe=list(recipe_of(step, plan.target)),
            makes=list(step.makes),
            state=states[step.id][0],
            why=states[step.id][1],
            changed=list(CHANGED) if " more" in states[step.id][1] else [],
        )
        for step in plan.steps
    ]


PLAN = PlanResult(
    fix="xpusetup doctor torch-2.5 --for build",
    build=Command("xpusetup build torch-2.5"),
    explain=False,
    notes=[],
    profile="torch-2.5",
    root=ROOT,
    steps=step_rows(),
    missing=[],
    unverified=[UnverifiedOrigin(name="triton-xpu==3.8.0", sha256=None)],
    estimate=Estimate(seconds=9612.5, bytes=None, disk=9771050598, memory=14 * (4 << 30), jobs=14, unknown=()),
    savings=(
        Saving(
            id="arch",
            on=False,
            what="device code for all 8 targets",
            saves="the device compiler runs once for each target",
            gives_up="other GPUs compile it when it is first used",
            how="--arch TARGET, or --arch auto on the machine with the GPU",
        ),
        Saving(
            id="cache",
            on=True,
            what="ccache for every compile except SYCL",
            saves="what was compiled once, in any root",
            gives_up="room for its files",
            how="",
        ),
    ),
    chosen_by={"profile": "--profile", "root": "/etc/xpusetup/site.toml"},
    members=[],
    starts=[],
    why=None,
)
UNKNOWN = Estimate(seconds=None, bytes=None, disk=None, memory=None, jobs=None, unknown=tuple(STEPS[4:]))
EXPECTED = ExpectedCost(
    seconds=(3 * 3600.0, 10 * 3600.0),
    disk=(15 << 30, 40 << 30),
    whole=True,
    source="a build of another release, and a guess",
    confidence="unconfirmed",
)
GUESSED = replace(UNKNOWN, expected=EXPECTED, jobs=4, memory=16 << 30)


def check(name: str, level: Level, seen: str, caused_by: str | None = None) -> CheckResult:
    return CheckResult(id=name, title=name, level=level, seen=seen, limit="", seconds=0.1, caused_by=caused_by)


VERIFY = DeviceVerification(
    device="simxpu",
    devices=[SeenDevice(name="simulated accelerator")],
    versions=TorchVersions(torch="2.13.0+cpu"),
    checks=[
        check("autoload.import", "ok", "torch imports and knows simxpu"),
        check("device.available", "ok", "1 device"),
        check("numbers.finite", "ok", "all results are finite"),
        check("numbers.matmul", "fail", "relative difference 3.1e-02, allowed 1e-05"),
        check("numbers.model", "skip", "not asked", "numbers.matmul"),
        check("amp.dtype", "crash", "RuntimeError: autocast [device] is not known"),
    ],
    verified=False,
    not_checked=["inference compile", "two devices"],
    chosen_by="torch-2.5",
    environment="torch-2.5",
    fix="xpusetup doctor torch-2.5 --for run",
    not_recorded="",
    left=[],
)
WRONG = replace(
    VERIFY,
    fix="",
    chosen_by="simxpu, available by torch.accelerator",
    checks=[
        *VERIFY.checks[:3],
        replace(
            check("numbers.matmul", "fail", "relative difference 2.9e-02, cosine 0.999733 (at 1x512x8 float32)"),
            limit="relative 1e-05, cosine 0.9999",
        ),
        check("numbers.conv", "ok", "relative difference 2.5e-07"),
        check("numbers.autograd", "fail", "relative difference 1.0e-02", "numbers.matmul"),
        check("numbers.model", "fail", "losses 2.3, 1.9 instead of 2.2, 1.8", "numbers.matmul"),
        check("api.mem_get_info", "ok", "16 GiB of 16 GiB free; since torch 2.6"),
        check("api.accelerator.device_index", "skip", "it is not there; Intel GPUs have it since torch 2.8"),
        check("models.compile", "skip", "KeyError: 'simxpu'; expected: there is no Triton for this device"),
    ],
)
LISTED = DeviceCheckList(
    [
        DeviceCheck(id="autoload.import", area="autoload", title="import torch", level="gate"),
        DeviceCheck(id="numbers.matmul", area="numbers", title="matmul", level="quick"),
        DeviceCheck(id="numbers.conv", area="numbers", title="convolution", level="quick"),
        DeviceCheck(id="api.mem_get_info", area="api", title="mem_get_info", level="smoke"),
    ]
)
FAILING = ProofSummary("Intel(R) Arc(TM) B580 Graphics", 24, ["numbers.matmul"])
STATUS = BuildStatus(
    profile=BUILT.profile,
    chosen_by="--profile",
    root=ROOT,
    ran=[],
    skipped=STEPS,
    left=[],
    steps=len(STEPS),
    at_work=None,
    failed=None,
    interrupted=[],
    older=[],
    newer={},
    wheels=[InstalledWheel(**fields_of(each), intact=each.name == "torchaudio", installed=True) for each in WHEELS],
    damaged={
        "torch.build": f"{WHEELS[0].path} is missing",
        "vision.build": f"{WHEELS[1].path} was changed after it was made",
    },
    checked=False,
    replaced=[],
    made_by="build",
    members=[],
    fix="xpusetup build torch-2.5",
    not_verified="no device",
    verified=True,
    proof=ProofSummary("Intel(R) Arc(TM) B580 Graphics", 24),
    void=False,
    verify=BUILT.verify,
    follow="xpusetup status torch-2.5",
    verification=None,
    machine="",
    seconds=0.0,
    sources={
        "torch": SourceTree("a8d6afb511a69687bbb2b7e88a3cf67917e1697e", changed=True, own=False, editable=False),
        "vision": SourceTree("3ac97aa9120137381ed1060f37237e44485ac2aa", changed=False, own=False, editable=False),
    },
    patches=[],
    pins=[],
    unverified=[],
    misfits=[
        InstalledMisfit(
            name="vllm-xpu-kernels",
            version="0.1.16",
            reason="was made for another torch: _C.abi3.so needs at::gone(), which that torch has not",
            fix=f"{ROOT}/venv/bin/python -m pip uninstall --yes vllm-xpu-kernels",
        )
    ],
)
HALF = replace(
    STATUS,
    damaged={},
    made_by="install",
    verified=None,
    fix="xpusetup install torch-2.5",
    wheels=[replace(wheel, intact=True, installed=False) for wheel in STATUS.wheels],
    skipped=["venv", "survey"],
    left=["wheels.install", "guard"],
    sources={},
)
ENV = ShellEnvironment(
    {"PATH": f"{ROOT}/venv/bin:/usr/bin", "TWO": "it's\n$HOME", "BASH_FUNC_ml%%": "() {  true\n}"},
    ["PYTHONPATH", "BASH_FUNC_module%%"],
)
SEVERAL = BuildList(
    root="/cluster/out",
    checked=False,
    builds=[
        BuildSummary(
            name="torch-2.5",
            venv="/cluster/out/torch-2.5/venv",
            torch="2.5.1",
            made_by="build",
            state="done",
            bytes=27 << 30,
            age_s=3 * 86400,
            profile="torch-2.5",
            python="3.11",
            arch=["pvc", "ats-m150"],
            steps=17,
            done=17,
            interrupted=[],
            failed=None,
            damaged={},
            wheels=WHEELS,
            verified=True,
        ),
        BuildSummary(
            name="torch-2.14-py3.12",
            venv="/cluster/out/torch-2.14-py3.12/venv",
            torch="2.14.1",
            made_by="build",
            state="failed",
            bytes=9 << 30,
            age_s=5000,
            profile="torch-2.14",
            python="3.12",
            arch=["pvc"],
            steps=20,
            done=7,
            interrupted=[],
            failed="torch.build",
            damaged={},
            wheels=WHEELS[:1],
            verified=None,
        ),
        BuildSummary(
            name="sim",
            venv="/cluster/out/sim/venv",
            torch="2.13.0+cpu",
            made_by="build",
            state="damaged",
            bytes=1200 << 20,
            age_s=90000,
            profile="sim",
            python="3.11",
            arch=[],
            steps=10,
            done=3,
            interrupted=[],
            failed=None,
            damaged={"torch.fetch": "torch.whl is missing"},
            wheels=[],
            verified=False,
        ),
        BuildSummary(
            name="main",
            venv="/cluster/out/main/venv",
            torch="2.16.0",
            made_by="build",
            state="half",
            bytes=None,
            age_s=40,
            profile="main",
            python="3.11",
            arch=[],
            steps=10,
            done=3,
            interrupted=[],
            failed=None,
            damaged={},
            wheels=[],
            verified=None,
        ),
    ],
)
OVERVIEW = Overview(machine="no accelerator · Debian GNU/Linux 12 (bookworm)", way=None, builds=SEVERAL.builds)
BASE_MOVES = (
    "the base docker.io/library/ubuntu:24.04 is named by its tag, which moves: --base IMAGE@sha256:... holds it"
)
EMIT = Emitted(
    kind="shell",
    files=["my out/build.sh", "my out/helpers.tar", "my out/steps/venv.sh"],
    start="bash 'my out'/build.sh",
    then=["source 'my out'/venv/bin/activate"],
    notes=[],
)
EMIT_IMAGE = Emitted(
    kind="dockerfile",
    files=["out/Dockerfile", "out/steps/venv.sh"],
    start="docker build -t torch-2.14 out",
    then=['docker run --rm --device /dev/dri --group-add "$(stat -c %g /dev/dri/renderD128)" torch-2.14'],
    notes=[BASE_MOVES],
)

SITE_TEXT = """# What this place has of its own, for all profiles (docs/site.md).
prefix = "/sw/pytorch"

[scheduler]
account = "proj"

[toolkit]
modules = ["intel-oneapi/2026.1"]
"""
SITE = SiteFile("/home/me/.config/xpusetup/site.toml", SITE_TEXT, [Command("xpusetup plan -v")])


LOCKED = LockedProfile(
    profile="torch-2.14",
    root="/home/me/.local/share/xpusetup/torch-2.14-torch-main",
    file=None,
    revs={"torch": "main"},
    components=[
        PinChange(
            name="torch",
            was="v2.14.1 5c4886908",
            now="main aaaaaaaaa",
            version="2.16.0a0+xpu.gitaaaaaaaaa",
            source="main of https://github.com/pytorch/pytorch, 2026-11-21",
        ),
        PinChange(
            name="torch-xpu-ops",
            was="as the file says",
            now="bbbbbbbbb",
            version="",
            source="third_party/xpu.txt of aaaaaaaaa",
        ),
        PinChange(
            name="triton",
            was="3.8.0",
            now="3.9.0+gitcccccccc",
            version="3.9.0+gitcccccccc",
            source=".ci/docker/ci_commit_pins/triton-xpu.txt of aaaaaaaaa: ccccccccc",
        ),
        PinChange(name="sycl-tla", was="v0.9", now="v0.9", version="", source="torch-xpu-ops cmake/SYCLTLA.cmake"),
    ],
    notes=["torch is 2.16 there; toolkit, build requirements and run-time libraries are those of torch-2.14"],
    follows="xpusetup build torch-2.14 --rev torch=main",
)
TRUSTED = TrustedFiles(
    [
        Foreign("/shared/theirs.toml", "5f" * 32, "it belongs to eve"),
        Foreign("/home/me/mine.toml", "a0" * 32, ""),
    ],
    "/home/me/.config/xpusetup/trusted.jsonl",
)
NEW_PROFILE = NewProfile(profile="mine", from_="torch-2.14", file="mine.toml")


PUBLISHED = "/home/me/.local/share/xpusetup/torch-2.14"
INSTALLED = InstallResult(
    profile="torch-2.14",
    root=PUBLISHED,
    ran=["wheels.install", "guard", "verify.smoke"],
    skipped=["venv", "survey", "torch.download"],
    failed=None,
    wheels=[RootWheel(name="torch", version="2.14.1+xpu", path=f"{PUBLISHED}/published/t.whl", sha256=SHA * 4)],
    left=[],
    go_on="xpusetup install torch-2.14",
    verified=True,
    not_verified="no device",
    verify="xpusetup verify torch-2.14",
    use="xpusetup run torch-2.14 -- python",
    elsewhere=OtherEnvironment(command=f"pip install {PUBLISHED}/published/*.whl", needs=""),
    report="xpusetup report torch-2.14 --open",
    proof=ProofSummary(device="Arc B580", checks=14),
    seconds=71.3,
    took={"wheels.install": 64.2, "guard": 0.4, "verify.smoke": 6.1},
    removed=[
        RemovedPackage(name="triton", version="3.5.0", why="it owns the package folder triton, as triton-xpu does"),
        RemovedPackage(
            name="torch",
            version="2.15.0a0",
            why="torch 2.14.1+xpu takes its place; it was editable, and its sources stay in /home/me/pytorch",
        ),
    ],
    orphans=["nvidia-cublas-cu12", "nvidia-cudnn-cu12"],
    tidy=f"{PUBLISHED}/venv/bin/python -m pip uninstall nvidia-cublas-cu12 nvidia-cudnn-cu12",
    only=[],
    until="",
    editable={},
    target=None,
    unverified=[],
    cached={},
)
NEAR, FAR = "mirror.invalid", "index.invalid"


def to_fetch(pin: str, size: int, unpacked: int, *, place: str = NEAR, by: str = "") -> WheelToFetch:
    """Give a wheel that is to be fetched."""
    name, version = pin.split()
    return WheelToFetch(name=name, version=version, place=place, by=by, here=False, bytes=size, unpacked=unpacked)


OFFERED = InstallOffer(
    profile="torch-2.14",
    root=PUBLISHED,
    environment=f"{PUBLISHED}/venv",
    python="3.12",
    device="Intel Arc B580",
    trouble="",
    wheels=[
        to_fetch("torch 2.14.1+xpu", 1_100_000_000, 2_900_000_000, place=FAR),
        replace(to_fetch("triton-xpu 3.8.0", 180_000_000, 600_000_000, place=FAR), here=True),
        to_fetch("mkl 2026.1.0", 210_000_000, 780_000_000, by="torch"),
        to_fetch("sympy 1.14.0", 6_200_000, 26_000_000, by="torch"),
    ],
    fetch=1_316_200_000,
    disk=5_586_000_000,
    free=431_000_000_000,
    unread=[],
    why="",
    steps=["venv", "torch.download", "wheels.install"],
)
assert FAILED.failure
INSTALL_FAILED = replace(
    INSTALLED,
    failed="wheels.install",
    failure=replace(
        FAILED.failure,
        go_on=GoingOn("xpusetup install torch-2.14", [0, 0], 60.0),
        step="wheels.install",
        log=f"{PUBLISHED}/logs/wheels.install.log",
        first_error_line=None,
        first_error="",
        last_lines=["xpusetup: what the wheels require cannot be installed: nowhere is there pyzes==0.1.2"],
        again=f"bash {PUBLISHED}/steps/wheels.install.sh",
    ),
)
REPLACED = [
    ReplacedPackage(
        name="torch",
        was="2.14.1+xpu",
        now="2.9.0",
        when="2026-11-21T12:03:09+01:00",
        by="pip",
        culprit="needs-old-torch 1.2.3",
        why="needs-old-torch 1.2.3 (installed at the same time) requires torch==2.9.0; this one is built for CUDA",
    ),
    ReplacedPackage(
        name="triton",
        was=None,
        now="3.5.0",
        when="2026-11-21T12:03:11+01:00",
        by="pip",
        culprit="torch 2.9.0",
        why="it owns the package folder triton, as triton-xpu does; torch 2.9.0 requires triton==3.5.0",
    ),
    ReplacedPackage(
        name="intel-sycl-rt",
        was="2026.1.0",
        now=None,
        when=None,
        by="",
        culprit="",
        why="nothing that is left says who removed it",
    ),
]
CONTENTS = BundleContents(
    profile="torch-2.14",
    purpose="build",
    revs={"torch": "main"},
    takes={"triton": "wheel"},
    toolkit=None,
    parts=["torch", "triton", "vision"],
    python="3.11.7",
    machine="x86_64",
    created_by="0.1.0",
    repositories=[
        BundledRepository(f"https://github.com/{name}", ["0" * 40] * count)
        for name, count in (("pytorch/pytorch", 1), ("google/googletest", 3), ("pytorch/vision", 1))
    ],
    wheels=["cmake-4.1.0-py3-none-any.whl", "triton_xpu-3.8.0-cp311-cp311-linux_x86_64.whl"],
    program=["xpusetup-0.1.0-py3-none-any.whl"],
    installer="intel-deep-learning-essentials-2026.1.2.25_offline.sh",
    file="/home/me/torch 2.14.tar",
    bytes=4_123_456_789,
    sha256=SHA * 4,
)
BUNDLE = CreatedBundle(
    **fields_of(CONTENTS), root="/home/me/.local/share/xpusetup/torch-2.14-torch-main", unverified=[]
)
WHOLE_BUNDLE = VerifiedBundle(**fields_of(CONTENTS), files=61, missing=[])
LACKING = [
    f"https://github.com/google/googletest {'1' * 40}",
    "a wheel of ninja==1.13.2 for Python 3.11.7 on x86_64",
]
REACHED_OUT = [
    NetworkAttempt(
        step="torch.build",
        times=4,
        addresses=("https://pypi.python.org/packages/six.tar.gz",),
        look="grep -rnIwE urlopen /home/me/torch-2.14/src/torch",
    ),
    NetworkAttempt(
        step="vision.build", times=1, addresses=(), look="grep -rnIwE urlopen /home/me/torch-2.14/src/vision"
    ),
]


def _repository(name: str, size: int, *, used: bool) -> CachedRepository:
    return CachedRepository(name, f"/home/me/.cache/xpusetup/git/{name}-0123456789ab.git", size, used)


CACHE = CacheSize(
    store="/home/me/.cache/xpusetup/git",
    repositories=[
        _repository("pytorch-pytorch", 210 << 20, used=True),
        _repository("intel-torch-xpu-ops", 3 << 20, used=False),
    ],
    bytes=213 << 20,
    freed=3 << 20,
    roots=[
        RootSize("sim", "/home/me/r/sim", {"src": 4 << 20, "venv": 969 << 20, "wheels": 183 << 20, "rest": 1 << 20}),
        RootSize("torch-2.5", ROOT, {"src": 21 << 30, "venv": None, "wheels": 0, "rest": 0}),
    ],
    others=[
        KeptFolder("bundles, unpacked", "/home/me/.cache/xpusetup/bundles", 9 << 30),
        KeptFolder("sources of test suites", "/home/me/.cache/xpusetup/suites", None),
        KeptFolder("which libraries fit", "/home/me/.cache/xpusetup/fits", 1 << 10),
    ],
)
PRUNED = PrunedCache(
    store=CACHE.store,
    removed=[_repository("intel-torch-xpu-ops", 3 << 20, used=False)],
    busy=[_repository("pybind-pybind11", 1 << 20, used=False)],
    freed=3 << 20,
    unpacked=None,
)


def _commit(rev: str, subject: str) -> Commit:
    return Commit(rev=rev * 8, parent="0" * 40, date="2026-10-02", author="A. Developer", subject=subject)


def _trial(rev: str, verdict: Verdict, why: str) -> Trial:
    return Trial(rev=rev, verdict=verdict, why=why, seconds=400.0, cached=(800, 200))


BISECTED = Bisection(
    profile="main",
    root="/home/me/.local/share/xpusetup/main-bisect",
    component="torch",
    good="11111" * 8,
    bad="99999" * 8,
    culprit=_commit("abcde", "Update torch-xpu-ops commit pin"),
    suspects=[],
    trials=[_trial("22222" * 8, "good", "exit code 0"), _trial("33333" * 8, "skip", "torch.build failed")],
    inside=CommitSearch(
        component="torch-xpu-ops",
        good="44444" * 8,
        bad="55555" * 8,
        culprit=None,
        suspects=[_commit("77777", "Faster sum [1/2]"), _commit("88888", "Faster sum [2/2]")],
        trials=[_trial("77777" * 8, "skip", "torch.build failed")],
    ),
    builds=3,
    skipped=2,
    cached=(2400, 600),
    nightlies=None,
)
TRIED = TriedChange(
    change="torch-xpu-ops=pr/1234",
    tree="/home/me/.local/share/xpusetup/torch-2_6/src/tried/abcdef123456",
    changed=["src/ATen/native/xpu/sycl/Loops.h"],
    compiled=[
        "/home/me/.local/share/xpusetup/torch-2_6/src/tried/abcdef123456/src/ATen/native/xpu/sycl/AbsKernel.cpp",
        "/home/me/.local/share/xpusetup/torch-2_6/src/tried/abcdef123456/src/ATen/native/xpu/sycl/CopyKernel.cpp",
    ],
    replaced=["libtorch_xpu.so", "about.json"],
    environment="/home/me/ml",
    seconds={"generate": 0.2, "compile": 91.0, "link": 11.0, "replace": 1.4},
    back="xpusetup build torch-2.6 --into /home/me/ml --only xpu --device processor",
)
NIGHTLIES = NightlySearch(
    good="2.13.0.dev20260503+xpu",
    bad="2.13.0.dev20260505+xpu",
    index="https://download.pytorch.org/whl/nightly/xpu",
    trials=[
        _trial("2.13.0.dev20260503+xpu", "good", "exit code 0"),
        _trial("2.13.0.dev20260504+xpu", "skip", "No matching distribution found for triton-xpu"),
        _trial("2.13.0.dev20260505+xpu", "bad", "exit code 1"),
    ],
)
WORK = Material(
    root="~/.local/share/xpusetup/torch-2.5",
    manifest={"profile": "torch-2.5"},
    spans=(
        Span(step="torch.fetch", lane="network", state="ran", began=0.0, seconds=72.0),
        Span(
            step="torch.build",
            lane="work",
            state="ran",
            began=72.0,
            seconds=8380.0,
            jobs=14,
            heaviest=9 << 30,
            cached=(2100, 5461),
        ),
    ),
    edges={"torch.build": (Edge(output="a/b/Flash[1].cpp.o", began=0.0, seconds=612.0),)},
    memory=[],
    memory_total=None,
    sizes={},
    passes=[
        {"pass": "device", "source": ["a/Sorting.cpp"], "processor": 21.0, "memory": 1 << 30},
        {"pass": "host", "source": ["a/Sorting.cpp"], "processor": 143.0, "memory": 3 << 30},
    ],
)
REPORTED = WrittenReport(
    **fields_of(make_report(WORK)), file="/home/me/.local/share/xpusetup/torch-2.5/report.html", opened=False
)
WHEEL = WheelVerification(
    wheel="/home/me/torch-2.14.1+xpu-cp312-cp312-linux_x86_64.whl",
    name="torch",
    version="2.14.1+xpu",
    profile="torch-2.14",
    sha256=SHA * 4,
    size=1_288_490_188,
    tags=["cp312-cp312-linux_x86_64"],
    requires=["intel-sycl-rt==2026.1.0"],
    libraries=[
        WheelLibrary(
            path="torch/lib/libtorch_xpu.so",
            size=3_221_225_472,
            soname="libtorch_xpu.so",
            needed=["libsycl.so.9", "libc10_xpu.so"],
            rpath=["$ORIGIN"],
            targets=["pvc"],
        )
    ],
    checks=[
        WheelCheck(id="wheel.xpu", title="XPU", level="ok", seen="libtorch_xpu.so needs libsycl.so.9", why="", fix=""),
        WheelCheck(
            id="wheel.arch",
            title="GPUs",
            level="fail",
            seen="812 device images, for pvc; none for bmg",
            limit="pvc,bmg",
            why="Code for other GPUs is compiled again at every first use, or cannot run.",
            fix="build with TORCH_XPU_ARCH_LIST, or --arch, as the profile has it",
        ),
    ],
    ok=False,
)
FITS = FitResult(
    torch=FitTorch(version="2.14.1+xpu", where="/home/me/ml (--into)", read=True, python="3.12"),
    wheels=[
        FittedWheel(
            file="torchvision-0.29.1+xpu-cp312-cp312-linux_x86_64.whl",
            name="torchvision",
            version="0.29.1+xpu",
            answer="fits",
            reason="all 184 names that it asks torch for are there, of its C++ interface",
            instead=None,
            compiled="loads",
            binds="torch-c++",
            notes=[],
            libraries=[],
        ),
        FittedWheel(
            file="vllm_xpu_kernels-0.1.16-cp38-abi3-manylinux_2_28_x86_64.whl",
            name="vllm-xpu-kernels",
            version="0.1.16",
            answer="does_not_fit",
            reason="_C.abi3.so needs at::gone(c10::SymInt) and 2 more, which that torch has not; it has at::gone(long)",
            instead="torch==2.13.0",
            compiled="does_not_load",
            binds="torch-c++",
            notes=["it requires torch==2.13.0: pip would replace torch 2.14.1+xpu, unless --no-deps is given"],
            libraries=[
                FitLibrary(
                    path="vllm_xpu_kernels/_C.abi3.so",
                    group="vllm_xpu_kernels/_C",
                    torch=412,
                    stable=0,
                    foreign=False,
                    problems=[
                        FitProblem(
                            kind="torch",
                            library="vllm_xpu_kernels/_C.abi3.so",
                            names=["at::gone(c10::SymInt)", "at::gone_out()", "c10::gone()"],
                            count=3,
                            first="torch/lib/libtorch_cpu.so",
                            near=["at::gone(long)"],
                            certain=True,
                        )
                    ],
                )
            ],
        ),
        FittedWheel(
            file="torchcodec-0.17.0-cp312-cp312-manylinux_2_28_x86_64.whl",
            name="torchcodec",
            version="0.17.0",
            answer="unknown",
            reason="libtorchcodec_core8.so needs libavutil.so.60, which is found nowhere",
            instead=None,
            compiled="loads",
            binds="torch-stable",
            notes=[],
            libraries=[],
        ),
    ],
)
AGAIN = "/home/me/.local/share/xpusetup/.rebuilt/torch-2.5-at-a-longer-path"
REBUILT = RebuildResult(
    profile="torch-2.5",
    root=ROOT,
    again=AGAIN,
    same=False,
    conditions=[
        VariedCondition(name="path", was=ROOT, now=AGAIN, varied=True),
        VariedCondition(name="locale", was="", now="C", varied=True),
        VariedCondition(
            name="hostname", was="mine", now="mine", varied=False, why="this machine does not allow it: not permitted"
        ),
    ],
    wheels=[
        RebuiltWheel(
            name=wheel.name,
            version=wheel.version,
            path=wheel.path,
            sha256=wheel.sha256,
            again=wheel.path.replace(ROOT, AGAIN),
            sha256_again=wheel.sha256 if wheel.name != "torch" else "0" * 64,
            same=wheel.name != "torch",
            members=12345,
            differences=[
                MemberDifference(
                    member="torch/share/cmake/ATen/ATenConfig.cmake",
                    causes=["path"],
                    why=WHY["path"],
                    sure=True,
                    was=f"{ROOT}/src/torch/include",
                    now=f"{AGAIN}/src/torch/include",
                ),
                MemberDifference(
                    member="torch/lib/libtorch_cpu.so",
                    causes=["flags", "time"],
                    why=f"{WHY['flags']}; {WHY['time']}",
                    sure=False,
                    was="",
                    now="",
                ),
            ]
            if wheel.name == "torch"
            else [],
        )
        for wheel in WHEELS
    ],
    kept=True,
    failed=None,
    log="",
    failure=None,
    seconds=7200.0,
)
REBUILT_SAME = replace(REBUILT, same=True, kept=False, wheels=REBUILT.wheels[1:])
REBUILD_FAILED = replace(
    REBUILT,
    same=None,
    wheels=[],
    failed="torch.build",
    log=f"{AGAIN}/logs/torch.build.log",
    failure=replace(
        FAILED.failure,
        log=f"{AGAIN}/logs/torch.build.log",
        go_on=replace(FAILED.failure.go_on, command="xpusetup wheel rebuild --profile torch-2.5"),
    ),
)
