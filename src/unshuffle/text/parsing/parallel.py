"""Parsing in several processes, for corpora: sentences are parsed on their own, so they may be shared out."""

from __future__ import annotations

import itertools
import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

from unshuffle.text.parsing.mentions import Noun, Parser, load_parser

SHARE = 512
"""Sentences that a process is given at a time."""
AHEAD = 3
"""Shares of each process that are read ahead."""

_parser: Parser | None = None  # of a process that parses


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
