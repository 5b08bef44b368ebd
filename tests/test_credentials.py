"""Users, passwords and tokens: refused where a file would keep them, hidden on every other way out."""

from __future__ import annotations

import importlib
import json
import stat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.profiles import small
from fuzzing import examples
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Event
from xpusetup.base.text import Redactor, hide, hide_all
from xpusetup.cli.options import ResultOutput
from xpusetup.commands.build import with_file
from xpusetup.commands.emit import Emitted
from xpusetup.commands.result import Result, make_document, make_error_document
from xpusetup.config.devices import parse_device
from xpusetup.config.new_profile import NewProfileOptions, repo_of
from xpusetup.config.request import make_request
from xpusetup.config.settings import merge_settings
from xpusetup.run.root import open_root
from xpusetup.system.logs import follow
from xpusetup.ui import screens
from xpusetup.ui.live import BuildView

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "s3cr3t-w0rd"  # noqa: S105 - planted
process = importlib.import_module("helperlib.git.process")  # here: in a unit test nothing may be started
ADDRESSES = (
    f"https://me:{SECRET}@host.example/x",
    f"https://{SECRET}@host.example/x",
    f"http://me:{SECRET}@127.0.0.1:8080/simple",
    f"git+https://oauth2:{SECRET}@host.example/x.git",
    f"ssh://me:{SECRET}@host.example/x",
    f"https://host.example/x?private_token={SECRET}",
    f"https://host.example/x?a=b&X-Amz-Signature={SECRET}",
    f"HTTPS://me:{SECRET}@HOST/x",
    f"https://me:a@b{SECRET}@host.example/x",
)
HARMLESS = (
    "https://host.example/x",
    "ssh://git@github.com/pytorch/pytorch",
    "git@github.com:pytorch/pytorch",
    "https://host.example/@scope/x",
    "file:///a/b@c",
    "https://host.example/x?version=1.0",
)
MADE_UP = 'source = "made up"\nconfidence = "confirmed"\n'


def refused(make: Any) -> None:
    with pytest.raises(UsageError) as caught:
        make()
    said = caught.value.message + caught.value.fix
    assert SECRET not in said
    assert "credential" in said
    assert caught.value.code == 2


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("https://example.org/first", "{}"),
        ('frontend = "build"', 'frontend = "build"\nenvironment = {{X = "a {} b"}}'),
        ('version = "2.0"', 'version = "2.0"\nindex = "{}"'),
        ('tried = "never"', 'tried = "never, see {}"'),
    ],
)
def test_a_profile_holds_none(address: str, old: str, new: str) -> None:
    refused(lambda: small((old, new.format(address))))


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_other_file_holds_any(address: str) -> None:
    device = f'name = "a"\ntitle = "A"\n[source]\nrepo = "{address}"\n'
    refused(lambda: parse_device(device))
    for line in (
        f'pip_index = "{address}"',
        f'pip_extra_index = ["{address}"]',
        f'find_links = ["{address}"]',
        f'git = {{"https://a.example" = "{address}"}}',
        f'git_fallback = {{"https://a.example" = "{address}"}}',
    ):
        refused(lambda line=line: merge_settings([("site.toml", f"[network]\n{line}\n")]))


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_word_of_the_command_line_brings_any_into_a_file(address: str) -> None:
    asked = {"only": (), "until": "", "arch": "auto", "verify": "auto"}
    refused(lambda: make_request(set_=[f"torch.URL={address}"], **asked))  # type: ignore[arg-type]
    refused(lambda: repo_of(parse_device('name = "a"\ntitle = "A"\n'), NewProfileOptions(repo=address), "a.toml"))


@pytest.mark.parametrize("address", HARMLESS)
def test_what_opens_nothing_stays(address: str) -> None:
    assert small(("https://example.org/first", address)).components[0].repo == address  # type: ignore[union-attr]
    assert hide(f"fetched {address} at once") == f"fetched {address} at once"


@pytest.mark.parametrize("address", ADDRESSES)
def test_it_is_hidden_wherever_it_leaves(address: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = f"fatal: unable to access '{address}': no"
    log = tmp_path / "a.log"
    log.write_text(f"{text}\n{text}")
    told = {"why": [text], text: {"a": (text,)}, "n": 1}
    said = [
        hide(text),
        json.dumps(hide_all(told)),
        make_document(Result("explain", told)),
        make_error_document("build", UsageError(text, fix=text)),
        Redactor().text(text),
    ]
    screens.show_error(UsageError(text, fix=text))
    screens.show_result(Result("emit", Emitted("shell", [text], start=text, then=[text], notes=[text])), verbose=True)
    with BuildView(json=False, verbose=True) as view:
        tell = with_file(view.observe, str(tmp_path / "events"))
        tell(Event(kind="note", text=text, time=1.0))
        tell(Event(kind="start", step="a", title=text, time=1.0))
        tell(Event(kind="output", step="a", text=f"+ {text}", time=9e9))
    ResultOutput().say(text)
    for line in follow(log, lambda: False):
        ResultOutput().say(line)
    captured = capsys.readouterr()
    said += [captured.out, captured.err, (tmp_path / "events").read_text()]
    assert not [each for each in said if SECRET in each]
    assert all("***" in each for each in said)


@pytest.mark.parametrize("address", [each for each in ADDRESSES if "@" in each and "?" not in each])
def test_no_helper_writes_it_into_a_log(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    process.say(f"+ git fetch {address}")
    error = process.FetchError(f"cannot fetch {address}", f"look at {address}")
    assert SECRET not in capsys.readouterr().out + str(error) + error.fix


def test_logs_are_for_their_owner_alone(tmp_path: Path) -> None:
    root = open_root(tmp_path / "root")
    assert stat.S_IMODE((root / "logs").stat().st_mode) == 0o700
    assert stat.S_IMODE((root / "wheels").stat().st_mode) & 0o055 == 0o055


@examples(100)
@given(st.text(alphabet="ab:/@.?&=token ", max_size=80))
def test_hidden_once_is_hidden(text: str) -> None:
    assert hide(hide(text)) == hide(text)
