"""The transformer that reads a document as one sequence."""

import pytest
import torch
from torch import Tensor

from tests.encoders.made_up import CLOSE, close, collated
from tests.encoders.sentence.transformers_at_hand import CONFIGS, ITEMS, built, entities_by_hand, states_of


@pytest.mark.parametrize("name", ["joined", "joined in windows", "joined marks"])
def test_joined_sentences_are_one_sequence_with_a_mark_before_each(name: str, bert: str) -> None:
    encoder, batch = built(CONFIGS[name], bert), collated(ITEMS)
    longest = encoder.longest
    assert longest == (12 if name == "joined in windows" else 32)
    vectors, seen = [], []
    for document in ITEMS:
        windows: list[list[tuple[int, list[int]]]] = []
        for place, words in enumerate(document.words):
            kept = words.tolist()[:-1][: longest - 1]
            if not windows or sum(len(ids) for _, ids in windows[-1]) + len(kept) > longest - 1:
                windows.append([])
            windows[-1].append((place % 2, kept))
        for window in windows:
            ids = [word for _, kept in window for word in kept] + [CLOSE]
            segments = [segment for segment, kept in window for _ in kept]
            segments = [*segments, segments[-1]] if longest == 32 else [0] * len(ids)
            states = states_of(encoder, ids, segments)
            first = 0
            for _, kept in window:
                own = states[first : first + len(kept)]
                vectors.append(own[0] if name == "joined marks" or len(kept) == 1 else own[1:].mean(0))
                seen.append(own)
                first += len(kept)
    encoded = encoder(batch)
    close(encoded.sentences, torch.stack(vectors))
    start = batch.tokens.lengths.cumsum(0) - batch.tokens.lengths

    def pieces_of(sentence: int, word: int) -> list[Tensor]:
        return [seen[sentence][word - int(start[batch.tokens.distinct[sentence]])]]

    close(encoded.entities, entities_by_hand(batch, pieces_of))
