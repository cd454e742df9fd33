"""Sentences to the nouns in them and their roles."""
