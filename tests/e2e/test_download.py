"""What a step fetches over a bad line: cut off, resumed, sent anew by a server that resumes nothing, or not at all."""

from __future__ import annotations

import importlib
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pins: Any = importlib.import_module("helperlib.env.pins")

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("airgap")]
CONTENT = bytes(range(256)) * 40_000
PIECE = len(CONTENT) // 3


class Server(ThreadingHTTPServer):
    """Sends at most a piece of the file at a time, and remembers where each answer began."""

    resumes = True
    status = 0
    tags = ('"one"',)
    """The ETag of each answer; the last holds on. Empty: the server says none."""
    shift = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.begun: list[int] = []
        self.cuts = 2

    @property
    def tag(self) -> str:
        """The version of the file that is there now."""
        return self.tags[min(len(self.begun), len(self.tags) - 1)]

    @property
    def address(self) -> str:
        """Where the file is."""
        return f"http://127.0.0.1:{self.server_address[1]}/kit_offline.sh"


class Handler(BaseHTTPRequestHandler):
    """One answer."""

    server: Server

    def do_GET(self) -> None:
        """Send a piece, or all where no more is to be cut."""
        asked = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        tag = self.server.tag
        start = asked if self.server.resumes and self.headers.get("If-Range", tag) == tag else 0
        self.server.begun.append(start)
        if start >= len(CONTENT):
            self.send_error(416)
            return
        if self.server.status:
            self.send_error(self.server.status)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        if tag:
            self.send_header("ETag", tag)
        if start:
            self.send_header("Content-Range", f"bytes {start + self.server.shift}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.end_headers()
        cut = len(self.server.begun) <= self.server.cuts
        content = CONTENT if tag != '"old"' else bytes(len(CONTENT))
        self.wfile.write(content[start : start + PIECE if cut else len(CONTENT)])

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(**settings: object) -> Iterator[Server]:
    with Server() as server:
        for name, value in settings.items():
            setattr(server, name, value)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "PAUSE", 0.01)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    ("settings", "begun"),
    [
        ({}, [0, PIECE, 2 * PIECE]),
        ({"resumes": False, "cuts": 1}, [0, 0]),
        ({"tags": ('"old"', '"new"'), "cuts": 1}, [0, 0]),
        ({"tags": ("",), "cuts": 1}, [0, 0]),
        ({"tags": ('W/"weak"',), "cuts": 1}, [0, 0]),
        ({"shift": 5, "cuts": 1}, [0, PIECE, 0]),
    ],
)
def test_a_step_goes_on_where_it_was_cut_off(tmp_path: Path, settings: dict[str, Any], begun: list[int]) -> None:
    """Some gigabytes began anew, and one cut ended the step."""
    with serving(**settings) as server:
        pins.Download(server.address, tmp_path / "kit.sh").bring()
        assert server.begun == begun
    assert (tmp_path / "kit.sh").read_bytes() == CONTENT


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(("status", "asked"), [(404, 1), (403, 1), (429, 5), (502, 5)])
def test_a_step_asks_a_server_that_refuses_once(tmp_path: Path, status: int, asked: int) -> None:
    with serving(status=status) as server, pytest.raises(OSError, match=str(status)):
        pins.Download(server.address, tmp_path / "kit.sh").bring()
    assert len(server.begun) == asked


@pytest.mark.usefixtures("hurried")
def test_a_step_gives_up_what_hardly_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "SLOW_S", 1e-9)
    monkeypatch.setattr(pins, "SLOW", 1e20)
    with serving(cuts=0, tags=("",)) as server, pytest.raises(OSError, match="bytes a second"):
        pins.Download(server.address, tmp_path / "kit.sh").bring()
