#!/usr/bin/env bash
# What an image of SUSE Linux Enterprise 15 SP6 for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# image.system: SUSE Linux Enterprise 15 SP6 with Python 3.11
zypper --non-interactive install --no-recommends python311 gcc13-c++ git-core ca-certificates-mozilla procps tar gzip xz zlib-devel

# setup.toolchain: what a build needs
zypper --non-interactive install --no-recommends python311-devel
grep -q ' /var/cache/zypp ' /proc/self/mounts || rm -rf /var/cache/zypp/*
