"""A plan at work: its root, keys, lock and lanes, the runner, the journal, the time that is left."""
