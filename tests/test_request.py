"""From the words of the command line to a Request."""

from __future__ import annotations

import pytest

from xpusetup.base.errors import UsageError
from xpusetup.base.model import Request
from xpusetup.config.request import make_request, render_request


def request(**words: object) -> Request:
    given = {"only": [], "until": "", "arch": "auto", "set_": [], "verify": "auto", **words}
    return make_request(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ({}, Request()),
        ({"only": ["torch", "vision"]}, Request(only=("torch", "vision"))),
        ({"until": "torch.build"}, Request(until="torch.build")),
        ({"arch": "pvc"}, Request(arch=("pvc",))),
        ({"arch": " pvc, bmg,,"}, Request(arch=("pvc", "bmg"))),
        ({"arch": ""}, Request()),
        ({"verify": "off"}, Request(verify="off")),
        ({"verify": "require"}, Request(verify="require")),
        ({"set_": ["torch.USE_XCCL=0"]}, Request(set=(("torch", "USE_XCCL", "0"),))),
        ({"set_": ["torch.A=b=c.d"]}, Request(set=(("torch", "A", "b=c.d"),))),
        ({"set_": ["torch.A="]}, Request(set=(("torch", "A", ""),))),
        ({"set_": ["torch.A=$(rm -rf /); 'x' \"y\""]}, Request(set=(("torch", "A", "$(rm -rf /); 'x' \"y\""),))),
        ({"set_": ["my.part.A=1"]}, Request(set=(("my.part", "A", "1"),))),
    ],
)
def test_request(words: dict[str, object], wanted: Request) -> None:
    assert request(**words) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "torch",
        "torch.A",
        "A=1",
        ".A=1",
        "torch.=1",
        "torch.A B=1",
        "torch.1A=1",
        "torch.A-B=1",
        "torch.É=1",
        "torch.A=a\nb",
        "torch.A=\x1b",
        "torch.A=@ROOT@",
    ],
)
def test_bad_set(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        request(set_=[text])
    assert caught.value.message == f"--set {text!r} is not COMPONENT.KEY=VALUE"
    assert caught.value.fix == "as in: --set torch.USE_XCCL=0"


@pytest.mark.parametrize("word", ["yes", "OFF", "auto "])
def test_bad_verify(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        request(verify=word)
    assert caught.value.message == f"--verify cannot be {word!r}"
    assert caught.value.fix == "use one of: auto, require, off"
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({}, ()),
        ({"only": ["torch", "vision"]}, ("--only", "torch", "--only", "vision")),
        ({"until": "torch.build", "verify": "off"}, ("--until", "torch.build", "--verify", "off")),
        ({"arch": "pvc, bmg"}, ("--arch", "pvc,bmg")),
        ({"set_": ["torch.A=two words=x"]}, ("--set", "torch.A=two words=x")),
    ],
)
def test_what_was_asked_can_be_asked_again(words: dict[str, object], told: tuple[str, ...]) -> None:
    assert render_request(request(**words)) == told
