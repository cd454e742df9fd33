"""Tables of README and docs, made from results."""
