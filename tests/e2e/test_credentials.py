"""A password in the caller's own settings: nothing that a build leaves behind or says holds it."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from e2e.support import by_name, make_tiny, xpusetup
from standins.git_server import Manner, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from e2e.support import Tiny

pytestmark = pytest.mark.e2e
SECRET = "s3cr3t-w0rd"  # noqa: S105 - planted


def holding(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in files if SECRET.encode() in path.read_bytes()]


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    return make_tiny(tmp_path / "made")


class Nothing(BaseHTTPRequestHandler):
    """A server that has nothing: what asks it fails at once."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_words: object) -> None:
        return None


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Nothing) as answering:
        Thread(target=answering.serve_forever, daemon=True).start()
        yield f"http://me:{SECRET}@127.0.0.1:{answering.server_port}"
        answering.shutdown()


@pytest.mark.parametrize("kind", [by_name("insteadOf"), by_name("fallbackOf"), "index"])
def test_no_password_stays_or_is_said(tiny: Tiny, tmp_path: Path, server: str, kind: str) -> None:
    ways = {
        "insteadOf": {"GIT_CONFIG_KEY_0": f"url.{server}/x.insteadOf"},
        "fallbackOf": {
            "GIT_CONFIG_COUNT": "3",
            "GIT_CONFIG_KEY_0": f"url.{server}/x.insteadOf",
            "GIT_CONFIG_KEY_2": f"xpusetup.{server}/fallback.fallbackOf",
            "GIT_CONFIG_VALUE_2": "https://tiny.invalid/tiny",
        },
        "index": {"PIP_INDEX_URL": f"{server}/simple", "UV_DEFAULT_INDEX": f"{server}/simple"},
    }
    env = {**tiny.env, **ways[kind]}
    events, root = tmp_path / "events.jsonl", tmp_path / "root"
    options = tiny.options(root)
    said = [xpusetup("build", *options, "--verify", "off", "--events", str(events), env=env)]
    assert said[0].code == 1
    said += [xpusetup("build", *options, "--verify", "off", "--json", env=env)]
    said += [xpusetup("report", *options, env=env), xpusetup("status", *options, "--json", env=env)]
    said += [xpusetup("status", *options, "--log", log.stem, env=env) for log in (root / "logs").glob("*.log")]
    said += [xpusetup("emit", "shell", *options, "-o", str(tmp_path / "emitted"), env=env)]
    assert not [each for each in said if SECRET in each.out + each.err]
    assert not holding(root)
    assert not holding(tmp_path / "emitted")
    assert SECRET not in events.read_text()


@pytest.mark.parametrize("words", [("plan", "--rev", "tiny=main"), ("bisect", "--good", "v0", "--bad", "main")])
def test_nobody_is_asked_for_a_password(tiny: Tiny, tmp_path: Path, words: tuple[str, ...]) -> None:
    """A desktop's dialog would be waited for; the words to try it with are said."""
    asker = tmp_path / "asker"
    asker.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\necho secret\n")
    asker.chmod(0o755)
    with serve(tmp_path, Manner(password=SECRET)) as server:
        moved = {"GIT_CONFIG_KEY_0": f"url.{server.address}.insteadOf", "GIT_CONFIG_VALUE_0": "https://tiny.invalid/"}
        env = {**tiny.env, **moved, "GIT_ASKPASS": str(asker), "SSH_ASKPASS": str(asker)}
        command = ("--component", "tiny", "--", "true") if words[0] == "bisect" else ()
        said = xpusetup(*words, *tiny.options(tmp_path / "root"), *command, env=env)
    assert said.code == 3
    assert "GIT_TERMINAL_PROMPT=0 git ls-remote https://tiny.invalid/tiny" in " ".join(said.err.split())
    assert not (tmp_path / "asked").exists()


class Page(BaseHTTPRequestHandler):
    """A page of a login, whatever is asked for."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>log in</html>")

    def log_message(self, *_words: object) -> None:
        return None


def test_a_page_in_the_place_of_a_server_is_told(tiny: Tiny, tmp_path: Path) -> None:
    """Git takes it for a server that has nothing."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as answering:
        Thread(target=answering.serve_forever, daemon=True).start()
        moved = {"GIT_CONFIG_KEY_0": f"url.http://127.0.0.1:{answering.server_port}/.insteadOf"}
        env = {**tiny.env, **moved, "GIT_CONFIG_VALUE_0": "https://tiny.invalid/"}
        said = xpusetup("plan", "--rev", "tiny=main", *tiny.options(tmp_path / "root"), env=env)
        answering.shutdown()
    assert (said.code, "has no branch and no tag" in said.err) == (3, True), said.err
    assert "curl -sL 'https://tiny.invalid/tiny/info/refs?service=git-upload-pack' | head -c 300" in said.err


def test_a_mute_server_is_given_up_as_patiently_as_git_is_told(tiny: Tiny, tmp_path: Path) -> None:
    with serve(tmp_path, Manner(delay=30)) as server:
        settings = [(f"url.{server.address}.insteadOf", "https://tiny.invalid/")]
        settings += [("http.lowSpeedLimit", "100"), ("http.lowSpeedTime", "1")]
        more = {f"GIT_CONFIG_KEY_{number}": name for number, (name, _) in enumerate(settings)}
        more |= {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(settings)}
        env = {**tiny.env, **more, "GIT_CONFIG_COUNT": str(len(settings))}
        said = xpusetup("plan", "--rev", "tiny=main", *tiny.options(tmp_path / "root"), env=env)
    assert (said.code, "Operation too slow" in said.err) == (3, True)
