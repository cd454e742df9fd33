"""Layers that parts share: recurrent units, dropout, operations over rows that belong together."""
