"""Sentence vectors to states in context; importing this package registers every kind."""

from unshuffle.encoders.paragraph import grn

__all__ = ["grn"]
