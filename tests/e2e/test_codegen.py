"""verify --codegen with a Triton and an ocloc that are none: they answer as the real ones did (docs/verify.md)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from data.codegen import NOTES, REFUSAL
from e2e.support import caller, xpusetup

pytestmark = pytest.mark.e2e

PROFILE = Path(__file__).parents[1] / "profiles/triton-3.7.toml"
TRITON = {
    "triton/__init__.py": """
import os
from types import SimpleNamespace
def jit(function):
    return function
def compile(source, target, options):
    name, fault = source.fn.__name__, os.environ.get("CODEGEN_FAULT", "")
    if fault == f"crash:{target.arch['name']}":
        os.abort()
    if fault == f"triton:{name}":
        raise ValueError(f"at 1:4:\\ndef {name}(\\n    ^\\nno such operation")
    if target.backend != "xpu" or os.environ["TRITON_INTEL_DEVICE_ARCH"] != target.arch["name"].replace("-", "_"):
        raise ValueError("another target")
    if "cl_intel_subgroup_2d_block_io" not in os.environ["TRITON_INTEL_DEVICE_EXTENSIONS"].split(" "):
        raise AssertionError("sycl headers not found")
    llir = "call @__spirv_SubgroupMatrixMultiplyAccumulateINTEL" if name == "matmul" else "ret void"
    told = SimpleNamespace(name=name, build_flags="")
    return SimpleNamespace(asm={"spv": name.encode(), "llir": llir}, metadata=told)
""",
    "triton/language.py": "class tensor: pass\nclass constexpr: pass\nfloat32 = 'fp32'\n",
    "triton/backends/__init__.py": "",
    "triton/backends/compiler.py": """
from collections import namedtuple
GPUTarget = namedtuple("GPUTarget", "backend arch warp_size")
""",
    "triton/compiler/__init__.py": """
class ASTSource:
    def __init__(self, fn, signature, constexprs, attrs):
        assert not any("half" in kind for kind in signature.values()), signature
        self.fn = fn
""",
    "triton_xpu-3.7.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: triton-xpu\nVersion: 3.7.0\n",
}
OCLOC = f"""#!{sys.executable}
import os, sys
from pathlib import Path
NOTES = {NOTES!r}
words, fault = sys.argv[1:], os.environ.get("CODEGEN_FAULT", "")
if words == ["--version"]:
    print("26.27.039122")
    sys.exit()
device = words[words.index("-device") + 1]
if words[0] == "query":
    if device not in NOTES:
        print(f"Could not determine device target: {{device}}.\\nError: Cannot get HW Info for device {{device}}.")
    else:
        Path(words[1]).write_text("cl_khr_fp64 cl_intel_bfloat16_conversions cl_intel_subgroup_2d_block_io")
    sys.exit()
kernel = Path(words[words.index("-file") + 1]).read_text()
if fault == f"ocloc:{{device}}:{{kernel}}":
    print("error: backend compiler failed build.\\n\\nBuild failed with error code: -11\\nCommand was: ocloc compile")
    sys.exit(245)
note = NOTES["bmg" if fault == f"image:{{device}}" else device]
image = b"\\x7fELF\\2\\1\\1" + bytes(9) + bytes.fromhex(note) + f".text.{{kernel}}".encode() + b"\\0"
Path(words[words.index("-o") + 1]).write_bytes(image)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with an environment that has that Triton, that ocloc, and a profile for three GPUs."""
    folder = tmp_path_factory.mktemp("codegen")
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", folder / "venv"), check=True)
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    for name, text in TRITON.items():
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text(text)
    (folder / "bin").mkdir()
    (folder / "bin/ocloc").write_text(OCLOC)
    (folder / "bin/ocloc").chmod(0o755)
    return folder


def generate(place: Path, targets: str, fault: str = "", path: str = "") -> Any:
    text = PROFILE.read_text()
    start, end = text.index('default = ["pvc"'), text.index('ocloc = "26.27"')
    listed = ", ".join(f'"{name}"' for name in targets.split(","))
    (place / "x.toml").write_text(f"{text[:start]}default = [{listed}]\n{text[end:]}")
    env = caller(place / "home", CODEGEN_FAULT=fault)
    env["PATH"] = path or f"{place / 'bin'}:{env['PATH']}"
    words = ("verify", "--codegen", "--into", str(place / "venv"), "--profile", str(place / "x.toml"), "--json")
    return xpusetup(*words, env=env)


def test_each_image_is_for_its_gpu(place: Path) -> None:
    said = generate(place, "pvc,bmg")
    result = said.document["result"]
    assert (said.code, result["verified"], result["ocloc"]) == (0, None, "26.27.39122"), said.err
    found = {each["name"]: each for each in result["targets"]}
    assert {name: each["status"] for name, each in found.items()} == dict.fromkeys(("pvc", "bmg"), "generated")
    kernels = found["bmg"]["kernels"]
    assert [(one["name"], one["versions"], one["matrix"], one["half"]) for one in kernels] == [
        ("add", ["20.1"], False, ""),
        ("softmax", ["20.1"], False, ""),
        ("matmul", ["20.1"], True, "bf16"),
    ]


def test_without_torch_it_says_that_nothing_of_a_model_is_generated(place: Path) -> None:
    (found,) = generate(place, "pvc").document["result"]["targets"]
    assert found["model"] == {"torch": "", "why": "there is no torch in this environment", "calls": []}
    assert {one["origin"] for one in found["kernels"]} == {"written"}


def test_what_ocloc_does_not_know_is_listed_in_its_words(place: Path) -> None:
    said = generate(place, "pvc,cri")
    states = [(each["name"], each["status"]) for each in said.document["result"]["targets"]]
    assert (said.code, states) == (0, [("pvc", "generated"), ("cri", "refused")])
    assert said.document["result"]["targets"][1]["why"].startswith(REFUSAL.replace("xe9", "cri"))


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("ocloc:pvc:softmax", "softmax: ocloc: error: backend compiler failed build."),
        ("triton:add", "add: triton: ValueError: no such operation"),
        ("image:pvc", "add, softmax, matmul: image: the image is for bmg-g21"),
        ("crash:pvc", "the process of pvc ended with -6"),
    ],
)
def test_a_failure_is_the_exit_code(place: Path, fault: str, why: str) -> None:
    said = generate(place, "pvc", fault)
    (found,) = said.document["result"]["targets"]
    assert (said.code, found["status"], found["why"]) == (1, "failed", why)


def test_without_ocloc(place: Path, tmp_path: Path) -> None:
    said = generate(place, "pvc", path=str(tmp_path))
    assert said.document["error"]["message"] == "ocloc, Intel's offline compiler, is not on PATH"
