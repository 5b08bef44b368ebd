"""What the hours of a build went into: gathered from what lies in its root, as a document and as one HTML page."""
