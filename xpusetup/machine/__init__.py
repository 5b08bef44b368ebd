"""What a machine is: facts, the probes that see them, the tables of what is known of GPUs and platforms."""
