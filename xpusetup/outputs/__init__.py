"""What other programs and the kernel write, read as values. Every function is pure; samples are in the tests."""
