"""From a profile, a request, a target and a layout to steps: pure functions, nothing else."""
