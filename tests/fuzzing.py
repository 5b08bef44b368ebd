"""Files that were true and are changed somewhere: what makes them, and what must hold whatever became of them.

A few of each in every run of the tests, always the same ones; `make fuzz` tries as many others as it is told to.
"""

from __future__ import annotations

import copy
import io
import json
import os
import re
import signal
import sys
import time
from collections import Counter
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from nasty import any_text
from xpusetup.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Test = TypeVar("Test", bound="Callable[..., None]")
LONG = int(os.environ.get("XPUSETUP_TEST_FUZZ", "0"))
"""How many examples of each kind are tried; 0: the few of every run."""
SECONDS = float(os.environ.get("XPUSETUP_TEST_FUZZ_SECONDS", "0") or 0)
"""After so many a kind has had enough; 0: never."""
PATIENCE = 60
"""Seconds of the processor that one input may take."""
CODES = {0, 1, 2, 3, 4}
CANARY = "CANARY"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NUMBERS = (0, -1, 1, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, float("inf"), float("nan"))
BEGUN: dict[str, float] = {}
TRIED: Counter[str] = Counter()


def examples(few: int, **more: Any) -> Callable[[Test], Test]:
    """Let a test try a few examples, or as many as the long form is told to, until the time of its kind is over.

    The time is looked at after an example has held: a test that draws while it runs has drawn all by then.
    """

    def limit(test: Test) -> Test:
        handle = cast("Any", test).hypothesis
        handle.inner_test = _until_time_is_over(handle.inner_test)
        return settings(max_examples=LONG or few, **more)(test)

    return limit


def _until_time_is_over(test: Callable[..., None]) -> Callable[..., None]:
    @wraps(test)
    def timed(*args: Any, **kwargs: Any) -> None:
        kind = os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].rpartition(" ")[0]
        begun = BEGUN.setdefault(kind, time.monotonic())
        test(*args, **kwargs)
        TRIED[kind] += 1
        if SECONDS and time.monotonic() - begun > SECONDS:
            pytest.skip(f"{kind}: {TRIED[kind]} were tried in {SECONDS:g} s, and all of them held")

    return timed


leaves = st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.integers() | any_text
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3)
)


@st.composite
def broken(draw: Callable[[Any], Any], document: Any) -> Any:
    """Give a document in which up to three places hold something else, more, or nothing."""
    changed = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(changed))
        if places:
            _change(draw, *places[draw(st.integers(0, len(places) - 1))])
    return changed


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _change(draw: Callable[[Any], Any], holder: Any, key: Any) -> None:
    how = draw(st.sampled_from(("replace", "text", "inside", "remove", "add", "twice")))
    old = holder[key]
    if how == "remove":
        del holder[key]
    elif how == "add" and isinstance(holder, dict):
        holder[draw(any_text)] = draw(anything)
    elif how == "twice" and isinstance(holder, list):
        holder.insert(0, copy.deepcopy(old))
    elif how == "inside" and isinstance(old, str):
        at = draw(st.integers(0, len(old)))
        holder[key] = old[:at] + draw(any_text) + old[at:]
    else:
        holder[key] = draw(any_text if how == "text" else anything)


@st.composite
def cut(draw: Callable[[Any], Any], text: str) -> str:
    """Give a text of which a part is gone, stands twice, or is something else."""
    for _ in range(draw(st.integers(1, 3))):
        begin, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        end = min(end, begin + draw(st.sampled_from((0, 1, 20, 1 << 30))))
        text = text[:begin] + draw(st.just("") | any_text | st.just(text[begin:end] * 2)) + text[end:]
    return text


def as_bytes(text: str) -> bytes:
    """Give the bytes of a text, and of what is none."""
    return text.encode("utf-8", "surrogatepass")


def as_json(document: Any) -> bytes:
    """Give a document as JSON, with what JSON has no word for."""
    return as_bytes(json.dumps(document, ensure_ascii=False))


class HangError(BaseException):
    """An input took longer than any may."""


@contextmanager
def patience() -> Iterator[None]:
    """Stop what takes longer than an input may; time of the processor, so that a busy machine says nothing."""

    def stop(_number: int, _frame: object) -> NoReturn:
        raise HangError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def hold(folder: Path, *words: str) -> str:
    """Run the program, and hold it to what it promises of any input. Gives what it said on stdout.

    It ends by itself, with a code that is documented, and without an exception; it says nothing that commands a
    terminal; nothing that the input says was run.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    before, handlers = sys.argv, {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)}
    sys.argv, code = ["xpusetup", *words], None
    try:
        with patience(), redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv = before
        for number, handler in handlers.items():
            signal.signal(number, handler)
    texts = [_said(stream) for stream in (out, err)]
    assert code in CODES, (words, code)
    for text in texts:
        assert CONTROL.search(text) is None, (words, CONTROL.findall(text))
    if "--json" in words:
        assert json.loads(texts[0])["ok"] is (code == 0)
    assert not (folder / CANARY).exists(), (words, "what the input says was run")
    return texts[0]


def _said(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
