#!/usr/bin/env bash
# Tells the dynamic linker where the toolkit's libraries lie, so that nothing has to be switched on at run time.
set -euo pipefail
bash -c '. /opt/xpusetup/toolkit.sh && printf "%s" "$LD_LIBRARY_PATH"' | tr ':' '\n' >/etc/ld.so.conf.d/xpusetup.conf
ldconfig
