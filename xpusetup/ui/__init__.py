"""Results as text for people: each command has one screen in this package."""
