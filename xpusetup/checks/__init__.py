"""The doctor: pure functions of Facts, listed in one literal tuple. A check that crashes is a finding.

To add a check: its text in `data/checks.toml`, its function in the module of its area, one line in `registry.py`.
"""
