"""The machine as a program meets it: files, processes, the environment, the clock, git, the network."""
