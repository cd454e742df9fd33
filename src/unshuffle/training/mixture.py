"""Documents of several kinds in fixed shares; long texts are cut into windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt

from unshuffle.errors import ConfigError, DataError
from unshuffle.registry import did_you_mean
from unshuffle.seeds import derived
from unshuffle.text.document import Document
from unshuffle.text.readers.read import read_documents


@dataclass(frozen=True, kw_only=True)
class Source:
    """One kind of text."""

    name: str
    train: tuple[str, ...]
    """Files below the data folder."""
    valid: tuple[str, ...]
    test: tuple[str, ...] = ()
    share: Annotated[float, Gt(0)]
    """Share of the training documents."""
    windows: bool = False
    """Whether its texts are long, so that each gives windows."""


@dataclass(frozen=True, kw_only=True)
class MixtureConfig:
    """What a model for many kinds of text is trained on."""

    sources: tuple[Source, ...]
    documents: Annotated[int, Ge(1)] = 16_000
    """Training documents in all."""
    shortest: Annotated[int, Ge(2)] = 3
    longest: Annotated[int, Ge(2)] = 20
    usual: Annotated[int, Ge(2)] = 10
    """Most windows are at most this long."""
    valid_documents: Annotated[int, Ge(1)] = 100
    """Validation documents of each source."""


def reshared(config: MixtureConfig, shares: Mapping[str, float]) -> MixtureConfig:
    """The same sources, some of them with another share."""
    names = [source.name for source in config.sources]
    for name, share in shares.items():
        if name not in names:
            raise ConfigError(f"shares: there is no source '{name}'.{did_you_mean(name, names)}")
        if share <= 0:
            raise ConfigError(f"shares.{name}: {share} is too little. Give a number above 0.")
    sources = tuple(replace(source, share=shares.get(source.name, source.share)) for source in config.sources)
    return replace(config, sources=sources)


def training_documents(config: MixtureConfig, folder: Path, seed: int) -> tuple[Document, ...]:
    """Each source's share, windows drawn anew at every visit of a text; shuffled over sources."""
    total = sum(source.share for source in config.sources)
    chosen: list[Document] = []
    for source in config.sources:
        rng = np.random.default_rng(derived(seed, "mixture", source.name))
        wanted = round(config.documents * source.share / total)
        pool = [
            document
            for file in source.train
            for document in read_documents(folder / file)
            if len(document.sentences) >= config.shortest
        ]
        if wanted and not pool:
            raise DataError(f"{source.name}: no text of {config.shortest} sentences or more. Leave this source out.")
        chosen += _drawn(pool, source, config, wanted, rng)
    order = np.random.default_rng(derived(seed, "mixture")).permutation(len(chosen))
    return tuple(chosen[number] for number in order)


def _drawn(
    pool: Sequence[Document], source: Source, config: MixtureConfig, wanted: int, rng: np.random.Generator
) -> list[Document]:
    drawn: list[Document] = []
    while len(drawn) < wanted:
        for number in rng.permutation(len(pool)):
            document = pool[number]
            size = len(document.sentences)
            visits = max(1, round(size / config.usual)) if source.windows else 1
            drawn += [_window(document, source, config, rng) for _ in range(visits)]
            if len(drawn) >= wanted:
                break
    return drawn[:wanted]


def _window(document: Document, source: Source, config: MixtureConfig, rng: np.random.Generator) -> Document:
    size = len(document.sentences)
    if size <= config.usual and not source.windows:
        return document
    most = config.usual if rng.random() < 0.85 else config.longest
    if not source.windows:
        most = config.longest
        length = min(size, most)
    else:
        length = int(rng.integers(config.shortest, min(size, most) + 1))
    start = int(rng.integers(0, size - length + 1))
    return replace(document, sentences=document.sentences[start : start + length], id=f"{document.id}@{start}")


def windows_of(documents: Sequence[Document], length: int) -> Iterator[Document]:
    """Consecutive windows without overlap; what is left at the end is dropped."""
    for document in documents:
        for start in range(0, len(document.sentences) - length + 1, length):
            yield replace(
                document,
                sentences=document.sentences[start : start + length],
                mentions=None,
                id=f"{document.id}@{start}",
            )


def held_out(
    config: MixtureConfig, folder: Path, files: str, most: int | None = None
) -> dict[str, tuple[Document, ...]]:
    """Validation or test documents by source, of long texts windows of five sentences; `most` draws some of each."""
    found: dict[str, tuple[Document, ...]] = {}
    for source in config.sources:
        names = source.valid if files == "valid" else source.test
        documents = [document for file in names for document in read_documents(folder / file)]
        if source.windows:
            documents = list(windows_of(documents, 5))
        if documents:
            drawn = np.random.default_rng(derived(0, "held out", source.name)).permutation(len(documents))[:most]
            found[source.name] = tuple(documents[number] for number in sorted(drawn))
    return found
