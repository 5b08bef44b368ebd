"""What the tests take from the real world: sources that nobody made for a test."""
