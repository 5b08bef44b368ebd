"""A report names nobody: what is hidden, what stays, and that a hidden report is judged as before."""

from __future__ import annotations

import json

import pytest

from data.asking import findings
from data.cases import CASES
from data.well import well
from xpusetup.base.document import read_as, to_table
from xpusetup.base.text import Redactor, without_credentials
from xpusetup.machine.facts import Facts

HIDE = Redactor(user="jane", host="cave", home="/home/jane")
MANY = Redactor(user="jane", host="cave", home="/data/people/jane")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("/home/jane/venv/bin/python", "~/venv/bin/python"),
        ("/home/janet/venv", "/home/<user>/venv"),
        ("/home/other:/home/third/x", "/home/<user>:/home/<user>/x"),
        ("user jane on cave, not janet on caves", "user <user> on <host>, not janet on caves"),
        ("https://jane:pw@proxy.example:8080/x", "https://***@proxy.example:8080/x"),
        ("http://tok3n@host/", "http://***@host/"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ", "<token>"),
        ("hf_abcdefghijklmnopqrstu here", "<token> here"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer <token>"),
        ("API_KEY=verysecret next", "API_KEY=*** next"),
        ("192.168.1.20 and 127.0.0.1", "<address> and 127.0.0.1"),
        ("vllm-xpu-kernels 0.1.16.2 was made for", "vllm-xpu-kernels 0.1.16.2 was made for"),
        ("habana-torch-plugin==1.21.4.3, from 10.1.2.3", "habana-torch-plugin==1.21.4.3, from <address>"),
        ("my-host 34.12.5.6", "my-host <address>"),
        ("fe80::1ff:fe23:4567:890a is up", "<address> is up"),
        ("::1", "::1"),
        ("aa:bb:cc:dd:ee:0f", "<mac>"),
    ],
)
def test_hidden(text: str, hidden: str) -> None:
    assert HIDE.text(text) == hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("(.venv) jo@ryzen:~/ml$ python train.py\njo: no\nryzen: up", "(.venv) <user>@<host>:~/ml$ python train.py"),
        ("[jo@node7 src]# make\nnode7 of jo", "[<user>@<host> src]# make"),
        ("Linux ryzen.lan 6.8.0-41-generic #41-Ubuntu SMP\nryzen", "Linux <host>.lan 6.8.0-41-generic #41-Ubuntu SMP"),
        (
            "Nov 12 10:00:01 ryzen kernel: xe 0000:03:00.0: up\nryzen",
            "Nov 12 10:00:01 <host> kernel: xe 0000:03:00.0: up",
        ),
        (
            "uid=1000(jo) gid=1000(jo) groups=1000(jo),44(video)",
            "uid=1000(<user>) gid=1000(<user>) groups=1000(<user>),44(video)",
        ),
        ("-rw-r--r-- 1 jo jo 9 Nov 12 a.py", "-rw-r--r-- 1 <user> <user> 9 Nov 12 a.py"),
        ("/home/jo/ml/a.py\njo", "/home/<user>/ml/a.py"),
        ("Author: Jo <jo.doe@mail.example.org>", "Author: Jo <<mail>>"),
        ("root@torch:/workspace# python -c 'import torch'", "root@torch:/workspace# python -c 'import torch'"),
        ("git@github.com:pytorch/pytorch py-torch@2.6.0", "git@github.com:pytorch/pytorch py-torch@2.6.0"),
    ],
)
def test_names_that_a_post_tells(text: str, hidden: str) -> None:
    """They are those of others; what is known of this machine does not name them."""
    told = Redactor().knowing(text.splitlines()).text(text)
    assert told.splitlines()[0] == hidden
    assert not {"jo", "ryzen", "node7"} & set(told.replace(":", " ").split())


@pytest.mark.parametrize(
    "text",
    [
        "0000:03:00.0",
        "2026-11-21T08:00:00+00:00",
        "12:30:45",
        "std::vector and c10::xpu",
        "gcc version 13.3.0",
        "libsycl.so.9",
        "25.18.33578.15-1~24.04",
        "https://github.com/pytorch/pytorch/issues/1",
        "git@github.com:pytorch/pytorch",
        "sudo usermod -aG render,video <user>",
    ],
)
def test_left_alone(text: str) -> None:
    assert HIDE.text(text) == text


def test_a_home_that_is_not_in_home() -> None:
    assert MANY.text("/data/people/jane/x /data/people/janes") == "~/x /data/people/janes"


@pytest.mark.parametrize(("user", "text"), [("root", "root"), ("", "x"), ("1000", "1000 MiB")])
def test_users_that_name_nobody(user: str, text: str) -> None:
    assert Redactor(user=user).text(text) == text


def test_versions_are_no_addresses() -> None:
    told = HIDE.document({"packages": {"umf": "1.0.0.1"}, "seen": "at 1.0.0.1", "n": 3, "list": ["10.1.2.3", None]})
    assert told == {"packages": {"umf": "1.0.0.1"}, "seen": "at <address>", "n": 3, "list": ["<address>", None]}


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://u:p@h/x", ("https://***@h/x", True)),
        ("https://h/x", ("https://h/x", False)),
        ("/a@b", ("/a@b", False)),
    ],
)
def test_credentials(address: str, plain: tuple[str, bool]) -> None:
    assert without_credentials(address) == plain


@pytest.mark.parametrize("number", range(0, len(CASES), 12))
def test_what_was_hidden_is_judged_as_before(number: int) -> None:
    """Facts that leave this machine give the findings that they gave on it."""
    facts = well(**CASES[number][1])
    hidden = Redactor(user="me", host="well", home="/home/me").document(to_table(facts))
    assert "/home/me" not in json.dumps(hidden)
    for goal in ("build", "run"):
        before, after = (findings(each, goal) for each in (facts, read_as(Facts, hidden)))
        assert {name: each.level for name, each in before.items()} == {name: each.level for name, each in after.items()}
