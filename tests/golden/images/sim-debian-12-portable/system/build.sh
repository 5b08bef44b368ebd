#!/usr/bin/env bash
# What an image of Debian 12 for sim lacks. Made by xpusetup setup; run it as root.
set -eu
export DEBIAN_FRONTEND=noninteractive
rm -f /etc/apt/apt.conf.d/docker-clean # it empties the cache that a build mounts
apt-get update

# image.system: Debian 12 with Python 3.11
apt-get install -y --no-install-recommends python3.11 g++ git ccache ca-certificates procps xz-utils zlib1g-dev

# setup.toolchain: what a build needs
apt-get install -y --no-install-recommends python3.11-dev python3.11-venv
grep -q ' /var/cache/apt ' /proc/self/mounts || rm -rf /var/cache/apt/*
grep -q ' /var/lib/apt/lists ' /proc/self/mounts || rm -rf /var/lib/apt/lists/*
