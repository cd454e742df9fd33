"""Messages between the nodes of a graph."""
