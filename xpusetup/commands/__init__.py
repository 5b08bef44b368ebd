"""Commands: each takes values and returns a Result; nothing here prints or exits."""
