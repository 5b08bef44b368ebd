"""A git server on the loopback: the real `git http-backend` behind an HTTP server that can be as rude as real ones.

Words: a *manner* is one way of being rude; it is asked before each answer, and acts on as many as it was made for.
"""

from __future__ import annotations

import base64
import os
import random
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK = 1 << 14
PASSED = ("Content-Type", "Content-Encoding", "Git-Protocol")


@dataclass
class Manner:
    """How a server behaves. What is 0 or empty it does not do.

    `broken`: so many answers are a 502. `cut`, `stalled`: every other answer ends at a random byte, or stops there and
    says nothing more, until there were so many.
    `hidden`: paths that do not exist here. `password`: what a caller has to know. `rate`: bytes per second of all
    answers together; `delay`: seconds before each answer.
    """

    broken: int = 0
    cut: int = 0
    stalled: int = 0
    hidden: tuple[str, ...] = ()
    password: str = ""
    rate: float = 0
    delay: float = 0
    seed: int = 1


@dataclass
class Served:
    """What a server did: the bytes of all answers, and the first line of each request that it got."""

    size: int = 0
    requests: list[str] = field(default_factory=list)


@dataclass
class GitServer:
    """A running server. `manner` may be changed while it runs."""

    folder: Path
    manner: Manner
    served: Served = field(default_factory=Served)
    address: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)
    free: float = 0.0

    def take_turn(self, name: str) -> bool:
        """Say whether the manner asks for this now, and count it."""
        with self.lock:
            left: int = getattr(self.manner, name)
            setattr(self.manner, name, max(0, left - 1))
            return left > 0

    def is_odd(self) -> bool:
        """Say whether this is the first, third, fifth, ... answer."""
        return len(self.served.requests) % 2 == 1

    def pay(self, size: int) -> None:
        """Wait as long as so many bytes take on a line that all answers share."""
        with self.lock:
            self.served.size += size
            rate = self.manner.rate
            self.free = max(self.free, time.monotonic()) + (size / rate if rate else 0)
            wait = self.free - time.monotonic()
        if rate and wait > 0:
            time.sleep(wait)

    def place_of_cut(self) -> int:
        """Give a byte at which an answer ends, or its end mark if it is shorter; early or late."""
        with self.lock:
            self.manner.seed += 1
        return int(2 ** random.Random(self.manner.seed).uniform(0, 16))  # noqa: S311 - no secret


@contextmanager
def serve(folder: Path, manner: Manner | None = None) -> Iterator[GitServer]:
    """Serve the bare repositories below a folder for as long as the block runs."""
    state = GitServer(folder, manner or Manner())
    handler = type("Handler", (_Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        state.address = f"http://127.0.0.1:{server.server_address[1]}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: GitServer

    def log_message(self, *_words: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._read_body())

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, body: bytes) -> None:
        state, manner = self.state, self.state.manner
        with state.lock:
            state.served.requests.append(self.requestline)
        time.sleep(manner.delay)
        path, _, query = self.path.partition("?")
        if any(path.startswith(hidden) for hidden in manner.hidden):
            self._refuse(404)
        elif manner.password and not self._knows(manner.password):
            self._refuse(401)
        elif state.take_turn("broken"):
            self._refuse(502)
        else:
            with suppress(ConnectionError):  # whom we serve may be killed
                self._pass_on(path, query, body)

    def _knows(self, password: str) -> bool:
        given = self.headers.get("Authorization", "").removeprefix("Basic ")
        return base64.b64decode(given).decode().endswith(f":{password}")

    def _refuse(self, code: int) -> None:
        self.send_response(code)
        if code == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _pass_on(self, path: str, query: str, body: bytes) -> None:
        process = subprocess.Popen(
            ("git", "http-backend"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=self._variables(path, query, body),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        threading.Thread(target=_feed, args=(process.stdin, body), daemon=True).start()
        try:
            with process.stdout as stream:
                self._send_head(stream)
                self._send_body(stream)
        finally:
            process.kill()
            process.wait()

    def _variables(self, path: str, query: str, body: bytes) -> dict[str, str]:
        given = {name: self.headers[name] for name in PASSED if self.headers[name]}
        names = {
            "Content-Type": "CONTENT_TYPE",
            "Content-Encoding": "HTTP_CONTENT_ENCODING",
            "Git-Protocol": "GIT_PROTOCOL",
        }
        return {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.state.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": "/nonexistent",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_LENGTH": str(len(body)),
            **{names[name]: value for name, value in given.items()},
        }

    def _send_head(self, stream: IO[bytes]) -> None:
        code, headers = 200, []
        while line := stream.readline().decode().strip():
            name, _, value = line.partition(": ")
            if name == "Status":
                code = int(value.split()[0])
            else:
                headers.append((name, value))
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _send_body(self, stream: IO[bytes]) -> None:
        rude = next((name for name in ("cut", "stalled") if self.state.is_odd() and self.state.take_turn(name)), "")
        left = self.state.place_of_cut() if rude else None
        while block := os.read(stream.fileno(), BLOCK):
            part = block if left is None else block[:left]
            self.state.pay(len(part))
            self.wfile.write(b"%x\r\n%s\r\n" % (len(block), part))
            left = None if left is None else left - len(part)
            if left == 0:
                break
        if rude:
            self._leave(rude)
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _leave(self, rude: str) -> None:
        self.wfile.flush()
        if rude == "stalled":
            with suppress(OSError):
                self.connection.recv(1)  # until the other side has had enough
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _feed(stream: IO[bytes], body: bytes) -> None:
    with suppress(BrokenPipeError), stream:
        stream.write(body)
