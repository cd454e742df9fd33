"""Made-up documents and tiny transformers for tests of encoders."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unshuffle.encoders.contracts import Encoded, paragraph_encoders
from unshuffle.graph.batch import Batch, GraphBatch, collate, ordered_pairs, pair_numbers
from unshuffle.graph.build import Graph
from unshuffle.graph.prepare import Item

WORDS = 40
OPEN, CLOSE = 2, 3
WIDTH, ENTITY, PAIR, TOPICS = 6, 5, 7, 4


def item(sizes: Sequence[int], *, entities: int = 3, seed: int = 0, pieces: bool = False) -> Item:
    """A document whose sentences have so many words, each with [CLS] and [SEP] around it where they are pieces."""
    draw = np.random.default_rng(seed)
    texts = [draw.integers(5, WORDS, size) for size in sizes]
    if pieces:
        texts = [np.array([OPEN, *text, CLOSE]) for text in texts]
    occurs = draw.random((entities, len(sizes))) < 0.6
    mentions = np.stack(np.nonzero(occurs)).astype(np.int64)
    linked = np.triu(occurs.T.astype(int) @ occurs.astype(int) > 0, 1)
    pairs = np.stack(np.nonzero(linked)).astype(np.int64)
    relations = np.array([[0], [1]]) if entities > 1 else np.empty((2, 0))
    spans = [
        (mention, place)
        for mention, sentence in enumerate(mentions[1])
        if mention % 5 != 4  # some mentions are not found
        for place in sorted({int(draw.integers(pieces, pieces + sizes[sentence])) for _ in range(2)})
    ]
    return Item(
        id=f"document {seed}",
        words=tuple(text.astype(np.int64) for text in texts),
        graph=Graph(
            sentences=len(sizes),
            words=tuple(f"word {number}" for number in range(entities)),
            mentions=mentions,
            roles=draw.integers(1, 4, mentions.shape[1]),
            pairs=pairs,
            relations=relations.astype(np.int64),
            similarity=np.full(relations.shape[1], 0.7, np.float32),
            weights=draw.random(pairs.shape[1]).astype(np.float32),
        ),
        entity_words=draw.integers(5, WORDS, entities),
        spans=np.array(spans, np.int64).reshape(-1, 2).T,
        topics=draw.dirichlet(np.ones(TOPICS), len(sizes)).astype(np.float32),
    )


def corpus(*, pieces: bool = False) -> list[Item]:
    """Documents of one to five sentences, one without entities, two that share a sentence."""
    items = [
        item([4, 1, 7, 3, 5], seed=1, pieces=pieces),
        item([2], seed=2, entities=1, pieces=pieces),
        item([3, 9, 2], seed=3, entities=0, pieces=pieces),
        item([5, 5, 1, 6], seed=4, pieces=pieces),
    ]
    shared = items[0].words[4]
    items[3] = replace(items[3], words=(shared, *items[3].words[1:]))
    return items


def shuffled(items: Sequence[Item], seed: int = 0) -> tuple[list[Item], Tensor]:
    """The same documents, each in another order, and where each flat sentence was before."""
    draw = np.random.default_rng(seed)
    permutations = [draw.permutation(item.graph.sentences) for item in items]
    first = np.cumsum([0, *(item.graph.sentences for item in items)])[:-1]
    before = np.concatenate([permutation + start for permutation, start in zip(permutations, first, strict=True)])
    moved = [item.permuted(list(permutation)) for item, permutation in zip(items, permutations, strict=True)]
    return moved, torch.from_numpy(before)


def pairs_before(before: Tensor, old: GraphBatch, new: GraphBatch) -> Tensor:
    """Where each ordered pair of the shuffled documents was before."""
    one, other = before[ordered_pairs(new)]
    return pair_numbers(old, one, other)


def paragraph_encoder(config: Any) -> Any:
    """A paragraph encoder of that configuration, as wide as the vectors here, always the same."""
    torch.manual_seed(0)
    encoder = paragraph_encoders.build(config, width=WIDTH, entity_input=ENTITY)
    assert isinstance(encoder, torch.nn.Module)
    return encoder.eval()


def vectors(batch: Batch, seed: int = 0) -> Encoded:
    """Made-up vectors of everything a sentence encoder may speak of."""
    draw = torch.Generator().manual_seed(seed)
    graph = batch.graph
    return Encoded(
        sentences=torch.randn(graph.sentences, WIDTH, generator=draw),
        entities=torch.randn(graph.entities, ENTITY, generator=draw),
        pairs=torch.randn(ordered_pairs(graph).shape[1], PAIR, generator=draw),
    )


def of_document(encoded: Encoded, graph: GraphBatch, document: int) -> Encoded:
    """The vectors of one document."""
    pair = graph.document_of_sentence[ordered_pairs(graph)[0]] == document
    assert encoded.pairs is not None
    return Encoded(
        sentences=encoded.sentences[graph.document_of_sentence == document],
        entities=encoded.entities[graph.document_of_entity == document],
        pairs=encoded.pairs[pair],
    )


def weights_of(batch: Batch) -> Tensor:
    """The documents' own link weights."""
    assert batch.weights is not None
    return batch.weights


def collated(items: Sequence[Item]) -> Batch:
    """A batch of these documents."""
    return collate(items)


def close(one: Tensor, other: Tensor) -> None:
    """Equal but for rounding."""
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def untouched(module: torch.nn.Module) -> list[str]:
    """Trained parameters that a backward pass has not reached; a key's bias moves all scores alike, so it may rest."""
    return [
        name
        for name, value in module.named_parameters()
        if value.requires_grad and (value.grad is None or not (value.grad.any() or "key.bias" in name))
    ]


def bert(folder: Path, **changes: Any) -> Path:
    """A tiny BERT with random weights, saved as transformers saves it."""
    import transformers

    torch.manual_seed(0)
    options = {
        "vocab_size": WORDS,
        "hidden_size": 8,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 12,
        "max_position_embeddings": 32,
    }
    config = transformers.BertConfig(**{**options, **changes}, initializer_range=0.5)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def bart(folder: Path) -> Path:
    """A tiny BART."""
    import transformers

    torch.manual_seed(0)
    config = transformers.BartConfig(
        vocab_size=WORDS,
        d_model=8,
        encoder_layers=2,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=12,
        decoder_ffn_dim=12,
        max_position_embeddings=64,
        init_std=0.5,
    )
    transformers.BartModel(config).save_pretrained(folder)
    return folder
