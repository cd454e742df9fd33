"""Random states of paragraphs, and one small decoder of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from unshuffle.decode.contracts import Gold, decoders
from unshuffle.decode.future_history import FutureHistoryConfig
from unshuffle.decode.markers import MarkersConfig
from unshuffle.decode.pair_matrix import PairMatrixConfig
from unshuffle.decode.pointer import PointerConfig
from unshuffle.decode.positions import PositionsConfig
from unshuffle.decode.scores import ScoresConfig
from unshuffle.decode.topical import TopicalPointerConfig
from unshuffle.decode.transformer_pointer import TransformerPointerConfig
from unshuffle.decode.verified import VerifiedConfig
from unshuffle.encoders.contracts import Encoded, States
from unshuffle.graph.batch import GraphBatch

WIDTH, ENCODED, PAIR, TOPICS = 8, 6, 5, 3

CONFIGS: dict[str, Any] = {
    "pointer": PointerConfig(),
    "fh-pair": FutureHistoryConfig(keys="pair", pair_width=7, dropout=0.0),
    "fh-concatenate": FutureHistoryConfig(pair_width=7, attention_width=9, dropout=0.0, divide="left"),
    "fh-encoded": FutureHistoryConfig(keys="add", pairs="encoded", average="choice", dropout=0.0),
    "scores-listwise": ScoresConfig(dropout=0.0),
    "scores-logistic": ScoresConfig(loss="logistic", dropout=0.0),
    "scores-hinge": ScoresConfig(loss="hinge", dropout=0.0),
    "scores-regression": ScoresConfig(loss="regression", dropout=0.0),
    "pairs-mlp": PairMatrixConfig(dropout=0.0),
    "pairs-classifier": PairMatrixConfig(network="classifier", dropout=0.0, method="eades"),
    "pairs-antisymmetric": PairMatrixConfig(network="antisymmetric", dropout=0.0, method="borda"),
    "pairs-encoded": PairMatrixConfig(network="encoded", dropout=0.0, method="topological"),
    "positions": PositionsConfig(width=8, heads=2, hidden=16, dropout=0.0),
    "transformer-pointer": TransformerPointerConfig(width=8, heads=2, blocks=2, dropout=0.0),
    "transformer-pointer-places": TransformerPointerConfig(
        width=8, heads=2, blocks=1, dropout=0.0, position_codes=True
    ),
    "topical-pointer": TopicalPointerConfig(topics=TOPICS, match_width=5),
    "verified": VerifiedConfig(width=7, dropout=0.0),
    "verified-encoded": VerifiedConfig(
        base={"kind": "future_history", "keys": "add", "pairs": "encoded", "dropout": 0.0}, width=7, dropout=0.0
    ),
    "markers": MarkersConfig(width=8, heads=2, hidden=16, blocks=1, dropout=0.0),
}


def decoder(name: str, seed: int = 0) -> Any:
    """A small decoder with random weights in double precision, so that rounding is no excuse."""
    torch.manual_seed(seed)
    built = decoders.build(CONFIGS[name], width=WIDTH, encoded_width=ENCODED, pair_width=PAIR)
    assert isinstance(built, nn.Module)
    for parameter in built.parameters():
        nn.init.normal_(parameter, std=0.7)
    return built.double().eval()


@dataclass(frozen=True)
class Paragraph:
    """The states of one document."""

    encoded: Tensor  # (sentences, encoded width)
    sentences: Tensor  # (sentences, width)
    document: Tensor  # (width,)
    pairs: Tensor  # (sentences, sentences, pair width)
    topics: Tensor  # (sentences, topics)

    def __len__(self) -> int:
        return len(self.sentences)

    def permuted(self, permutation: Sequence[int]) -> Paragraph:
        """The same with sentence `permutation[k]` at place k."""
        new = list(permutation)
        return replace(
            self,
            encoded=self.encoded[new],
            sentences=self.sentences[new],
            pairs=self.pairs[new][:, new],
            topics=self.topics[new],
        )


def paragraph(size: int, generator: torch.Generator) -> Paragraph:
    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return Paragraph(
        encoded=draw(size, ENCODED),
        sentences=draw(size, WIDTH),
        document=draw(WIDTH),
        pairs=draw(size, size, PAIR),
        topics=draw(size, TOPICS).softmax(1),
    )


def paragraphs(sizes: Sequence[int], seed: int = 0) -> list[Paragraph]:
    generator = torch.Generator().manual_seed(seed)
    return [paragraph(size, generator) for size in sizes]


def graph_of(sizes: Sequence[int]) -> GraphBatch:
    """Sentences without any edges."""
    none = torch.zeros(2, 0, dtype=torch.long)
    counts = torch.tensor(list(sizes))
    return GraphBatch(
        pairs=none,
        mentions=none,
        roles=none[0],
        relations=none,
        similarity=torch.zeros(0),
        sizes=counts,
        entity_counts=torch.zeros_like(counts),
        document_of_sentence=torch.arange(len(counts)).repeat_interleave(counts),
        document_of_entity=none[0],
    )


def batch(some: Sequence[Paragraph]) -> tuple[States, GraphBatch]:
    off_diagonal = [part.pairs[~torch.eye(len(part), dtype=torch.bool)] for part in some]
    encoded = Encoded(
        sentences=torch.cat([part.encoded for part in some]),
        entities=torch.zeros(0, 1),
        pairs=torch.cat(off_diagonal),
        topics=torch.cat([part.topics for part in some]),
    )
    states = States(
        encoded=encoded,
        sentences=torch.cat([part.sentences for part in some]),
        documents=torch.stack([part.document for part in some]),
    )
    return states, graph_of([len(part) for part in some])


def random_orders(sizes: Sequence[int], seed: int = 0) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randperm(size, generator=generator).tolist() for size in sizes]


def probability(model: Any, part: Paragraph, order: Sequence[int]) -> float:
    """The log-probability of an order, by its transitions."""
    states, graph = batch([part])
    return float(model.transitions(states, graph, Gold.of([list(order)])).sum().detach())
