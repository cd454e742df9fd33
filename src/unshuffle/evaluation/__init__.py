"""Figures of models on documents whose order is known."""
