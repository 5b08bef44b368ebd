"""The same wheels again under other conditions, and what of them differs, and why."""
