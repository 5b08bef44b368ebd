"""Reads what CMake decided, and stops a build that would go on without the accelerator."""
