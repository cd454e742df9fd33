"""Ranks of sentences by what they are, from the states of a network."""

from __future__ import annotations

from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.search import content
from unshuffle.search.contracts import Floats, Ints


def content_keys(states: States) -> Floats:
    """(sentences,) a number that depends on a sentence's vectors alone; equal for equal sentences."""
    rows = (vectors.detach().float().cpu().numpy() for vectors in (states.encoded.sentences, states.sentences))
    return content.content_keys(*rows)


def content_ranks(states: States, graph: GraphBatch) -> Ints:
    """(documents, longest) each sentence's rank among its document's by key."""
    return content.content_ranks(content_keys(states), graph.sizes.cpu().numpy())
