"""Some documents of a batch, so that finished ones cost nothing more."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unshuffle.graph.batch import GraphBatch


@dataclass(frozen=True, slots=True)
class Selection:
    """The graph of some documents, and where its nodes and pairs were in the whole."""

    graph: GraphBatch
    sentences: Tensor  # (kept sentences,)
    entities: Tensor  # (kept entities,)
    pairs: Tensor  # (kept pairs,)


def select(graph: GraphBatch, keep: Tensor) -> Selection:
    """`keep`: (documents,) which documents to keep."""
    kept_sentence, kept_entity = keep[graph.document_of_sentence], keep[graph.document_of_entity]
    kept_pair, kept_mention = kept_sentence[graph.pairs[0]], kept_sentence[graph.mentions[1]]
    kept_relation = kept_entity[graph.relations[0]]
    sentence, entity, document = (kept.cumsum(0) - 1 for kept in (kept_sentence, kept_entity, keep))  # new numbers
    smaller = GraphBatch(
        pairs=sentence[graph.pairs[:, kept_pair]],
        mentions=torch.stack([entity[graph.mentions[0, kept_mention]], sentence[graph.mentions[1, kept_mention]]]),
        roles=graph.roles[kept_mention],
        relations=entity[graph.relations[:, kept_relation]],
        similarity=graph.similarity[kept_relation],
        sizes=graph.sizes[keep],
        entity_counts=graph.entity_counts[keep],
        document_of_sentence=document[graph.document_of_sentence[kept_sentence]],
        document_of_entity=document[graph.document_of_entity[kept_entity]],
    )
    return Selection(smaller, *(kept.nonzero().squeeze(1) for kept in (kept_sentence, kept_entity, kept_pair)))
