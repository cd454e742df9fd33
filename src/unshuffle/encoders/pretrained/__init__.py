"""Pretrained transformers: where they come from, how their layers are run."""
