#!/usr/bin/env bash
# What an image of AlmaLinux 9.6 for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# setup.oneapi-repository: oneAPI's repository
rpm --import https://apt.repos.intel.com/intel-gpg-keys/GPG-PUB-KEY-INTEL-SW-PRODUCTS.PUB
dnf install -y --setopt=install_weak_deps=False --nodocs 'dnf-command(config-manager)'
dnf config-manager --add-repo https://yum.repos.intel.com/oneapi

# setup.oneapi: oneAPI 2026.1
dnf install -y --setopt=install_weak_deps=False --nodocs intel-deep-learning-essentials-2026.1
grep -q ' /var/cache/dnf ' /proc/self/mounts || rm -rf /var/cache/dnf/*
