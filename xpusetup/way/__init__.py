"""The way: the smallest change that brings a machine to a working PyTorch, and what it takes of the system. Pure.

Words: a *card* is an accelerator of this machine that the table knows; a *refusal* says why a release does not fit; a
*task* is a step of system setup. Everything follows from Facts, the profiles and the data files.
"""
