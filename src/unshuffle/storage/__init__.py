"""Files that are never half-written, and weights as they are stored."""
