"""Scrambled-sentence exercises."""
