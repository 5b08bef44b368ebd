"""Forms of a plan: pure functions from a Plan to {file name: text}."""
