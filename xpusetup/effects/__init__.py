"""The only folder that starts, reads, writes and waits."""
