#!/usr/bin/env bash
# Guess: Intel's extension beside a torch that it was not made for is refused by pip, or its import says so in an ImportError.
# Seen: its metadata asks for no torch at all, so pip and `pip check` are content. The import finds the mismatch, prints it, and then calls
#   os.exit(127), which Python does not have: the traceback ends with AttributeError: module 'os' has no attribute 'exit'.
# Why it matters: whoever catches ImportError around the optional extension does not catch this, and the last line of the log speaks of os.
#   Its METADATA also differs from what RECORD says of it, which no installer looks at.
# Seen with: intel-extension-for-pytorch 2.8.0, torch 2.13.0+cpu, pip 26.2, Python 3.11, x86_64.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m venv "$work/env"
pip=("$work/env/bin/python" -m pip --disable-pip-version-check)
"${pip[@]}" install -q torch==2.13.0+cpu numpy 2>/dev/null
"${pip[@]}" install -q intel-extension-for-pytorch==2.8.0 2>/dev/null
"${pip[@]}" check
said=$("$work/env/bin/python" -c 'import intel_extension_for_pytorch' 2>&1) && { echo "changed: the import works"; exit 1; }
printf '%s\n' "$(grep -m 1 'needs to work with PyTorch' <<<"$said")" "$(tail -n 1 <<<"$said")"
record=$("$work/env/bin/python" - <<'END'
import base64, csv, hashlib, importlib.metadata as m
files = m.distribution("intel-extension-for-pytorch").files
one = next(f for f in files if f.name == "METADATA")
told = base64.urlsafe_b64encode(hashlib.sha256(one.locate().read_bytes()).digest()).rstrip(b"=").decode()
print("METADATA is as RECORD says" if one.hash.value == told else "METADATA differs from RECORD")
END
)
echo "$record"
grep -q "has no attribute 'exit'" <<<"$said" && [ "$record" = "METADATA differs from RECORD" ] || { echo "changed"; exit 1; }
