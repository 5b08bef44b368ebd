"""Suites of tests: what is known of them, where they are from, what their results are held against."""
