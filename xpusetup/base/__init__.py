"""What everything else is made of: errors, the nouns that parts hand to each other, events, units, strict values."""
