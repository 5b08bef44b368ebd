#!/usr/bin/env bash
# What an image of SUSE Linux Enterprise 15 SP6 for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# image.system: SUSE Linux Enterprise 15 SP6 with Python 3.11
zypper --non-interactive install --no-recommends python311 ca-certificates-mozilla shadow

# setup.repository: Intel's driver repository
rpm --import https://repositories.intel.com/gpu/intel-graphics.key
curl -fL -o /etc/zypp/repos.d/intel-gpu-15sp6.repo https://repositories.intel.com/gpu/sles/15sp6/unified/intel-gpu-15sp6.repo

# setup.driver: Intel's driver packages
zypper --non-interactive install --no-recommends intel-level-zero-gpu level-zero intel-gsc intel-opencl xpu-smi
getent passwd 1001 >/dev/null || useradd --create-home --uid 1001 xpu
grep -q ' /var/cache/zypp ' /proc/self/mounts || rm -rf /var/cache/zypp/*
