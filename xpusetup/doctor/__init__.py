"""What is wrong with a machine: pure checks of facts, listed in one literal tuple."""
