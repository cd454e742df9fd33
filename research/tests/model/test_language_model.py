"""The rival that takes the order whose text a language model finds most likely."""

from itertools import permutations
from types import SimpleNamespace

import pytest
import torch

pytest.importorskip("transformers", reason="needs the 'bert' extra")

from transformers import LlamaConfig, LlamaForCausalLM

from unshuffle.text.document import Document
from unshuffle_research.model.language_model import LikeliestOrder


class Letters:
    """A tokenizer with one piece per character."""

    bos_token_id = 1

    def __call__(self, text: str) -> SimpleNamespace:
        return SimpleNamespace(input_ids=[2 + ord(character) % 30 for character in text])


@pytest.fixture(scope="module")
def model() -> torch.nn.Module:
    torch.manual_seed(5)
    sizes = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
    config = LlamaConfig(**sizes, num_attention_heads=2, initializer_range=0.6)
    found: torch.nn.Module = LlamaForCausalLM(config).eval()
    return found


def likelihood(model: torch.nn.Module, sentences: list[str]) -> float:
    """The whole text read at once, nothing remembered."""
    ids = torch.tensor([[1, *(piece for sentence in sentences for piece in Letters()(f" {sentence}").input_ids)]])
    with torch.inference_mode():
        chances = model(ids).logits.log_softmax(-1)[0, :-1]
    return float(chances.gather(-1, ids[0, 1:, None]).sum())


def test_a_wide_beam_finds_the_likeliest_of_all_orders(model: torch.nn.Module) -> None:
    sentences = ["she ran", "a dog came by", "it barked twice", "then rain"]
    order = LikeliestOrder(model, Letters(), beam=30)(Document(id="one", sentences=tuple(sentences)))
    by_hand = {each: likelihood(model, [sentences[number] for number in each]) for each in permutations(range(4))}
    # Beginnings that differ in their middle only are one to the beam, so it may miss the best by a hair.
    assert by_hand[tuple(order)] >= sorted(by_hand.values())[-3]
    assert by_hand[tuple(order)] > sum(by_hand.values()) / len(by_hand)
