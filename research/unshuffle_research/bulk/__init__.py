"""Bulk work measured and extrapolated."""
