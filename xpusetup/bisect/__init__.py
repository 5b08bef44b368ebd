"""The search for the commit that broke something."""
