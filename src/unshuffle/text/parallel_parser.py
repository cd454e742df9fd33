"""A parser in several processes, for corpora: sentences are parsed on their own, so they may be shared out."""

from __future__ import annotations

import itertools
import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from unshuffle.errors import UnshuffleError
from unshuffle.text.document import Document
from unshuffle.text.mentions import Noun, Parser, fill_mentions, load_parser

SHARE = 512
"""Sentences that a process is given at a time."""
AHEAD = 3
"""Shares of each process that are read ahead."""

_parser: Parser | None = None  # of a process that parses


class ParallelParser:
    """Finds what the parser of that name finds; processes start with the first sentences and end with the last."""

    def __init__(self, name: str, processes: int) -> None:
        self._inner = load_parser(name, allow_path=True)
        self.processes = processes

    @property
    def name(self) -> str:
        """The name of the parser."""
        return self._inner.name

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the parser."""
        return self._inner.fingerprint

    def mentions(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with their mentions filled in; mentions that a document brings along are kept."""
        return fill_mentions(documents, self.nouns)

    def nouns(self, sentences: Iterable[str]) -> Iterator[tuple[Noun, ...]]:
        """The nouns of each sentence, in the order of the sentences."""
        rest = iter(sentences)
        shares = iter(lambda: list(itertools.islice(rest, SHARE)), [])
        # Not forked: a process that has used threads may fork one that waits for ever.
        pool = ProcessPoolExecutor(
            self.processes, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(self.name,)
        )
        waiting: deque[Future[list[tuple[Noun, ...]]]] = deque()
        try:
            for share in shares:
                waiting.append(pool.submit(_parse, share))
                if len(waiting) >= AHEAD * self.processes:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool:
            raise UnshuffleError("parsing: a process died, perhaps for want of memory. Use fewer processes.") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(name: str) -> None:
    global _parser
    _parser = load_parser(name, allow_path=True)


def _parse(sentences: list[str]) -> list[tuple[Noun, ...]]:
    assert _parser is not None
    return list(_parser.nouns(sentences))
