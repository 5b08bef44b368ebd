"""Suites of tests: what is known of them, what their results are held against, the tables that they are shown as."""
