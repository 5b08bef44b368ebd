#!/usr/bin/env bash
# What an image of Ubuntu 24.04 for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update

# setup.oneapi-repository: oneAPI's repository
apt-get install -y --no-install-recommends wget gpg ca-certificates
sh -c 'wget -qO- https://apt.repos.intel.com/intel-gpg-keys/GPG-PUB-KEY-INTEL-SW-PRODUCTS.PUB | gpg --dearmor --yes -o /usr/share/keyrings/oneapi-archive-keyring.gpg'
sh -c 'echo "deb [signed-by=/usr/share/keyrings/oneapi-archive-keyring.gpg] https://apt.repos.intel.com/oneapi all main" > /etc/apt/sources.list.d/oneAPI.list'
apt-get update

# setup.oneapi: oneAPI 2026.1
apt-get install -y --no-install-recommends intel-deep-learning-essentials-2026.1=2026.1.3-10
grep -q ' /var/cache/apt ' /proc/self/mounts || rm -rf /var/cache/apt/*
grep -q ' /var/lib/apt/lists ' /proc/self/mounts || rm -rf /var/lib/apt/lists/*
