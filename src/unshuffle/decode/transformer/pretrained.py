"""The decoder of a pretrained encoder-decoder, to write markers instead of words."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from unshuffle.decode.contracts import GivenOrders
from unshuffle.decode.search import TensorPrefix
from unshuffle.encoders.pretrained.checkpoint import architecture_of, built

SLOT = "decoder"

MODEL_TYPES = frozenset({"bart", "mbart", "blenderbot-small", "pegasus"})
"""Encoder-decoders whose decoder takes vectors as inputs and knows its positions itself."""
UNUSED = {"encoder_layers": 1, "encoder_attention_heads": 1, "encoder_ffn_dim": 1, "vocab_size": 4, "pad_token_id": 0}
"""Sizes of the encoder and the words that come with a decoder, and are dropped."""


def decoder_architecture(source: str) -> dict[str, Any]:
    """What a source's configuration says of an encoder-decoder."""
    return architecture_of(source, kinds=MODEL_TYPES, slot=SLOT)


def load_decoder(source: str, architecture: dict[str, Any]) -> tuple[nn.Module, int]:
    """The decoder and its width, with the source's weights where there is one."""
    model = built(source, architecture, kinds=MODEL_TYPES, slot=SLOT, unused=UNUSED)
    decoder = model.get_decoder()
    decoder.embed_tokens = None  # words are neither read nor written
    return decoder, int(model.config.d_model)


class PretrainedMemory:
    """A pretrained decoder's memory of a batch; it reads each partial order from its start at every step."""

    def __init__(
        self, decoder: nn.Module, *, start: Tensor, markers: Tensor, sentences: Tensor, present: Tensor
    ) -> None:
        self.decoder = decoder
        self.start = start  # (width,)
        self.markers = markers  # (longest, width)
        self.sentences = sentences  # (documents, longest, width)
        self.present = present  # (documents, longest)

    def begin(self) -> None:
        """Nothing is carried: a prefix says it all."""

    def advance(self, carry: None, parent: Tensor, document: Tensor, choice: Tensor) -> None:
        """Nothing is carried."""

    def logits(self, carry: None, prefix: TensorPrefix) -> Tensor:
        """(rows, longest)."""
        return self._read(prefix.chosen, prefix.document)[:, -1] @ self.markers.t()

    def follow(self, followed: GivenOrders) -> Tensor:
        """(sentences, longest) score of every marker at every choice of a given order."""
        documents, longest = self.present.shape
        order = followed.target.new_zeros(documents, longest)
        order[followed.document, followed.step] = followed.target
        read = self._read(order[:, :-1], torch.arange(documents, device=order.device))
        return read[followed.document, followed.step] @ self.markers.t()

    def _read(self, chosen: Tensor, document: Tensor) -> Tensor:
        """(rows, steps) -> (rows, steps + 1, width)."""
        start = self.start.expand(len(chosen), 1, -1)
        read: Tensor = self.decoder(
            inputs_embeds=torch.cat([start, self.markers[chosen]], 1),
            encoder_hidden_states=self.sentences[document],
            encoder_attention_mask=self.present[document].long(),
            use_cache=False,
        ).last_hidden_state
        return read
