"""What comes after the real XPU build: its use, the same from a bundle by the shell form, one kernel edited.

Each stage leaves a measure in the work folder, and is not done again where that is there.
"""

from __future__ import annotations

import json
import shutil
import time
from typing import TYPE_CHECKING, Any

from e2e.support import CHECKOUT
from real.outside import UnavailableError
from real.torch_attempts import list_members

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from real.torch_attempts import Work

Document = dict[str, Any]
PLACE = "xpusetup"
"""The product's root in the Debian root is /xpusetup: the one path under which every build is to see its root later.
The compiler's cache knows the folders of a build by their whole paths, so what these hours filled serves then too."""
HOURS = 6 * 3600
BUNDLE = "/build/torch-xpu.tar"
KERNEL = "src/torch/third_party/torch-xpu-ops/src/ATen/native/xpu/sycl/AbsKernel.cpp"
OBJECT = "src/torch/build/caffe2/aten_xpu/**/*_generated_AbsKernel.cpp.o"
EDITED = "extern const char turn[];"
LAUNCHERS = tuple(f"CMAKE_{language}_COMPILER_LAUNCHER" for language in ("C", "CXX", "SYCL"))
ALONE = """
set -eu
ROOT=$2
fail() { echo "$1" >&2; exit 1; }
hold_git() { :; }
run() { case " $* " in *" setup.py "*) "$@" ;; esac; }
eval "$(sed '1,/^begin$/d; /^finish$/d' "$1")"
"""
"""PyTorch's own build in the environment of a step (its script, the root), without what the product does besides."""
USED = """
import json, torch, torchaudio, torchvision
boxes = torch.tensor([[0.0, 0.0, 10.0, 10.0], [1.0, 1.0, 11.0, 11.0], [20.0, 20.0, 30.0, 30.0]])
try:
    torch.ones(1, device="xpu")
    said = ""
except Exception as error:
    said = str(error).splitlines()[0]
print(json.dumps({
    "version": torch.__version__,
    "xpu": getattr(torch.version, "xpu", None),
    "compiled": torch.xpu._is_compiled(),
    "available": torch.xpu.is_available(),
    "count": torch.xpu.device_count(),
    "said": said,
    "onednn": torch.backends.mkldnn.is_available(),
    "nms": torchvision.ops.nms(boxes, torch.tensor([0.9, 0.8, 0.7]), iou_threshold=0.5).tolist(),
    "mel": list(torchaudio.transforms.MelSpectrogram(n_mels=8)(torch.zeros(1, 800)).shape),
    "versions": [torchvision.__version__, torchaudio.__version__],
}))
"""


def once(work: Work, name: str, make: Callable[[Work], Document]) -> Document:
    """Give what a stage found: what it left the last time, else it is done."""
    path = work.folder / f"measures/{name}.json"
    if not path.exists():
        path.write_text(json.dumps(make(work), indent=2) + "\n")
    found: Document = json.loads(path.read_text())
    return found


def use(work: Work) -> Document:
    """Import what was built, and ask torch.xpu; then build again, which has nothing to do."""
    answer = json.loads(work.inside(*work.xpusetup("run", PLACE, "--", "python", "-c", USED)).splitlines()[-1])
    wrong = [name for name in ("available", "count") if answer[name]] + ["compiled"] * (not answer["compiled"])
    if wrong:
        raise UnavailableError(f"torch.xpu says what cannot be: {answer}")
    began = time.monotonic()
    again = json.loads(work.inside(*work.xpusetup("build", PLACE, "--launcher", "ccache", "--json")))["result"]
    if again["ran"] or again["verified"] is not None:
        raise UnavailableError(f"a second build ran {again['ran']}, and says verified: {again['verified']}")
    return {"answer": answer, "noop": round(time.monotonic() - began, 2)}


def build_offline(work: Work) -> Document:
    """Make a bundle, and let the shell form build from it where there is no network, in a root at the same path.

    The root that was built with the network lies aside for so long. What a failure leaves is at /offline.
    """
    if not (work.root / BUNDLE[1:]).exists():
        work.inside(*work.xpusetup("bundle create", PLACE, BUNDLE), seconds=HOURS)
    place, aside, failed = work.place(PLACE), work.place("online"), work.place("offline")
    if not aside.exists():
        place.rename(aside)
    try:
        found = _build_offline(work, place, aside)
        shutil.rmtree(place)
    finally:
        shutil.rmtree(failed, ignore_errors=True)
        if place.exists():
            place.rename(failed)
        aside.rename(place)
    return found


def _build_offline(work: Work, place: Path, online: Path) -> Document:
    emitted = ("shell", "--out", work.inner(PLACE), "--profile", f"/opt/{work.profile}")
    if not place.exists():
        work.inside("/opt/xpusetup/bin/xpusetup", "emit", *emitted)
    script = work.root / "opt/from_bundle.py"
    shutil.copy(CHECKOUT / "tests/real/from_bundle.py", script)
    began = time.monotonic()
    launchers = dict.fromkeys(("COMPILER_LAUNCHER", *LAUNCHERS), "/usr/bin/ccache")
    cache = {"CCACHE_BASEDIR": work.inner(PLACE), "CCACHE_NOHASHDIR": "1", "CCACHE_DEPEND": "1", "MAX_JOBS": "2"}
    words = tuple(f"{name}={value}" for name, value in {**launchers, **cache}.items())
    run = ("env", *words, "/opt/xpusetup/bin/python", "/opt/from_bundle.py", BUNDLE, "/build/bundle")
    said = work.inside(*run, "bash", f"{work.inner(PLACE)}/build.sh", seconds=HOURS)
    logs = "".join(path.read_text(errors="replace") for path in place.glob("logs/*.log"))
    differ = {
        wheel.name.partition("-")[0]: sorted(
            {name for name, _ in list_members(wheel).items() ^ list_members(online / "wheels" / wheel.name).items()}
        )
        for wheel in place.glob("wheels/torch*.whl")
    }
    asked = "asked for the network" in said or "asked for the network" in logs
    return {"seconds": round(time.monotonic() - began, 1), "asked": asked, "differs": differ, "said": said[-600:]}


def edit_a_kernel(work: Work) -> Document:
    """Change one SYCL kernel in a tree of the user's own: through the product, and by the same build system alone."""
    own = ("--source", f"torch={work.inner(PLACE)}/src/torch", "--only", "torch", "--until", "torch.build")
    words = work.xpusetup("build", PLACE, "--launcher", "none", *own)
    kernel = work.place(PLACE) / KERNEL
    before = kernel.read_text().partition(EDITED)[0]
    kernel.write_text(before)  # a stage that was killed left its own line
    work.inside(*words, seconds=HOURS)  # from a fetched tree to one's own: once
    alone = ("env", "MAX_JOBS=2", "bash", "-c", ALONE, "bash", f"{work.inner(PLACE)}/steps/torch.build.sh")
    seconds: dict[str, list[float]] = {"product": [], "alone": []}
    for turn in range(3):
        for name, line in (("product", words), ("alone", (*alone, work.inner(PLACE)))):
            made = newest_object(work)
            kernel.write_text(f'{before}{EDITED} const char turn[] = "{name} {turn}";\n')
            began = time.monotonic()
            work.inside(*line, seconds=HOURS)
            seconds[name].append(round(time.monotonic() - began, 1))
            if newest_object(work) == made:
                raise UnavailableError(f"{name}: the object of the kernel was not made anew")
    kernel.write_text(before)
    return {**seconds, "ratio": round(min(seconds["product"]) / min(seconds["alone"]), 3)}


def newest_object(work: Work) -> float:
    """Give when the kernel's object was made."""
    return max(path.stat().st_mtime for path in work.place(PLACE).glob(OBJECT))
