"""A pretrained transformer that reads two sentences, and the rest of the text if asked to, as a judge; needs torch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from annotated_types import Ge, Lt
from numpy.typing import NDArray
from torch import Tensor, nn

from unshuffle.encoders.pretrained.loading import PretrainedConfig
from unshuffle.encoders.pretrained.pieces import Pieces
from unshuffle.errors import ConfigError
from unshuffle.judge.contracts import Trust
from unshuffle.layers.dropout import Dropout
from unshuffle.machine import computing, device_of, usable_precision
from unshuffle.parts.registry import validated
from unshuffle.storage.files import FolderFiles, read_json, read_tensors, write_json, write_tensors, write_text
from unshuffle.text.tokens import Tokenizer

FORMAT, KIND = 1, "cross-encoder"
CONFIG, WEIGHTS, TOKENIZER, TRUST = "config.json", "model.safetensors", "tokenizer.json", "trust.json"
Words = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class CrossEncoderConfig(PretrainedConfig):
    """Which transformer reads the pairs, and how much it sees."""

    context: bool = True
    """Whether the other sentences of the text follow the two, in an order that says nothing."""
    longest: Annotated[int, Ge(8)] = 256
    """Word pieces read for a pair; the two sentences have at most half of them each."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    inner_dropout: Annotated[float, Ge(0), Lt(1)] | None = 0.0
    """None leaves the architecture's, with which a training step takes twice the time."""


class CrossEncoder(nn.Module):
    """[CLS] one [SEP] other [SEP] rest -> how much speaks for one before other."""

    def __init__(self, config: CrossEncoderConfig, *, words: int) -> None:
        super().__init__()
        self.config = config
        self.pieces = Pieces(config, words=words)
        self.dropout = Dropout(config.dropout)
        self.head = nn.Linear(self.pieces.width, 1)

    def forward(self, texts: Sequence[Sequence[Words]], pairs: Sequence[Sequence[tuple[int, int]]]) -> Tensor:
        """Pairs of each text -> (pairs,) log-odds that the first comes first; exchanging the two turns the sign."""
        rows = [
            self._row(words, *way)
            for words, asked in zip(texts, pairs, strict=True)
            for first, second in asked
            for way in ((first, second), (second, first))
        ]
        device = self.head.weight.device
        lengths = torch.tensor([len(ids) for ids, _ in rows], device=device)
        ids, segments = (torch.from_numpy(np.concatenate(part)).to(device) for part in zip(*rows, strict=True))
        opening = self.pieces.openings(ids, lengths, segments)  # (2 * pairs, width)
        logits: Tensor = self.head(self.dropout(opening)).view(-1, 2)
        return logits[:, 0] - logits[:, 1]

    def _row(self, words: Sequence[Words], first: int, second: int) -> tuple[Words, Words]:
        """Word pieces and segments of one sequence."""
        longest = min(self.config.longest, self.pieces.longest)
        half = (longest - self.pieces.separators) // 2
        between = words[first][-1:].repeat(self.pieces.separators - 1)
        one, other = (_cut(words[number], half) for number in (first, second))
        parts = [one, between, other[1:]]
        if self.config.context:
            parts += [rest[1:] for number, rest in enumerate(words) if number not in (first, second)]
        ids = np.concatenate(parts)[:longest]
        segments = np.zeros_like(ids)
        segments[len(one) + len(between) : len(one) + len(between) + len(other) - 1] = 1
        return ids, segments


class CrossEncoderJudge:
    """A trained cross-encoder with its tokenizer."""

    def __init__(self, model: CrossEncoder, tokenizer: Tokenizer, trust: Trust | None = None) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.trust = trust or Trust()
        self._device = device_of(model)
        # bfloat16 where it is faster: the odds change far less than they err.
        self._precision = usable_precision("auto", self._device)

    @torch.inference_mode()
    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
        """The chance of each pair."""
        words = [encoded.ids for encoded in self.tokenizer.encode(sentences)]
        with computing(self._device, self._precision):
            odds = self.model([words], [pairs])
        found: list[float] = odds.double().sigmoid().tolist()
        return found

    def save(self, folder: Path) -> None:
        """Each file is written whole; the description last, because a folder without it is no judge."""
        write_tensors(folder / WEIGHTS, self.model.state_dict())
        write_text(folder / TOKENIZER, self.tokenizer.json())
        write_json(folder / TRUST, self.trust.write())
        hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (WEIGHTS, TOKENIZER)}
        options = asdict(self.model.config.detached())
        write_json(folder / CONFIG, {"format": FORMAT, "kind": KIND, "judge": options, "sha256": hashes})

    @classmethod
    def load(cls, folder: Path, trust: Trust | None = None) -> CrossEncoderJudge:
        """From a folder that `save` has written, checked tensor by tensor."""
        files = FolderFiles(folder)
        described = read_json(folder / CONFIG, most=2**20, read=files.read)
        if not is_cross_encoder(described) or not isinstance(described.get("sha256"), dict):
            raise ConfigError(f"{folder}: not a judge of this program. Give a folder that `train-judge` has written.")
        config = validated("judge", CrossEncoderConfig, described["judge"])
        if config.source:  # it may be a module to import or a hub to ask
            raise ConfigError(f"{folder}/{CONFIG}: 'source' names weights elsewhere. Give a folder with its own.")
        files.hashes = {str(name): str(digest) for name, digest in described["sha256"].items()}
        tokenizer = Tokenizer.read(folder / TOKENIZER, config.longest, read=files.read)
        wanted = _planned(config, tokenizer.size, folder)
        most = 2**20 + 8 * sum(value.numel() for value in wanted.values())
        stored = read_tensors(folder / WEIGHTS, read=partial(files.read, most=most))
        if {name: value.shape for name, value in stored.items()} != {name: v.shape for name, v in wanted.items()}:
            raise ConfigError(f"{folder}/{WEIGHTS}: its tensors are not those of {CONFIG}. Copy the folder again.")
        with torch.random.fork_rng(devices=[]):  # what a fresh network draws is nobody else's business
            model = CrossEncoder(config, words=tokenizer.size)
        model.load_state_dict(stored)
        if trust is None and files.has(TRUST):
            trust = Trust.read(read_json(folder / TRUST, most=2**16, read=files.read), f"{folder}/{TRUST}")
        return cls(model, tokenizer, trust)


def _planned(config: CrossEncoderConfig, words: int, folder: Path) -> dict[str, Tensor]:
    """Names and shapes of the judge's tensors without their memory: a description may ask for any size."""
    try:
        with torch.device("meta"):
            return CrossEncoder(config, words=words).state_dict()
    except (AssertionError, RuntimeError, TypeError, ValueError, OverflowError, MemoryError) as error:
        reason = str(error)[:200] or type(error).__name__
        raise ConfigError(f"{folder}/{CONFIG}: no judge has these sizes ({reason}). Copy the folder again.") from None


def is_cross_encoder(described: object) -> bool:
    """Whether a config.json is that of such a judge."""
    return (
        isinstance(described, dict)
        and described.get("format") == FORMAT
        and described.get("kind") == KIND
        and isinstance(described.get("judge"), dict)
    )


def _cut(words: Words, most: int) -> Words:
    """The first pieces of a sentence and the mark at its end."""
    return words if len(words) <= most else np.concatenate([words[: most - 1], words[-1:]])
