#!/usr/bin/env bash
# What an image of Ubuntu 24.04 for torch-2.5 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update

# setup.oneapi-repository: oneAPI's repository
apt-get install -y --no-install-recommends wget gpg ca-certificates
sh -c 'wget -qO- https://apt.repos.intel.com/intel-gpg-keys/GPG-PUB-KEY-INTEL-SW-PRODUCTS.PUB | gpg --dearmor --yes -o /usr/share/keyrings/oneapi-archive-keyring.gpg'
sh -c 'echo "deb [signed-by=/usr/share/keyrings/oneapi-archive-keyring.gpg] https://apt.repos.intel.com/intel-for-pytorch-gpu-dev all main" > /etc/apt/sources.list.d/intel-for-pytorch-gpu-dev.list'
apt-get update

# setup.oneapi: oneAPI 2024.1
apt-get install -y --no-install-recommends intel-for-pytorch-gpu-dev-0.5 intel-pti-dev-0.9
grep -q ' /var/cache/apt ' /proc/self/mounts || rm -rf /var/cache/apt/*
grep -q ' /var/lib/apt/lists ' /proc/self/mounts || rm -rf /var/lib/apt/lists/*
