"""Transformer blocks of decoders."""
