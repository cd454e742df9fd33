"""Words to sentence vectors; importing this package registers every kind."""

from unshuffle.encoders.sentence import (
    bag,
    bilstm,
    bilstm_layers,
    bilstm_topics,
    cnn,
    lstm,
    transformer,
    transformer_bilstm,
    transformer_joined,
    transformer_pair,
    transformer_set,
)

__all__ = [
    "bag",
    "bilstm",
    "bilstm_layers",
    "bilstm_topics",
    "cnn",
    "lstm",
    "transformer",
    "transformer_bilstm",
    "transformer_joined",
    "transformer_pair",
    "transformer_set",
]
