"""What is asked for: profiles, settings, device files, revisions, locks."""
