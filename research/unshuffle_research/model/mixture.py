"""Documents of several kinds in fixed shares; of long texts excerpts are taken, beginnings and endings above all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le

from unshuffle.errors import ConfigError, DataError
from unshuffle.parts.registry import did_you_mean
from unshuffle.seeds import derived
from unshuffle.text.document import Document
from unshuffle.text.readers.read import read_documents

USUAL = 0.9
"""Share of excerpts that are of usual length at most."""
BEGINNINGS, ENDINGS = 0.4, 0.2
"""Shares of excerpts that open or close a text; the others are from anywhere."""
LEFT_OUT = 1 / 3
"""The most of a thinned text's sentences that are left out."""


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
    excerpts: bool = False
    """Whether its texts are long, so that each gives several excerpts."""


@dataclass(frozen=True, kw_only=True)
class MixtureConfig:
    """What a model for many kinds of text is trained on."""

    sources: tuple[Source, ...]
    documents: Annotated[int, Ge(1)] = 16_000
    """Training documents in all."""
    texts: Annotated[int, Ge(1)] | None = None
    """Draw from so many texts of each source only; a larger number takes in those of a smaller one."""
    shortest: Annotated[int, Ge(2)] = 3
    longest: Annotated[int, Ge(2)] = 30
    usual: Annotated[int, Ge(2)] = 12
    """Most excerpts are at most this long."""
    thinned: Annotated[float, Ge(0), Le(1)] = 0.0
    """Share of training documents of which some sentences are left out: a text that comes again is not the same."""
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
    """Each source's share, excerpts drawn again at every visit of a text; shuffled over sources."""
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
        if config.texts is not None:
            kept = np.random.default_rng(derived(0, "texts", source.name)).permutation(len(pool))[: config.texts]
            pool = [pool[number] for number in sorted(kept)]
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
            visits = max(1, round(len(document.sentences) / config.usual)) if source.excerpts else 1
            drawn += [thinned(excerpt(document, config, rng), config, rng) for _ in range(visits)]
            if len(drawn) >= wanted:
                break
    return drawn[:wanted]


def excerpt(document: Document, config: MixtureConfig, rng: np.random.Generator) -> Document:
    """A whole text of usual length; of a longer one its beginning, its ending or an excerpt from its middle.

    People paste whole short texts, so how texts open and close is to be learned as much as how they go on.
    """
    size = len(document.sentences)
    if size <= config.usual:
        return document
    most = config.usual if rng.random() < USUAL else config.longest
    length = int(rng.integers(config.shortest, min(size, most) + 1))
    where = rng.random()
    middle = int(rng.integers(0, size - length + 1))
    start = 0 if where < BEGINNINGS else size - length if where < BEGINNINGS + ENDINGS else middle
    sentences = document.sentences[start : start + length]
    return replace(document, sentences=sentences, mentions=None, id=f"{document.id}@{start}")


def thinned(document: Document, config: MixtureConfig, rng: np.random.Generator) -> Document:
    """The document, or now and then what is left of it without some of its sentences, in the same order."""
    size = len(document.sentences)
    most = min(int(size * LEFT_OUT), size - config.shortest)
    if most < 1 or not config.thinned or rng.random() >= config.thinned:
        return document
    gone = set(rng.permutation(size)[: rng.integers(1, most + 1)].tolist())
    sentences = tuple(text for number, text in enumerate(document.sentences) if number not in gone)
    return replace(document, sentences=sentences, mentions=None)


def held_out(
    config: MixtureConfig, folder: Path, files: str, most: int | None = None, excerpts: int = 1
) -> dict[str, tuple[Document, ...]]:
    """Validation or test documents by source, long ones as so many excerpts; `most` draws some of each."""
    found: dict[str, tuple[Document, ...]] = {}
    for source in config.sources:
        names = source.valid if files == "valid" else source.test
        rng = np.random.default_rng(derived(0, "held out", source.name))
        drawings = [
            excerpt(document, config, rng)
            for file in names
            for document in read_documents(folder / file)
            if len(document.sentences) >= config.shortest
            for _ in range(excerpts)
        ]
        documents = list({document.sentences: document for document in drawings}.values())
        if documents:
            drawn = rng.permutation(len(documents))[:most]
            found[source.name] = tuple(documents[number] for number in sorted(drawn))
    return found
