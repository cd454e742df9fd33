"""Sentence vectors to states in context; importing this package registers every kind."""

from unshuffle.encoders.paragraph import gin, grn, lstm, none, rgcn, set_lstm, transformer

__all__ = ["gin", "grn", "lstm", "none", "rgcn", "set_lstm", "transformer"]
