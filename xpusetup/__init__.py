"""xpusetup: from a bare Linux machine to a verified PyTorch for an accelerator."""

__version__ = "0.1.0"
