"""Logs that make it hard: long, interleaved, cut, in another language, from a CI system, with garbage in them."""

from __future__ import annotations

import random

import pytest

from logs import explained, ids, noise

KILLED = "icpx: error: unable to execute command: Killed"
KILLED_BLOCK = (
    "FAILED: [code=254] src/ATen/BinaryKernels.cpp.o\n"
    "/opt/intel/oneapi/bin/icpx -Werror=return-type -c BinaryKernels.cpp\n"
    f"{KILLED}\n"
    "icpx: error: clang frontend command failed due to signal (use -v to see invocation)\n"
    "ninja: build stopped: subcommand failed."
)


@pytest.mark.parametrize("where", [0, 1, 17_000, 19_999])
@pytest.mark.parametrize("chunk", [997, 1 << 18])
def test_wrapped_in_noise(where: int, chunk: int) -> None:
    lines = list(noise(20_000))
    lines[where:where] = KILLED_BLOCK.splitlines()
    found = explained("\n".join(lines), chunk)
    assert ids(found) == ["compile.oom_kill", "compile.frontend_signal"]
    assert (found.causes[0].line, found.causes[0].text, found.lines) == (where + 3, KILLED, 20_005)
    assert found.first_error
    assert found.first_error.line == where + 3


def test_interleaved_by_parallel_jobs() -> None:
    jobs = [
        "/pytorch/a.cpp:1:1: error: the moon of ‘Zeta’ is not full".splitlines(),
        [KILLED, "compilation terminated."],
        ["make[2]: *** [CMakeFiles/x.dir/build.make:76: x.o] Error 1", "make[1]: *** [all] Error 2"],
    ]
    chance = random.Random(3)  # noqa: S311 - an order, no secret
    lines = list(noise(500))
    for job in jobs:
        for place, line in zip(sorted(chance.sample(range(len(lines)), len(job))), job, strict=True):
            lines.insert(place, line)
    found = explained("\n".join(lines))
    assert (ids(found), found.causes[0].text) == (["compile.oom_kill"], KILLED)


@pytest.mark.parametrize("cut", ["start", "end"])
def test_cut(cut: str) -> None:
    log = "\n".join([*noise(50), *KILLED_BLOCK.splitlines(), *noise(50, 2)]).encode()
    place = log.index(KILLED.encode())
    data = log[place + 5 :] if cut == "start" else log[: place + len(KILLED)]
    assert ids(explained(data))[0] == "compile.oom_kill"


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_last_line(end: str) -> None:
    found = explained("a\n" + KILLED + end)
    assert (found.causes[0].line, found.lines) == (2, 2)


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        ("/usr/bin/ld: final link failed: Auf dem Gerät ist kein Speicherplatz mehr verfügbar", "compile.disk_full"),
        ("x.o : échec : Aucun espace disponible sur le périphérique", "compile.disk_full"),
        ("cc1plus: 致命错误：写入 /tmp/x.s 时出错：设备上没有空间", "compile.disk_full"),
        ("cc1plus: фатальная ошибка: /tmp/x.s: На устройстве не осталось свободного места", "compile.disk_full"),
        ("c++: schwerwiegender Fehler: Signal Getötet hat Programm cc1plus beendet", "compile.oom_kill"),
        ("c++: erreur fatale: le signal Processus arrêté a terminé le programme cc1plus", "compile.oom_kill"),
        ("x.c:1:10: schwerwiegender Fehler: nicht/da.h: Datei oder Verzeichnis nicht gefunden", "compile.header_any"),
        ("/usr/bin/ld: x.o: in Funktion »f«: Nicht definierter Verweis auf »g«", "link.undefined_ref"),
        ("ld: x.cpp:(.text+0x5): 对‘g()’未定义的引用", "link.undefined_ref"),
        ("ImportError: libsycl.so.8: Kann die Shared-Object-Datei nicht öffnen: fehlt", "import.libsycl"),
        ("ImportError: libze_loader.so.1: 无法打开共享对象文件: 没有那个文件或目录", "import.ze_loader"),
        ("x.cpp:3: コンパイラ内部エラー: セグメンテーション違反です", "compile.ice"),
    ],
)
def test_other_languages(log: str, cause: str) -> None:
    assert ids(explained(f"eins\n{log}\nmake: *** [Makefile:2: x] Fehler 1\n"))[0] == cause


@pytest.mark.parametrize(
    "line",
    [
        "x.cpp:3:5: Fehler: »y« nicht deklariert",
        "x.cpp:3:5: erreur: « y » n'a pas été déclaré",
        "x.cpp:3:5: 错误：‘y’在此作用域中尚未声明",
        "x.cpp:3:5: ошибка: нет декларации «y» в этой области",
        "x.cpp:3:5: エラー: ‘y’ はこのスコープで宣言されていません",
    ],
)
def test_unknown_errors_in_other_languages(line: str) -> None:
    found = explained(f"a\nb\n{line}\nmake: *** [Makefile:2: x.o] Fehler 1\n")
    assert found.first_error
    assert (ids(found), found.first_error.line, found.first_error.text) == ([], 3, line)


PREFIXES = {
    "github": "2026-11-21T10:05:31.1234567Z ",
    "gh run view": "build\tCompile\t2026-11-21T10:05:31.1234567Z ",
    "github error": "2026-11-21T10:05:31.1234567Z ##[error]",
    "gitlab": "2026-11-21T10:05:31.123456Z 01E ",
    "jenkins": "[2026-11-21T10:05:31.123Z] ",
    "jenkins time": "10:05:31  ",
    "docker": "#12 345.6 ",
    "docker summary": "21.51 ",
    "journald": "Nov 21 10:05:31 host ninja[4711]: ",
    "colours": "\x1b[1m\x1b[31m",
    "link": "\x1b]8;;file:///x\x1b\\",
    "progress": "[10/20] Linking\r[11/20] Linking\r",
    "percent": "[ 36%] ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_what_ci_systems_put_before_lines(prefix: str) -> None:
    lines = ["-- Configuring done", *KILLED_BLOCK.splitlines()]
    found = explained("\n".join(prefix + line for line in lines))
    assert ids(found)[0] == "compile.oom_kill"
    assert (found.causes[0].line, found.causes[0].text) == (4, KILLED)


def test_colours_inside_of_words() -> None:
    log = "\x1b[01m\x1b[Kg++:\x1b[m\x1b[K \x1b[01;31m\x1b[Kfatal error: \x1b[m\x1b[K"
    log += "Killed sig\x1b[Knal terminated program cc1plus"
    assert ids(explained(log, chunk=7)) == ["compile.oom_kill"]


def test_broken_over_lines_by_cmake() -> None:
    log = (
        "CMake Warning at cmake/Dependencies.cmake:12 (message):\n  Not compiling with XPU.  Could NOT\n  find SYCL.\n"
        "Call Stack (most recent call first):\n  CMakeLists.txt:1 (include)\n"
    )
    found = explained(log)
    assert (ids(found), found.causes[0].level) == (["configure.sycl_not_found"], "warning")


@pytest.mark.parametrize("width", [60, 72, 80])
def test_broken_by_a_terminal(width: int) -> None:
    line = (
        "/opt/venv/lib/python3.12/site-packages/torch/lib/x.so: fatal error: Killed signal terminated program cc1plus"
    )
    log = "\n".join(line[start : start + width] for start in range(0, len(line), width))
    assert ids(explained(log)) == ["compile.oom_kill"]


def test_garbage() -> None:
    chance = random.Random(4)  # noqa: S311 - garbage, no secret
    garbage = chance.randbytes(300_000)
    found = explained(garbage + b"\n" + KILLED.encode() + b"\n" + garbage)
    assert "compile.oom_kill" in ids(found)
    assert explained(garbage.replace(b"\n", b"")).lines == 1


def test_one_long_line() -> None:
    log = b"x" * 3_000_000 + b" " + KILLED.encode() + b" " + b"y" * 3_000_000
    found = explained(log)
    assert (ids(found), found.causes[0].line, found.lines) == (["compile.oom_kill"], 1, 1)
    assert len(found.causes[0].text) < 10_000


@pytest.mark.parametrize("log", [b"", b"\n", b"\n\n\n", b"\x00"])
def test_nothing_to_say(log: bytes) -> None:
    found = explained(log)
    assert (ids(found), found.first_error, found.lines) == ([], None, max(log.count(b"\n"), len(log.strip(b"\n"))))
