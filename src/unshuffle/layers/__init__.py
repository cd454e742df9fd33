"""Layers that parts share: recurrent units, dropout, operations on segments of rows."""
