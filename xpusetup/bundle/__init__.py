"""All that a build would fetch, in one file for machines without a network."""
