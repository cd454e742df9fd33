"""Pointer with a match of the current sentence and each candidate by words and topics (Oh et al., EMNLP 2019: TGCM)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import torch
from annotated_types import Ge
from torch import Tensor, nn

from unshuffle.decode.contracts import Gold, decoders
from unshuffle.decode.pointer import Carry, Pointer, PointerConfig, PointerMemory
from unshuffle.decode.search.beam import Prefix
from unshuffle.decode.search.follow import Followed
from unshuffle.encoders.contracts import States
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.padding import pad_documents


@dataclass(frozen=True, kw_only=True)
class TopicalPointerConfig:
    """Pointer with topical matching."""

    topics: Annotated[int, Ge(1)] = 100
    """How many topics the topic model has."""
    attention_width: Annotated[int, Ge(0)] = 0
    """Width of the attention's hidden layer; 0 takes the width of the sentence states."""
    match_width: Annotated[int, Ge(0)] = 0
    """Width in which two sentences are compared; 0 takes the width of the sentence states."""
    start: Literal["zero", "document"] = "zero"
    """The LSTM starts from nothing, as no vector stands for the paragraph, or from the document state."""


@decoders.register("topical_pointer", TopicalPointerConfig)
class TopicalPointer(Pointer):
    """The pointer's score of a candidate plus v tanh(A [current; topics] + B [candidate; topics]).

    Only the paper's abstract was at hand. From it: attention to the sentence vectors themselves, no paragraph vector,
    a local match of the current sentence with each candidate, both enriched with topics. Assumed: topics are joined
    to encoder vectors, the match is additive like the pointer's and added to its score, the LSTM is the pointer's,
    and before the first choice the current sentence is a learnt nothing (the bias of A).
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
        """(documents, longest + 1, longest): by what is current, first nothing, then each sentence, and candidate."""
        topics = states.encoded.topics
        if topics is None or topics.shape[1] != self.config.topics:
            found = "none" if topics is None else f"{topics.shape[1]}"
            raise ConfigError(
                f"decoder.topics: it expects {self.config.topics} topics a sentence and got {found}. "
                "Use a sentence encoder with topics, and a topic model of that size."
            )
        enriched = torch.cat([states.encoded.sentences, topics.to(states.encoded.sentences)], 1)
        current = pad_documents(self.current(enriched), graph)
        nothing = self.current.bias.expand(graph.documents, 1, -1)
        candidate = pad_documents(self.candidate(enriched), graph)
        both = torch.cat([nothing, current], 1)[:, :, None] + candidate[:, None]
        scores: Tensor = self.match(torch.tanh(both)).squeeze(-1)
        return scores

    def started(self, states: States) -> States:
        """The states with what the LSTM starts from."""
        if self.config.start == "document":
            return states
        return replace(states, documents=torch.zeros_like(states.documents))

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice when the given order is followed."""
        followed = Followed.of(graph, gold)
        hidden = self.follow(self.started(states), graph, followed.order)
        logits = self.attend(hidden, pad_documents(self.keys(states), graph)[followed.document])
        before = torch.cat([followed.target.new_zeros(1), followed.target[:-1] + 1])
        before = torch.where(followed.step > 0, before, 0)  # 0 is nothing
        return followed.log_probabilities(logits + self.matches(states, graph)[followed.document, before])

    def memory(self, states: States, graph: GraphBatch) -> TopicalMemory:
        """Everything that does not depend on what has been chosen."""
        return TopicalMemory(self, states, graph)


class TopicalMemory(PointerMemory):
    """The pointer's memory and all matches."""

    def __init__(self, pointer: TopicalPointer, states: States, graph: GraphBatch) -> None:
        super().__init__(pointer, pointer.started(states), graph)
        self.matches = pointer.matches(states, graph)

    def logits(self, carry: Carry, prefix: Prefix) -> Tensor:
        """(rows, longest)."""
        chosen = prefix.chosen
        current = chosen[:, -1] + 1 if chosen.shape[1] else torch.zeros_like(prefix.document)
        return super().logits(carry, prefix) + self.matches[prefix.document, current]
