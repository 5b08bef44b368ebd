"""Operators that run on the CPU instead of the accelerator: what was published, what a run or a log tells, one form."""
