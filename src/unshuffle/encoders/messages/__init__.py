"""What nodes of a graph tell each other."""
