"""What the hours of a build went into: as a document and as one HTML page."""
