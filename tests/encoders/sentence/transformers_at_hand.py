"""Every kind of encoder on a pretrained transformer, on a tiny one."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel

from tests.encoders.made_up import WORDS, corpus
from unshuffle.encoders.contracts import sentence_encoders
from unshuffle.encoders.pretrained.bert import Bert
from unshuffle.encoders.sentence.transformer import TransformerConfig
from unshuffle.encoders.sentence.transformer_joined import TransformerJoinedConfig
from unshuffle.encoders.sentence.transformer_pair import TransformerPairConfig
from unshuffle.encoders.sentence.transformer_set import TransformerSetConfig
from unshuffle.graph.batch import Batch
from unshuffle.graph.prepare import Item

ITEMS = corpus(pieces=True)
CONFIGS = {
    "mean": TransformerConfig(),
    "first": TransformerConfig(pooling="first"),
    "small chunks": TransformerConfig(chunk_tokens=12),
    "pair attention": TransformerPairConfig(longest=12),
    "pair mean": TransformerPairConfig(sentences="mean", chunk_tokens=40),
    "pair alone": TransformerPairConfig(sentences="alone"),
    "set": TransformerSetConfig(alone=1),
    "set from the start": TransformerSetConfig(alone=0, chunk_tokens=40, between_bias=0.5),
    "joined": TransformerJoinedConfig(),
    "joined in windows": TransformerJoinedConfig(longest=12, alternate=False),
    "joined marks": TransformerJoinedConfig(pooling="first"),
}


def built(config: Any, source: str) -> Any:
    torch.manual_seed(0)
    options = {**sentence_encoders.write(config), "source": source}
    encoder = sentence_encoders.build(sentence_encoders.read(options), words=WORDS)
    assert isinstance(encoder, nn.Module)
    return encoder.eval()


def states_of(encoder: Any, ids: list[int], segments: list[int] | None = None) -> Tensor:
    """What the transformer says of one sequence, called as its makers do; BERT is the library's own."""
    arguments = {} if segments is None else {"token_type_ids": torch.tensor([segments])}
    model = encoder.pieces.model
    if isinstance(model, Bert):
        model = AutoModel.from_pretrained(encoder.config.source).eval()
    states: Tensor = model(input_ids=torch.tensor([ids]), **arguments).last_hidden_state[0]
    return states


def texts(items: list[Item]) -> list[list[int]]:
    return [words.tolist() for item in items for words in item.words]


def entities_by_hand(batch: Batch, pieces_of: Any) -> Tensor:
    """`pieces_of(sentence, flat word)`: the vectors of a piece of a mention, as many as there are."""
    rows = []
    for entity in range(batch.graph.entities):
        means = []
        for mention, (owner, sentence) in enumerate(batch.graph.mentions.T.tolist()):
            words = [int(word) for number, word in batch.spans.T.tolist() if number == mention]
            found = [vector for word in words for vector in pieces_of(sentence, word)]
            if owner == entity and found:
                means.append(torch.stack(found).mean(0))
        rows.append(torch.stack(means).mean(0) if means else torch.zeros(8))
    return torch.stack(rows)
