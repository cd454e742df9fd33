"""The decoder of a pretrained encoder-decoder, to write markers instead of words."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unshuffle.decode.search.beam import Prefix
from unshuffle.decode.search.given_orders import GivenOrders
from unshuffle.encoders.pretrained.loading import NOT_ARCHITECTURE
from unshuffle.errors import ConfigError, MissingExtra

MODEL_TYPES = frozenset({"bart", "mbart", "blenderbot-small", "pegasus"})
"""Encoder-decoders whose decoder takes vectors as inputs and knows its places itself."""


def architecture_of(source: str) -> dict[str, Any]:
    """What a folder's configuration says of the model, without where it has been."""
    path = Path(source) / "config.json"
    try:
        described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ConfigError(f"decoder.source: '{path}' cannot be read. Give a folder saved by transformers.") from None
    return {name: value for name, value in described.items() if name not in NOT_ARCHITECTURE}


def load_decoder(source: str, architecture: dict[str, Any]) -> tuple[nn.Module, int]:
    """The decoder and its width, with the source's weights where there is one."""
    try:
        transformers = import_module("transformers")
    except ModuleNotFoundError:
        raise MissingExtra("A pretrained decoder", "bert") from None
    options = {name: value for name, value in architecture.items() if name not in NOT_ARCHITECTURE}
    kind = options.pop("model_type", "")
    if kind not in MODEL_TYPES:
        known = ", ".join(sorted(MODEL_TYPES))
        raise ConfigError(f"decoder.architecture: kind '{kind}' cannot write markers. Known: {known}.")
    config = transformers.AutoConfig.for_model(kind, **options)
    if source:
        try:
            model = transformers.AutoModel.from_pretrained(
                source,
                config=config,
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
            )
        except (OSError, ValueError, RuntimeError) as error:
            line = str(error).strip().partition("\n")[0].rstrip(".")
            raise ConfigError(
                f"decoder.source: '{source}' has no weights that fit ({line}). "
                "Give a folder with config.json and model.safetensors."
            ) from None
    else:
        model = transformers.AutoModel.from_config(config, trust_remote_code=False)
    decoder = model.get_decoder()
    decoder.embed_tokens = None  # words are neither read nor written
    return decoder, int(config.d_model)


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

    def logits(self, carry: None, prefix: Prefix) -> Tensor:
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
