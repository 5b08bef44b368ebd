"""Whether a device computes: results, the helper that makes them, operators that fall back to the CPU."""
