"""Pictures of the sentence-entity graph."""
