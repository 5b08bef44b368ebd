"""The device pass: the compiler inside libsycl-jit, called through ctypes in a process of its own.

The functions and structures are those of intel/llvm's public headers at 24613f1455f5 (RTC.h) and a2877a24d6d1
(JITBinaryInfo.h): sycl-jit/jit-compiler/include/RTC.h and JITBinaryInfo.h, sycl-jit/common/include/DynArray.h and
View.h, sycl/detail/string.hpp. They are no interface that Intel promises to keep; home.py holds the known versions.

A compiler can crash, be killed, or use up the memory, so `main` runs in a child (`driver.py` starts it): it reads a
request from a file and writes what came out beside it.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

NOTED = "/dev/fd/90"
"""Where a list of included files goes when a hash is asked for, which holds all words: the file has one name always."""
SPIRV = 2
"""The format that is asked for (BinaryFormat of JITBinaryInfo.h)."""


class _Text(ctypes.Structure):
    _fields_ = (("text", ctypes.c_char_p),)


class _File(ctypes.Structure):
    _fields_ = (("path", ctypes.c_char_p), ("contents", ctypes.c_char_p))


def _array(kind: type) -> type[ctypes.Structure]:
    """Give the structure of an array or a view: where its values are, and how many."""
    return type(
        f"_Array_{kind.__name__}",
        (ctypes.Structure,),
        {"_fields_": (("at", ctypes.POINTER(kind)), ("size", ctypes.c_size_t))},
    )


_Bytes = _array(ctypes.c_uint8)
_Texts = _array(_Text)


class _Value(ctypes.Structure):
    _fields_ = (("name", _Text), ("is_number", ctypes.c_bool), ("number", ctypes.c_uint32), ("bytes", _Bytes))


_Values = _array(_Value)


class _Set(ctypes.Structure):
    _fields_ = (("name", _Text), ("values", _Values))


_Sets = _array(_Set)


class _Binary(ctypes.Structure):
    _fields_ = (
        ("format", ctypes.c_uint32),
        ("address_bits", ctypes.c_uint64),
        ("start", ctypes.c_void_p),
        ("size", ctypes.c_uint64),
    )


class _Image(ctypes.Structure):
    _fields_ = (("binary", _Binary), ("symbols", _Texts), ("properties", _Sets))


_Images = _array(_Image)


class _Result(ctypes.Structure):
    """Longer than two registers, so it is returned through memory, as the C++ class is, which is not trivial."""

    _fields_ = (
        ("error", ctypes.c_int),
        ("images", _Images),
        ("options", _Text),
        ("ir", _Bytes),
        ("log", _Text),
    )


class _Hash(ctypes.Structure):
    _fields_ = (("text", _Text), ("is_hash", ctypes.c_bool), ("_rest", ctypes.c_uint64))


_Files = _array(_File)
_Words = _array(ctypes.c_char_p)


def main(request_file: Path) -> int:
    """Compile, or give the hash of the preprocessed text; the answer lies in `answer.json` beside the request."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would wait for the library to return
    request = json.loads(request_file.read_text(encoding="utf-8"))
    library = ctypes.CDLL(request["jit"])
    source = os.fsencode(request["source"])
    file = _File(source, Path(request["source"]).read_bytes())
    given = [os.fsencode(word) for word in request["words"]]
    words = _Words((ctypes.c_char_p * len(given))(*given), len(given))
    if request["only_hash"]:
        os.dup2(os.open(request_file.parent / "device.d", os.O_CREAT | os.O_RDWR), int(Path(NOTED).name))
        answer = _hash(library, file, words)
    else:
        answer = _compile(library, file, words, request_file.parent)
    (request_file.parent / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    return 0


def _hash(library: ctypes.CDLL, file: _File, words: Any) -> dict[str, Any]:
    call = library.calculateHash
    call.restype, call.argtypes = _Hash, (_File, _Files, _Words, ctypes.c_uint32)
    found = call(file, _Files(), words, SPIRV)
    return {"failed": not found.is_hash, "hash": _text(found.text)}


def _compile(library: ctypes.CDLL, file: _File, words: Any, folder: Path) -> dict[str, Any]:
    call = library.compileSYCL
    call.restype = _Result
    call.argtypes = (_File, _Files, _Words, _Bytes, ctypes.c_bool, ctypes.c_uint32)
    result = call(file, _Files(), words, _Bytes(), False, SPIRV)
    images = [] if result.error else [_keep(result.images.at[i], folder, i) for i in range(result.images.size)]
    return {"failed": bool(result.error), "log": _text(result.log), "images": images}


def _keep(image: _Image, folder: Path, number: int) -> dict[str, Any]:
    """Write an image into the folder; gives what belongs to it."""
    binary = image.binary
    if binary.format != SPIRV:
        raise ValueError(f"an image of the format {binary.format} where SPIR-V was asked for")
    file = folder / f"{number}.spv"
    file.write_bytes(ctypes.string_at(binary.start, binary.size))
    kernels = [_text(image.symbols.at[i]) for i in range(image.symbols.size)]
    properties = {_text(each.name): _values(each) for each in image.properties.at[: image.properties.size]}
    return {"file": str(file), "kernels": kernels, "properties": properties}


def _values(properties: _Set) -> dict[str, int | str]:
    """Give the values of a property set: a number, or bytes in base 64."""
    found: dict[str, int | str] = {}
    for value in properties.values.at[: properties.values.size]:
        if value.is_number:
            found[_text(value.name)] = int(value.number)
        else:
            held = bytes(value.bytes.at[: value.bytes.size])
            found[_text(value.name)] = base64.b64encode(held).decode("ascii")
    return found


def _text(text: _Text) -> str:
    return (text.text or b"").decode("utf-8", "replace")


def leave(code: int) -> None:
    """End without the library's destructors, which run after what they need is gone."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
