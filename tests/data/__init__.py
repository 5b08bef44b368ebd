"""Values that the tests share: profiles, machines and targets made by hand, never the real machine's."""
