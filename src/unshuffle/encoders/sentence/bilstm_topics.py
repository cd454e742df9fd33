"""BiLSTM vectors concatenated with topic vectors (Oh et al., 2019: TGCM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Lt, MultipleOf
from torch import Tensor

from unshuffle.encoders.contracts import Encoded, SentenceEncoder, SentenceEncoderConfig, sentence_encoders
from unshuffle.encoders.sentence.bilstm import BiLSTM, BiLSTMConfig
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import Batch


@dataclass(frozen=True, kw_only=True)
class BiLSTMTopicsConfig(SentenceEncoderConfig):
    """Bidirectional LSTM sentence encoder with topics; a sentence is as wide as both together."""

    hidden: Annotated[int, Ge(2), MultipleOf(2)] = 512
    """Both directions together, without the topics."""
    topics: Annotated[int, Ge(1)] = 100
    """Number of topics of the topic model."""
    word_width: Annotated[int, Ge(1)] = 100
    word_dropout: Annotated[float, Ge(0), Lt(1)] = 0.5
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.5
    """On the BiLSTM's part; a dropped topic would be a different distribution."""


@sentence_encoders.register("bilstm_topics", BiLSTMTopicsConfig)
class BiLSTMTopics(SentenceEncoder):
    """[BiLSTM vector; topic distribution of the sentence].

    Assumptions, since only the abstract was available: the sentence encoder is the BiLSTM of the systems it is compared
    with, topics enter by concatenation, and the topic model is LDA on sentences (graph/topics.py).
    """

    def __init__(self, config: BiLSTMTopicsConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.topics = config.topics
        self.width = config.hidden + config.topics
        self.bilstm = BiLSTM(
            BiLSTMConfig(
                width=config.hidden,
                word_width=config.word_width,
                word_dropout=config.word_dropout,
                dropout=config.dropout,
            ),
            words=words,
            vectors=vectors,
        )
        self.entity_width = self.bilstm.entity_width

    def forward(self, batch: Batch) -> Encoded:
        """(words,) and (sentences, topics) -> (sentences, width)."""
        topics = batch.topics
        if topics is None or topics.shape != (batch.graph.sentences, self.topics):
            found = "none" if topics is None else f"{topics.shape[1]} for {topics.shape[0]} sentences"
            raise ConfigError(
                f"sentence_encoder.topics: it expects {self.topics} topics per sentence and got {found}. "
                "Give the system a topic model of that size."
            )
        read: Encoded = self.bilstm(batch)
        return Encoded(sentences=torch.cat([read.sentences, topics], 1), entities=read.entities, topics=topics)
