#!/usr/bin/env bash
# What an image of SUSE Linux Enterprise 15 SP6 for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# setup.oneapi-repository: oneAPI's repository
rpm --import https://apt.repos.intel.com/intel-gpg-keys/GPG-PUB-KEY-INTEL-SW-PRODUCTS.PUB
sh -c 'zypper --non-interactive repos oneAPI >/dev/null 2>&1 || zypper --non-interactive addrepo --refresh https://yum.repos.intel.com/oneapi oneAPI'

# setup.oneapi: oneAPI 2026.1
zypper --non-interactive install --no-recommends intel-deep-learning-essentials-2026.1
grep -q ' /var/cache/zypp ' /proc/self/mounts || rm -rf /var/cache/zypp/*
