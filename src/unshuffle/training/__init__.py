"""From documents to a trained system: stages, the loop they share, and checkpoints that survive anything."""
