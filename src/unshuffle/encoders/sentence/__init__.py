"""Words to sentence vectors; importing this package registers every kind."""

from unshuffle.encoders.sentence import (
    bilstm,
    bilstm_layers,
    bilstm_topics,
    cnn,
    lstm,
    transformer,
    transformer_joined,
    transformer_pair,
    transformer_set,
)

__all__ = [
    "bilstm",
    "bilstm_layers",
    "bilstm_topics",
    "cnn",
    "lstm",
    "transformer",
    "transformer_joined",
    "transformer_pair",
    "transformer_set",
]
