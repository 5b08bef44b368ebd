"""Stand-in for the compiler of the back end for amd."""
