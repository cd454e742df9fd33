"""How many floating-point operations the plain equations ask for, counted by torch on tensors without content.

Plain: every gate on the concatenation of its inputs, every step in full; but nothing padded, nothing for absent edges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from unshuffle.graph.prepare import Item
from unshuffle.system.config import SystemConfig
from unshuffle.system.contracts import OrderingModel
from unshuffle.text.document import Document


def forward_flops(config: SystemConfig, items: Sequence[Item]) -> float:
    """One pass over the documents: encoder, graph network and every choice of the true order."""
    return float(_count(lambda: _ordering(config, items)))


def training_flops(config: SystemConfig, items: Sequence[Item]) -> float:
    """The same with the backward pass."""
    return float(_count(lambda: torch.autograd.backward(_ordering(config, items).sum())))


def classifier_flops(config: SystemConfig, items: Sequence[Item], *, backward: bool) -> float:
    """One pair classifier with an encoder of its own, trained on both directions of every linked pair."""

    def run() -> None:
        total = _classifier(config, items)
        if backward:
            torch.autograd.backward(total.sum())

    return float(_count(run))


def refined_flops(config: SystemConfig, items: Sequence[Item], rounds: float) -> float:
    """Ordering with refinement: both classifiers' encoders, one initial pass and so many rounds."""
    each = classifier_flops(config, items, backward=False)
    encoder = float(_count(lambda: _encoder(config, items)))
    return forward_flops(config, items) + each + encoder + rounds * (each - encoder)


def grn_flops(config: SystemConfig, items: Sequence[Item]) -> float:
    """One pass of the graph network alone."""
    vectors = _empty(_sentences(items), _width(config))
    return float(_count(lambda: _grn(config.paragraph_encoder, config, items, vectors)))


def _count(run: Callable[[], object]) -> int:
    with FlopCounterMode(display=False) as counter:
        run()
    return int(counter.get_total_flops())


def _empty(*shape: int) -> Tensor:
    return torch.empty(*shape, device="meta", requires_grad=True)


def _layer(rows: Tensor, width: int) -> Tensor:
    """A matrix product with fresh weights."""
    return rows @ _empty(rows.shape[-1], width)


def _width(config: SystemConfig) -> int:
    return int(config.sentence_encoder.width)  # type: ignore[attr-defined]


def _sentences(items: Sequence[Item]) -> int:
    return sum(item.graph.sentences for item in items)


def _encoder(config: SystemConfig, items: Sequence[Item]) -> Tensor:
    words = sum(len(sentence) for item in items for sentence in item.words)
    half = _width(config) // 2
    ends = []
    for _ in range(2):
        gates = _layer(_empty(words, config.sentence_encoder.word_width), 4 * half)
        gates = gates + _layer(_empty(words, half), 4 * half)
        ends.append(gates[: _sentences(items), :half])
    return torch.cat(ends, 1)


def _grn(grn: object, config: SystemConfig, items: Sequence[Item], vectors: Tensor) -> Tensor:
    width, entity, role = _width(config), grn.entity_width, grn.role_width  # type: ignore[attr-defined]
    sentences, entities = len(vectors), sum(len(item.graph.words) for item in items)
    mentions = sum(item.graph.mentions.shape[1] for item in items)
    links = 2 * sum(item.graph.pairs.shape[1] for item in items)
    relations = 2 * sum(item.graph.relations.shape[1] for item in items)
    state = vectors
    for _ in range(grn.steps):  # type: ignore[attr-defined]
        heard = state[:, :0].sum()  # ties the step to the one before
        if grn.link_message == "gated":  # type: ignore[attr-defined]
            heard = heard + _layer(state[:1].expand(links, -1).repeat(1, 2), width).sum()
        heard = heard + _layer(_tied(state, mentions, width + entity + role), entity + role).sum()
        heard = heard + _layer(_tied(state, mentions, width + entity + role), width + role).sum()
        if grn.relations:  # type: ignore[attr-defined]
            heard = heard + _layer(_tied(state, relations, 2 * entity), entity).sum()
        word = int(config.sentence_encoder.word_width)
        extra = entity if grn.relations else 0  # type: ignore[attr-defined]
        named = _layer(_tied(state, entities, word + 2 * width + role + extra + entity), 3 * entity)
        whole = _layer(_tied(state, len(items), width + entity + width), 3 * width)
        update = _layer(_tied(state, sentences, 4 * width + entity + role), 3 * width)
        state = update[:, :width] + heard + named.sum() + whole.sum()
    return state


def _tied(state: Tensor, rows: int, width: int) -> Tensor:
    """Input of some shape whose gradient goes on to the state."""
    return _empty(rows, width) + state.sum()


def _ordering(config: SystemConfig, items: Sequence[Item]) -> Tensor:
    width, vectors = _width(config), _encoder(config, items)
    state = _grn(config.paragraph_encoder, config, items, vectors)
    attention = config.decoder.attention_width or width  # type: ignore[attr-defined]
    key = _layer(torch.cat([vectors, state], 1), attention)
    hidden = _layer(torch.cat([vectors, state], 1), 4 * width)[:, :width]
    query = _layer(hidden, attention)
    cells = sum(item.graph.sentences**2 for item in items)
    return _layer(_tied(key + query, cells, attention), 1)


def _classifier(config: SystemConfig, items: Sequence[Item]) -> Tensor:
    refiner = config.refiner
    assert refiner is not None
    width = _width(config)
    state = _grn(refiner.grn, config, items, _encoder(config, items))
    directed = 2 * sum(item.graph.pairs.shape[1] for item in items)
    hidden = refiner.head_width or width
    return _layer(_layer(_layer(_tied(state, directed, 2 * width), hidden), hidden), 1)


def encoder_flops(model: OrderingModel, documents: Sequence[Document]) -> float:
    """Reading documents with a BERT whose upper layers read all sentences together, nothing padded."""
    encoder = model.description()["system"]["sentence_encoder"]
    shape = encoder["architecture"]
    width, inner, layers = shape["hidden_size"], shape["intermediate_size"], shape["num_hidden_layers"]
    alone = encoder.get("alone", layers)
    total = 0.0
    for document in documents:
        lengths = [len(sentence.ids) for sentence in model.preparer.tokenizer.encode(document.sentences)]
        squares = alone * sum(length**2 for length in lengths) + (layers - alone) * sum(lengths) ** 2
        total += 2 * sum(lengths) * layers * (4 * width**2 + 2 * width * inner) + 4 * width * squares
    return total
