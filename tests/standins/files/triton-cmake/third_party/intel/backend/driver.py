"""Stand-in for the driver of the back end for intel."""
