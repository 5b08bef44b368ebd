"""The profile of the real XPU build: the shipped torch-2.6, and what has to be another way where it runs.

That is a Debian trixie without GitHub and without PyTorch's own index. Each difference says why it must be.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Document = dict[str, Any]
SHIPPED = "profiles/torch-2.6.toml"
ONEDNN = {
    "name": "onednn",
    "path": "third_party/ideep/mkl-dnn",
    "repo": "https://github.com/uxlfoundation/oneDNN",
    "tag": "v3.5.3",
    "rev": "66f0cb9eb66affd2da3bf5f8d897376f04aae6af",
    "source": "DNNL_VERSION_HASH of third_party/mkl-dnn.BUILD in Debian's pytorch 2.6.0+dfsg-7 source",
    "confidence": "confirmed",
}


class Difference(NamedTuple):
    """One value that is another one: the component (empty: none), the keys below it, the value, and why."""

    component: str
    keys: tuple[str, ...]
    value: Any
    why: str


REVISED = "GitHub is out of reach: the source is Debian's, as a git repository whose commit is another one"
DIFFERENCES = (
    Difference("torch", ("rev",), "", REVISED),
    Difference("vision", ("rev",), "", REVISED),
    Difference("audio", ("rev",), "", REVISED),
    Difference(
        "torch",
        ("vendored", "onednn"),
        ONEDNN,
        "upstream has oneDNN as a submodule of a submodule; Debian's archive of the source has none of them",
    ),
    Difference(
        "torch",
        ("environment", "USE_SYSTEM_LIBS"),
        "ON",
        "Debian's archive has no submodules: the distribution's libraries serve",
    ),
    Difference(
        "torch",
        ("environment", "ONNX_NAMESPACE"),
        "onnx",
        "the namespace that Debian's ONNX library was built with",
    ),
    Difference("torch", ("environment", "USE_FBGEMM"), "0", "a submodule, and Debian has no library of it"),
    Difference(
        "torch",
        ("environment", "USE_ITT"),
        "0",
        "a submodule too; left to itself configure notices that and then fails over an option that it never declared",
    ),
    Difference(
        "torch",
        ("defines",),
        {"PYTHON_EXECUTABLE": "/xpusetup/venv/bin/python"},
        "torch-xpu-ops' Codegen.cmake runs it, and CMake drops the command without a word where it is not set, which"
        " upstream's NNPACK does (FIND_PACKAGE(PythonInterp), CMakeLists.txt): Debian's archive has no submodules",
    ),
    Difference(
        "torch",
        ("inspect", "device_code"),
        False,
        "the icpx of this test leaves device code out, and the wheel must be known for that",
    ),
    Difference(
        "triton",
        (),
        {"kind": "skip", "name": "triton", "reason": "PyTorch's own index is out of reach"},
        "pytorch-triton-xpu is on PyTorch's own index alone",
    ),
)


def derive(shipped: Document, revs: Mapping[str, str]) -> Document:
    """Give the document of the shipped profile with all differences; `revs` are the commits of the sources here.

    A component whose commit is not known yet is left as it was shipped.
    """
    made = copy.deepcopy(shipped)
    for difference in DIFFERENCES:
        value = revs.get(difference.component) if difference.keys == ("rev",) else difference.value
        if value is not None:
            _put(made["components"], difference, value)
    return made


def _put(components: list[Document], difference: Difference, value: Any) -> None:
    place = next(place for place, part in enumerate(components) if part["name"] == difference.component)
    if not difference.keys:
        components[place] = value
        return
    *folders, last = difference.keys
    inside: Any = components[place]
    for name in folders:
        inside = inside[name]
    if isinstance(inside, list):
        inside.append(value)
    else:
        inside[last] = value
