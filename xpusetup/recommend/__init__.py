"""The smallest change that brings a machine to a working PyTorch, and what it takes of the system. Pure."""
