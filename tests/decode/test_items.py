"""Decoders behind real encoders: from prepared documents to orders."""

import numpy as np
import pytest
import torch

import unshuffle.decode
import unshuffle.encoders  # noqa: F401  (both imports register the parts)
from tests.decode.paragraphs import CONFIGS, TOPICS
from unshuffle.decode.contracts import decoders
from unshuffle.encoders.contracts import Encoded, paragraph_encoders, sentence_encoders
from unshuffle.graph.batch import collate
from unshuffle.graph.build import Graph
from unshuffle.graph.prepare import Item
from unshuffle.search.contracts import Found, Search

NAMES = [name for name in CONFIGS if name != "markers" and "encoded" not in name]


def item(size: int, seed: int) -> Item:
    generator = np.random.default_rng(seed)
    rows = sorted({(int(entity), int(sentence)) for entity, sentence in generator.integers(0, size, (2 * size, 2))})
    mentions = np.array(rows, np.int64).T
    linked = np.triu(generator.random((size, size)) < 0.5, 1)
    graph = Graph(
        sentences=size,
        words=tuple(f"word{entity}" for entity in range(size)),
        mentions=mentions,
        roles=generator.integers(1, 4, mentions.shape[1]),
        pairs=np.stack(np.nonzero(linked)).astype(np.int64),
        relations=np.zeros((2, 0), np.int64),
        similarity=np.zeros(0, np.float32),
    )
    return Item(
        id=str(seed),
        words=tuple(generator.integers(1, 50, int(length)) for length in generator.integers(2, 9, size)),
        graph=graph,
        entity_words=np.arange(1, size + 1),
        spans=np.zeros((2, 0), np.int64),
        topics=generator.dirichlet(np.ones(TOPICS), size).astype(np.float32),
    )


@pytest.mark.parametrize("name", NAMES)
def test_shuffled_documents_are_ordered_alike(name: str) -> None:
    torch.manual_seed(1)
    sentence = sentence_encoders.build(
        sentence_encoders.read({"kind": "bilstm", "width": 8, "word_width": 6}), words=60, vectors=None
    ).eval()  # type: ignore[attr-defined]
    paragraph = paragraph_encoders.build(
        paragraph_encoders.read({"kind": "grn", "entity_width": 5, "role_width": 3}),
        width=sentence.width,
        entity_input=sentence.entity_width,
    ).eval()  # type: ignore[attr-defined]
    decoder = decoders.build(CONFIGS[name], width=paragraph.width, encoded_width=sentence.width).eval()  # type: ignore[attr-defined]

    @torch.inference_mode()
    def found(items: list[Item]) -> list[Found]:
        read = collate(items)
        said = sentence(read)
        encoded = Encoded(said.sentences, said.entities, topics=read.topics)
        states = paragraph(encoded, read.graph, torch.full((read.graph.pairs.shape[1],), 0.5))
        orders: list[Found] = decoder.search(states, read.graph, Search(beam=8))
        return orders

    items = [item(size, seed) for seed, size in enumerate([4, 6, 1, 5])]
    generator = np.random.default_rng(0)
    shuffles = [generator.permutation(len(one.words)).tolist() for one in items]
    plain = found(items)
    moved = found([one.permuted(shuffle) for one, shuffle in zip(items, shuffles, strict=True)])
    for before, after, shuffle in zip(plain, moved, shuffles, strict=True):
        assert tuple(shuffle[at] for at in after.orders[0]) == before.orders[0]
