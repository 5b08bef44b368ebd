"""What a log says: pure functions over its lines."""
