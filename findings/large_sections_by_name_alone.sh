#!/usr/bin/env bash
# Guess: GNU ld puts a section with the flag of large data (SHF_X86_64_LARGE, "l" of as) behind all others, so that its size pushes code and data
#   not apart.
# Seen: it goes by the name. `.lrodata` and what begins with it stands behind .bss; any other name stands between code and data, with the flag or
#   without, and at 2 GiB the link ends with "PC-relative offset overflow".
# Why it matters: machine code for a few GPUs of a library like PyTorch's is more than 2 GiB, and whoever brings it in a section of his own sees
#   that at the end of a build.
# Seen with: binutils 2.40 (Debian 12), x86_64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
place() {  # NAME OF THE SECTION, NAME IN THE LIBRARY: "behind" or "between"
    printf '.section %s,"al",@progbits\n.zero 64\n.data\n.long 1\n.section .note.GNU-stack,"",@progbits\n' "$1" >held.s
    gcc -shared -o held.so held.s
    readelf -SW held.so | awk -v name="$2" '{ sub(/^ *\[ *[0-9]+\] */, "") } $1 == name { held = $3 } $1 == ".data" { data = $3 }
        END { if (held == "") print "not there"; else print (held > data ? "behind" : "between") }'
}
own=$(place .held .held)
known=$(place .lrodata.held .lrodata)
echo "a large section: $own; .lrodata: $known"
[ "$own" = between ] && [ "$known" = behind ] || { echo "changed"; exit 1; }
