"""Judges of pairs, such as language models, asked only where the ordering model is unsure; the core needs no torch."""
