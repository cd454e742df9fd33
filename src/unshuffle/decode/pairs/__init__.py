"""Ordered pairs of sentences, as decoders read them."""
