#!/usr/bin/env bash
# What an image of manylinux_2_28 (AlmaLinux 8) for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# setup.repository: Intel's driver repository
dnf install -y --setopt=install_weak_deps=False --nodocs 'dnf-command(config-manager)'
dnf config-manager --add-repo https://repositories.intel.com/gpu/rhel/8.10/unified/intel-gpu-8.10.repo

# setup.driver: Intel's driver packages
dnf install -y --setopt=install_weak_deps=False --nodocs intel-opencl level-zero intel-level-zero-gpu intel-igc-core intel-gmmlib intel-gsc xpu-smi
getent passwd 1001 >/dev/null || useradd --create-home --uid 1001 xpu
grep -q ' /var/cache/dnf ' /proc/self/mounts || rm -rf /var/cache/dnf/*
