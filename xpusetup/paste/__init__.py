"""What people post of a machine, read as facts of it."""
