"""A plain beam search, one document at a time."""

from __future__ import annotations

import torch

from unshuffle.graph.prepare import Item
from unshuffle_research.benchmarks.twin import Twin
from unshuffle_research.benchmarks.twin_batch import PaddedBatch


@torch.inference_mode()
def best_order(twin: Twin, item: Item, beam: int) -> tuple[tuple[int, ...], float]:
    """The most probable order that the beam finds, and its log-probability."""
    vectors, state, whole = twin.read(PaddedBatch.of([item]))
    vectors, sentences = vectors[0], vectors.shape[1]
    keys = twin.key(torch.cat([vectors, state[0]], -1))
    inputs = torch.zeros(1, 1, vectors.shape[1])
    hidden, cell = whole[None], torch.zeros_like(whole)[None]
    chosen = torch.zeros(1, 0, dtype=torch.long)
    scores = torch.zeros(1)
    used = torch.zeros(1, sentences, dtype=torch.bool)
    for step in range(sentences):
        _, (hidden, cell) = twin.decoder(inputs, (hidden, cell))
        logits = twin.attend(hidden[0], keys).masked_fill(used, -1e9)
        total = scores[:, None] + torch.log_softmax(logits, -1)
        total = total.masked_fill(used, -torch.inf)
        scores, best = total.flatten().topk(min(beam, int((~used).sum())))
        parent, choice = best // sentences, best % sentences
        chosen = torch.cat([chosen[parent], choice[:, None]], 1)
        used = used[parent].scatter(1, choice[:, None], True)
        hidden, cell = hidden[:, parent].contiguous(), cell[:, parent].contiguous()
        inputs = vectors[choice][:, None]
        if step == sentences - 2:  # what is left is certain
            last = (~used).long().argmax(1)
            chosen = torch.cat([chosen, last[:, None]], 1)
            break
    return tuple(chosen[0].tolist()), float(scores[0])
