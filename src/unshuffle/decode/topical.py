"""Pointer with a match of the current sentence and each candidate by words and topics (Oh et al., EMNLP 2019: TGCM)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import torch
from annotated_types import Ge
from torch import Tensor, nn

from unshuffle.decode.contracts import GivenOrders, Gold, decoders
from unshuffle.decode.pointer import Carry, Pointer, PointerConfig, PointerMemory
from unshuffle.decode.search import TensorPrefix
from unshuffle.encoders.contracts import States
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.segments import pad_documents
from unshuffle.parts.registry import PartConfig


@dataclass(frozen=True, kw_only=True)
class TopicalPointerConfig(PartConfig):
    """Pointer with topical matching."""

    topics: Annotated[int, Ge(1)] = 100
    """Number of topics of the topic model."""
    attention_width: Annotated[int, Ge(0)] = 0
    """Width of the attention's hidden layer; 0 takes the width of the sentence states."""
    match_width: Annotated[int, Ge(0)] = 0
    """Width of the match of two sentences; 0 takes the width of the sentence states."""
    start: Literal["zero", "document"] = "zero"
    """Initial state of the LSTM: zero, since the paper has no paragraph vector, or the document state."""


@decoders.register("topical_pointer", TopicalPointerConfig)
class TopicalPointer(Pointer):
    """The pointer's score of a candidate plus v tanh(A [current; topics] + B [candidate; topics]).

    Only the paper's abstract was available. From it: attention to the sentence vectors themselves, no paragraph vector,
    a local match of the current sentence with each candidate, both enriched with topics. Assumed: topics are joined
    to encoder vectors, the match is additive like the pointer's and added to its score, the LSTM is the pointer's,
    and before the first choice the bias of A stands for the current sentence.
    """

    def __init__(self, config: TopicalPointerConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        pointer = PointerConfig(attention_width=config.attention_width)
        super().__init__(pointer, width=width, encoded_width=encoded_width)
        self.config = config
        match = config.match_width or width
        self.current = nn.Linear(encoded_width + config.topics, match)
        self.candidate = nn.Linear(encoded_width + config.topics, match, bias=False)
        self.match = nn.Linear(match, 1, bias=False)

    def matches(self, states: States, graph: GraphBatch) -> Tensor:
        """(documents, longest + 1, longest): by current sentence (first none, then each) and candidate."""
        topics = states.encoded.topics
        if topics is None or topics.shape[1] != self.config.topics:
            found = "none" if topics is None else f"{topics.shape[1]}"
            raise ConfigError(
                f"decoder.topics: it expects {self.config.topics} topics per sentence and got {found}. "
                "Use a sentence encoder with topics, and a topic model of that size."
            )
        enriched = torch.cat([states.encoded.sentences, topics.to(states.encoded.sentences)], 1)
        current = pad_documents(self.current(enriched), graph)
        none = self.current.bias.expand(graph.documents, 1, -1)
        candidate = pad_documents(self.candidate(enriched), graph)
        both = torch.cat([none, current], 1)[:, :, None] + candidate[:, None]
        scores: Tensor = self.match(torch.tanh(both)).squeeze(-1)
        return scores

    def with_start(self, states: States) -> States:
        """The states with the LSTM's initial state as document states."""
        if self.config.start == "document":
            return states
        return replace(states, documents=torch.zeros_like(states.documents))

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice of a given order."""
        given = GivenOrders.of(graph, gold)
        hidden = self.follow(self.with_start(states), graph, given.order)
        logits = self.attend(hidden, pad_documents(self.keys(states), graph)[given.document])
        before = torch.cat([given.target.new_zeros(1), given.target[:-1] + 1])
        before = torch.where(given.step > 0, before, 0)  # 0 is none
        return given.log_probabilities(logits + self.matches(states, graph)[given.document, before])

    def memory(self, states: States, graph: GraphBatch) -> TopicalMemory:
        """Everything that does not depend on what has been chosen."""
        return TopicalMemory(self, states, graph)


class TopicalMemory(PointerMemory):
    """The pointer's memory and all matches."""

    def __init__(self, pointer: TopicalPointer, states: States, graph: GraphBatch) -> None:
        super().__init__(pointer, pointer.with_start(states), graph)
        self.matches = pointer.matches(states, graph)

    def logits(self, carry: Carry, prefix: TensorPrefix) -> Tensor:
        """(rows, longest)."""
        chosen = prefix.chosen
        current = chosen[:, -1] + 1 if chosen.shape[1] else torch.zeros_like(prefix.document)
        return super().logits(carry, prefix) + self.matches[prefix.document, current]
