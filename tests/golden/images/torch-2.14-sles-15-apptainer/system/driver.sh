#!/usr/bin/env bash
# What an image of SUSE Linux Enterprise 15 SP6 for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# setup.repository: Intel's driver repository
rpm --import https://repositories.intel.com/gpu/intel-graphics.key
curl -fL -o /etc/zypp/repos.d/intel-gpu-15sp6.repo https://repositories.intel.com/gpu/sles/15sp6/unified/intel-gpu-15sp6.repo

# setup.driver: Intel's offline compiler (ocloc)
zypper --non-interactive install --no-recommends intel-ocloc level-zero-devel
grep -q ' /var/cache/zypp ' /proc/self/mounts || rm -rf /var/cache/zypp/*
