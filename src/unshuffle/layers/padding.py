"""Flat sentences as a padded table with a row per document, for attention and search."""

from __future__ import annotations

import torch
from torch import Tensor

from unshuffle.graph.batch import GraphBatch


def pad_documents(rows: Tensor, graph: GraphBatch) -> Tensor:
    """(sentences, ...) -> (documents, longest, ...), zeros after a document's last sentence."""
    longest = int(graph.sizes.max())
    document = graph.document_of_sentence
    place = torch.arange(graph.sentences, device=rows.device) - graph.first_sentence[document]
    table = rows.new_zeros(graph.documents * longest, *rows.shape[1:])
    return table.index_copy(0, document * longest + place, rows).view(graph.documents, longest, *rows.shape[1:])


def sentence_mask(graph: GraphBatch) -> Tensor:
    """(documents, longest): whether the document has a sentence at that place."""
    return torch.arange(int(graph.sizes.max()), device=graph.sizes.device) < graph.sizes[:, None]
