"""Texts that mean something in some language that we write, and any others."""

from __future__ import annotations

from hypothesis import strategies as st

FRAGMENTS = (
    "]]",
    "]=]",
    "]",
    "[[",
    '"',
    "'",
    "`",
    "\\",
    "$(touch CANARY)",
    "`touch CANARY`",
    "${X}",
    "$X",
    "${{ github.token }}",
    "{{ X }}",
    "{0}",
    "%s",
    "%post",
    "# syntax=evil",
    "syntax=evil/frontend",
    "escape=`",
    "<<END",
    "\n",
    "\r",
    "\t",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202e",
    "\u2028",
    "\x00",
    ";",
    "&&",
    "|",
    "-",
    "--",
    ":",
    ": ",
    " #",
    "!!python/object/apply:os.system",
    "*",
    "&a",
    ".. os.execute('touch CANARY') ..",
    "]] .. tostring(os.execute('touch CANARY')) .. [[",
    "null",
    "@FOLDER@",
    "<script>",
    "[x](javascript:1)",
    " ",
    "a",
    "é",
    "\U0001f600",
)

any_text = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=6).map("".join)
encodable = any_text.filter(lambda text: "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text))
"""What a process can be given: no NUL, and nothing that UTF-8 does not have."""
one_line = encodable.filter(str.isprintable).filter(lambda text: "@ROOT@" not in text)
"""What a profile lets through."""
