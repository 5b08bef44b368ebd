#!/usr/bin/env bash
# What an image of AlmaLinux 9.6 for torch-2.14 lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive

# setup.repository: Intel's driver repository
dnf install -y --setopt=install_weak_deps=False --nodocs 'dnf-command(config-manager)'
dnf config-manager --add-repo https://repositories.intel.com/gpu/rhel/9.6/unified/intel-gpu-9.6.repo

# setup.driver: Intel's offline compiler (ocloc)
dnf install -y --setopt=install_weak_deps=False --nodocs intel-ocloc level-zero-devel
grep -q ' /var/cache/dnf ' /proc/self/mounts || rm -rf /var/cache/dnf/*
