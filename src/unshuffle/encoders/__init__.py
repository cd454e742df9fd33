"""Graphs to states: sentence encoders read words, paragraph encoders let sentences see each other."""

from unshuffle.encoders import paragraph, sentence

__all__ = ["paragraph", "sentence"]
