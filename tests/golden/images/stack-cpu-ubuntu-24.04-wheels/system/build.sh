#!/usr/bin/env bash
# What an image of Ubuntu 24.04 for stack-cpu lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive
rm -f /etc/apt/apt.conf.d/docker-clean # it empties the cache that a build mounts
apt-get update

# image.system: Ubuntu 24.04 with Python 3.12
apt-get install -y --no-install-recommends python3.12 ca-certificates

# setup.toolchain: what an environment needs
apt-get install -y --no-install-recommends python3.12-venv
grep -q ' /var/cache/apt ' /proc/self/mounts || rm -rf /var/cache/apt/*
grep -q ' /var/lib/apt/lists ' /proc/self/mounts || rm -rf /var/lib/apt/lists/*
