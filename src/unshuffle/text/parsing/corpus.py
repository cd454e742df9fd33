"""Parsing whole corpora: what was parsed once is kept on disk, the rest is shared out to several processes."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

from unshuffle.storage.cache import ContentCache
from unshuffle.text.document import Document, Role
from unshuffle.text.parsing.mentions import Noun, Parser, fill_mentions, load_parser

SHARE = 512
"""Sentences that a process is given at a time."""
AHEAD = 3
"""Shares of each process that are read ahead."""
_parser: Parser | None = None  # of a process that parses
CHUNK = 1_024
"""Sentences looked up at once; also what another process may have to wait for."""


def parallel_nouns(name: str, sentences: Iterable[str], processes: int) -> Iterator[tuple[Noun, ...]]:
    """What the parser of that name finds, in the order of the sentences; `BrokenProcessPool` where a process dies."""
    rest = iter(sentences)
    # Not forked: a process that has used threads may fork one that waits for ever.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(name,))
    waiting: deque[Future[list[tuple[Noun, ...]]]] = deque()
    try:
        while share := list(itertools.islice(rest, SHARE)):
            waiting.append(pool.submit(_parse, share))
            if len(waiting) >= AHEAD * processes:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(name: str) -> None:
    global _parser
    _parser = load_parser(name, allow_path=True)


def _parse(sentences: list[str]) -> list[tuple[Noun, ...]]:
    assert _parser is not None
    return list(_parser.nouns(sentences))


class CachedParser:
    """A parser that remembers sentences by content; the order and the document they stand in do not matter."""

    def __init__(self, parser: Parser, folder: str | os.PathLike[str]) -> None:
        self._parser = parser
        self._cache = ContentCache(folder, "parses", parser.fingerprint)

    @property
    def name(self) -> str:
        """The name of the parser inside."""
        return self._parser.name

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the parser inside."""
        return self._parser.fingerprint

    def nouns(self, sentences: Iterable[str]) -> Iterator[tuple[Noun, ...]]:
        """The nouns of each sentence, from disk where they are known."""
        rest = iter(sentences)
        while chunk := list(itertools.islice(rest, CHUNK)):
            keys = [self._key(sentence) for sentence in chunk]
            known = self._read(keys)
            missing = {key: sentence for key, sentence in zip(keys, chunk, strict=True) if key not in known}
            if missing:
                parsed = dict(zip(missing, self._parser.nouns(missing.values()), strict=True))
                self._write(parsed)
                known |= parsed
            yield from (known[key] for key in keys)

    def missing(self, sentences: Iterable[str]) -> list[str]:
        """Those that would have to be parsed, each once."""
        found: dict[bytes, str] = {}
        rest = iter(sentences)
        while chunk := list(itertools.islice(rest, CHUNK)):
            keys = [self._key(sentence) for sentence in chunk]
            known = self._read(keys)
            found |= {key: sentence for key, sentence in zip(keys, chunk, strict=True) if key not in known}
        return list(found.values())

    def keep(self, sentences: Iterable[str], nouns: Iterable[tuple[Noun, ...]]) -> None:
        """Remembers what the same parser has found elsewhere, such as in another process."""
        rows = zip(sentences, nouns, strict=True)
        while chunk := list(itertools.islice(rows, CHUNK)):
            self._write({self._key(sentence): found for sentence, found in chunk})

    def mentions(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with their mentions filled in; mentions that a document brings along are kept."""
        return fill_mentions(documents, self.nouns)

    def _key(self, sentence: str) -> bytes:
        text = f"{self._parser.fingerprint}\0{sentence}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16).digest()

    def _read(self, keys: list[bytes]) -> dict[bytes, tuple[Noun, ...]]:
        found = {}
        for key, text in self._cache.read(keys).items():
            with contextlib.suppress(ValueError, TypeError):  # a damaged row is parsed again
                found[key] = tuple(Noun(str(word), Role(role)) for word, role in json.loads(text))
        return found

    def _write(self, parsed: dict[bytes, tuple[Noun, ...]]) -> None:
        self._cache.write(
            {
                key: json.dumps([[noun.word, int(noun.role)] for noun in nouns], separators=(",", ":")).encode()
                for key, nouns in parsed.items()
            }
        )
