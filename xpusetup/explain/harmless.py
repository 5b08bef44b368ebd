"""Lines that read like errors and are none, or of what may fail: by their form alone."""

import re

HARMLESS = re.compile(
    r"^(?:(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,10}|\d{7}) [A-Za-z\"\[]|^\[[^\]\n]+ [0-9a-f]{7,12}\] \S"
    r"|^HEAD is now at|^hint: (?!`)|^Applying: "
    r"|^\s*--?[a-z][\w-]*(?:[ =][A-Z]+)?(?:, --?[a-z][\w-]*)*(?: [A-Z]+)?\s{2,}|^ACPI (?:BIOS )?(?:Error|Exception)"
    r"|^ERROR: pip's dependency resolver does not currently"
    r"|^Solving environment: failed with |^debconf: |^invoke-rc\.d: "
    r"|: write error: Broken pipe$"
    r"|\bCannot find any crtc or sizes|\bAllocated fbdev into stolen failed: -22"
    r"|\[io  size 0x[0-9a-f]+\](?:: failed to assign)?$|\bfailed to assign \[io |\bcan't assign \[io "
    r"|\bmissing or invalid SUBNQN field|^DMI not present or invalid|^(?:platform )?regulatory\.0: Direct firmware load"
    r"|\bthermal_zone\d+: failed to read out thermal zone|\bfailed to enable HID power button|\bEVIOCSKEYCODE\b"
    r"|\bPCIe Bus Error: severity=Correct(?:able|ed)|\b(?:AER|RAS): Correctable error|\bACPI: \S+: .*\bAE_NOT_FOUND\b"
    r"|^PCI: not using MMCONFIG|\bNo IRQ known for interrupt pin\b|\bi8042: .*(?:No controller found|Can't read CTR)"
    r"|^(?:hpet|tpm_\w+|tpm tpm\d).*\b(?:not found|failed|error)|\bspi-nor \S+: unrecognized JEDEC id"
    r"|\bcpufreq: .*(?:not available|No such device)|^intel_pstate: CPU model not supported"
    r"|^integrity: (?:Problem|Couldn't)"
    r"|^Couldn't get size: 0x800000000000000e|^Unstable clock detected"
    r"|\bUSB ?\d?: .*over-current|\bEDAC \w+: .*(?:disabled|No ECC)|^pstore: Unknown compression|^ERST: .*not "
    r"|\b(?:error|failure|warning) counts? [^\n:]{0,40}: 0$"
    r"|\bRAND_load_file:Cannot open file\b|^Can't load \S+/\.rnd into RNG"
    r"|\bbackground worker \"logical replication launcher\" \(PID \d+\) exited with exit code 1$"
    r"|^dpkg-preconfigure: unable to re-open stdin|^LOG:  (?:Metadata|Could not load cache|Path validation)"
    r"|\*ERROR\* (?:Failed to write source OUI|Fault errors on pipe|CPU pipe \w+ FIFO underrun)"
    r"|regulatory\.db\b"
    r"|\bapparmor=\"DENIED\".*(?:profile=\"[^\"]*(?:firefox|chrom|brave|thunderbird|cups|evince|snap-store|libreoffice)"
    r"|operation=\"capable\")"
    r"|^\s*cl\w+\(NULL, CL_DEVICE_TYPE_|^(?:accelerator|cpu|custom)_selector\((?:acc|cpu)?\)\s*:"
    r"|: module verification failed: signature|^\[OSDC\] |^\s*(?:adding|copying|removing|creating) '?\S+"
    r"|^\s*SIG[A-Z]+\s+(?:P\d{4}|Yes|No|Core|Term|\d+)\b"
    r"|^attempt to open \S+ failed$|^Vulnerability [\w ]+: +(?:Not affected|Mitigation)"
    r"|\bLOG:\s+invalid record length at \S+: (?:wanted|expected at least) \d+, got 0$"
    r"|^(?:s?ccache )?(?:\S*/)?(?:cc|c\+\+|gcc|g\+\+|clang|clang\+\+|icp?x)(?:-\d+)? (?=.*-[co] )(?!.*\berror: )"
    r"|^\S+\.(?:c|cc|cpp|cxx|h|hpp): In (?:member )?function [^\n]*:$"
    r"|^<LOADER>\[INFO\]: failed to load adapter '\S*adapter_(?:cuda|hip|native_cpu|mock|offload)\."
    r"|\"(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) [^\"\n]{1,300} HTTP/[\d.]+\" 4\d\d\b"
    r"|^(?:[A-Z]{3,4} )?\[\d+\](?: \S+@\S+)? LOG: "
    r"|^Triton cache error: compiled module \S+ could not be loaded"
    r"|^absent\b:?\s|\b(?:handler|hook|callback)s? (?:is |are )?(?:installed|registered|set up|in place)\b"
)
"""What reads like an error and is none: commits, notes of git and pip, a program's help, what every kernel says, and
requests that a server answered with no, and what PostgreSQL calls LOG (its failures are ERROR, FATAL and PANIC)."""
TOLERATED = re.compile(
    r"^fatal: (?:not (?:a git repository|in a git directory)|No names found|no tag exactly|No tags can describe"
    r"|needed a single revision"
    r"|(?:ambiguous argument|bad revision) 'HEAD)"
    r"|^hwloc/\w+: |^MESA(?:-LOADER)?: |^libEGL warning|^error: XDG_RUNTIME_DIR|^ALSA lib |^No protocol specified"
    r"|^\s*(?:\S*/)?(?:ba|da|z)?sh: (?:line )?\d+: (?:git|nvcc|nvidia-smi|rocminfo|hipconfig|hipcc|lspci|lsb_release"
    r"|ldconfig|which"
    r"|rocm_agent_enumerator|rocm-smi|sycl-ls|xpu-smi|nproc|numactl|lscpu|lsmod|modinfo|dmidecode|lshw"
    r"|hl-smi|npu-smi|dpkg|rpm|getconf|ifconfig|ip|hostname|clinfo): (?:command )?not found"
    r"|^which: no |^(?:cat|grep|readlink): \S+ No such file|^modinfo: ERROR: Module \S+ not found"
    r"|: going to /tmp instead$|(?:->|;|,|:) ?(?:will )?retry(?:ing)?\b|\bRetrying (?:in|after|with)\b"
)
"""What is tried and may fail: git asked for a version, tools that look for hardware, a display that is not there."""
STOPPED = re.compile(
    r"CANCELLED AT|\bKeyboardInterrupt\b|^Aborted!|job step aborted|^Terminated\b|forcing job termination",
    re.IGNORECASE,
)
BY_HAND = re.compile(rb"(?:^|\n)\^C")
"""A person's interrupt: what had gone wrong stands before it."""
PASSED = re.compile(
    r"^\s*[✓✔√] |^\s*(?:PASSED|SKIPPED|XFAIL|XPASS)\b|\b(?:PASSED|SKIPPED|XFAIL|XPASS)\s*(?:\[\s*\d+%\])?\s*$"
    r"|\b(?:PASSED|SKIPPED|XFAIL|XPASS)\s*(?:\[[\d.]+m?s\]\s*)?(?:\(.*\))?\s*(?:\[\s*\d+%\])?$"
    r"|^\s*ok \d+\b|^\[gw\d+\] \[ *\d+%\] (?:PASSED|SKIPPED|XFAIL|XPASS)\b"
    r"|\.{3}\s*(?:ok|expected failure|skipped\b.*)$|\.{3,}\s+(?:Passed|Skipped)\b|^\[ +(?:OK|RUN|SKIPPED) +\]"
)
STATUS = re.compile(
    r"^--\s"
    r"|^[Cc]hecking (?:whether|for|if|how|size|dependency|build|host)\b[^\n]*\.\. ?(?:\(cached\) )?(?!fail|err)\S*$"
    r"|^(?:Checking (?:for|if|whether)|Has header|Header|Compiler for|Run-time dependency|Library|Program)\b"
    r"[^\n]* (?:YES|NO)\b"
)
"""What a configure looked for, whether it is there or not: CMake's, autoconf's, meson's."""
