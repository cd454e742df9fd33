"""What only one decoder does: scores, positions, topics, markers."""

import math
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.decode.paragraphs import ENCODED, WIDTH, batch, decoder, paragraphs, random_orders
from unshuffle.decode.contracts import Gold, decoders
from unshuffle.decode.markers import MarkersConfig
from unshuffle.decode.transformer_pointer import TransformerPointerConfig
from unshuffle.errors import ConfigError, DataError
from unshuffle.search.contracts import Search


def test_the_highest_score_comes_first() -> None:
    model = decoder("scores-listwise")
    states, graph = batch(paragraphs([5]))
    order = model.scores(states).argsort(descending=True).tolist()
    assert list(model.search(states, graph, Search())[0].orders[0]) == order


@pytest.mark.parametrize(
    ("name", "good"), [("scores-logistic", 0.1), ("scores-hinge", 0.0), ("scores-regression", 0.0)]
)
def test_losses_are_small_for_scores_in_the_right_order(
    name: str, good: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = decoder(name)
    states, graph = batch(paragraphs([3, 1]))
    right = torch.tensor([1.0, 0.0, -1.0, 0.0], dtype=torch.float64)
    right = right if name == "scores-regression" else 5 * right
    monkeypatch.setattr(model, "scores", lambda states: right)
    assert float(model.loss(states, graph, Gold.of([[0, 1, 2], [0]]))) <= good
    assert float(model.loss(states, graph, Gold.of([[2, 1, 0], [0]]))) > 1


def test_the_assignment_with_the_highest_sum_comes_first() -> None:
    model = decoder("positions")
    states, graph = batch(paragraphs([5]))
    table = model.table(states, graph)[0].detach()
    best = max(permutations(range(5)), key=lambda order: float(table[range(5), list(order)].sum()))
    assert model.search(states, graph, Search())[0].orders[0] == best


def test_places_are_told_apart() -> None:
    model = decoder("positions")
    states, graph = batch([paragraphs([5])[0].permuted([0] * 5)])
    table = model.table(states, graph)[0]
    torch.testing.assert_close(table, table[:, :1].expand(-1, 5))  # equal sentences, equal scores
    assert table[:, 0].unique().numel() == 5


def test_positions_ask_for_the_sentence_of_each_place_and_the_place_of_each_sentence() -> None:
    model = decoder("positions")
    sizes = [5, 1, 3]
    states, graph = batch(paragraphs(sizes))
    orders = random_orders(sizes)
    total = torch.zeros(())
    for document, order in zip(model.table(states, graph).detach(), orders, strict=True):
        rows = document[: len(order), : len(order)]
        for place, sentence in enumerate(order):
            total = total - torch.log(rows[place].softmax(0)[sentence])
            total = total - torch.log(rows[:, sentence].softmax(0)[place])
    torch.testing.assert_close(model.loss(states, graph, Gold.of(orders)), total / len(sizes), check_dtype=False)


def slow_attention(attention: Any, rows: Tensor, over: Tensor) -> Tensor:
    """One head and one query at a time."""
    keys, values = attention.key_value(over).chunk(2, 1)
    heard = []
    for query in attention.query(rows):
        parts = []
        for q, k, v in zip(*(part.chunk(attention.heads, -1) for part in (query, keys, values)), strict=True):
            parts.append((k @ q / len(q) ** 0.5).softmax(0) @ v)
        heard.append(torch.cat(parts))
    mixed: Tensor = attention.out(torch.stack(heard))
    return mixed


def test_sinusoids_of_all_places_see_each_other_then_the_sentences_and_point() -> None:
    """NAON's decoder, written out for one document after the other."""
    model = decoder("positions")
    parts = paragraphs([5, 2])
    tables = model.table(*batch(parts))
    width = model.config.width
    for part, table in zip(parts, tables, strict=True):
        rates = [10000 ** (-2 * (number // 2) / width) for number in range(width)]
        codes = [
            [(math.cos if number % 2 else math.sin)(place * rates[number]) for number in range(width)]
            for place in range(len(part))
        ]
        rows = model.place(torch.tensor(codes, dtype=torch.float64))
        sentences = model.read(part.sentences)
        (block,) = model.places.blocks
        rows = block.norms[0](rows + slow_attention(block.own, rows, rows))
        rows = block.norms[1](rows + slow_attention(block.seen, rows, sentences))
        rows = block.norms[2](rows + block.feed(rows))
        for place, row in enumerate(rows):
            for number, sentence in enumerate(part.encoded):
                score = model.score(torch.tanh(model.query(row) + model.key(sentence)))[0]
                torch.testing.assert_close(table[place, number], score)


def test_missing_topics_are_named() -> None:
    model = decoder("topical-pointer")
    states, graph = batch(paragraphs([3]))
    for topics, found in ((None, "got none"), (torch.zeros(3, 7), "got 7")):
        bare = replace(states, encoded=replace(states.encoded, topics=topics))
        with pytest.raises(ConfigError, match=found):
            model.search(bare, graph, Search())


def test_topics_change_the_order_of_nothing_but_the_match() -> None:
    model = decoder("topical-pointer")
    states, graph = batch(paragraphs([4]))
    gold = Gold.of(random_orders([4]))
    other = replace(states, encoded=replace(states.encoded, topics=states.encoded.topics.flip(0)))
    assert not torch.allclose(model.transitions(states, graph, gold), model.transitions(other, graph, gold))
    model.match.weight.data.zero_()
    torch.testing.assert_close(model.transitions(states, graph, gold), model.transitions(other, graph, gold))


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ConfigError, match="heads: 3 do not divide the width 8"):
        decoders.build(TransformerPointerConfig(width=8, heads=3), width=WIDTH, encoded_width=ENCODED)


def test_there_are_only_so_many_markers() -> None:
    config = MarkersConfig(markers=3, width=8, heads=2)
    model = decoders.build(config, width=WIDTH, encoded_width=ENCODED).double()  # type: ignore[attr-defined]
    with pytest.raises(DataError, match="4 sentences, but there are 3 markers"):
        model.search(*batch(paragraphs([2, 4])), Search())


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("bart")
    torch.manual_seed(0)
    config = transformers.BartConfig(
        vocab_size=20, d_model=8, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=32,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2,
    )  # fmt: skip
    transformers.BartForConditionalGeneration(config).save_pretrained(folder)
    return folder


def test_a_pretrained_decoder_writes_markers(bart: Path) -> None:
    config = MarkersConfig(source=str(bart))
    torch.manual_seed(0)
    model = decoders.build(config, width=WIDTH, encoded_width=ENCODED).double().eval()  # type: ignore[attr-defined]
    parts = paragraphs([4, 2, 1])
    states, graph = batch(parts)
    found = model.search(states, graph, Search(beam=24, keep=24))
    assert [len(some.orders) for some in found] == [24, 2, 1]
    for order, value in list(zip(found[0].orders, found[0].log_probabilities, strict=True))[:5]:
        assert float(model.transitions(*batch(parts[:1]), Gold.of([list(order)])).sum().detach()) == pytest.approx(
            value, abs=1e-6
        )
    model.loss(states, graph, Gold.of(random_orders([4, 2, 1]))).backward()
    assert [name for name, weight in model.named_parameters() if weight.grad is None] == []


def test_a_model_folder_needs_no_source(bart: Path) -> None:
    config = MarkersConfig(source=str(bart))
    first = decoders.build(config, width=WIDTH, encoded_width=ENCODED)
    kept = config.detached()
    assert kept.source == ""
    second = decoders.build(decoders.read(decoders.write(kept)), width=WIDTH, encoded_width=ENCODED)
    second.load_state_dict(first.state_dict())  # type: ignore[attr-defined]


def test_sources_that_cannot_serve_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"config\.json: it is missing"):
        decoders.build(MarkersConfig(source=str(tmp_path)), width=WIDTH, encoded_width=ENCODED)
    with pytest.raises(ConfigError, match=r"decoder\.architecture: kind 'bert' cannot be used"):
        decoders.build(MarkersConfig(architecture={"model_type": "bert"}), width=WIDTH, encoded_width=ENCODED)
