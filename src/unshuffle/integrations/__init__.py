"""Thin adapters to other libraries; each loads its library, and a model, only when it is used."""
