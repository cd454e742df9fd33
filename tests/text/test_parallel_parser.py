"""Parsing in several processes, against one."""

from pathlib import Path

import pytest

from tests.fixtures.documents import random_documents
from unshuffle.errors import UnshuffleError
from unshuffle.text import parallel_parser
from unshuffle.text.mentions import load_parser
from unshuffle.text.parallel_parser import ParallelParser
from unshuffle.text.parse_cache import CachedParser

SENTENCES = [sentence for document in random_documents(12, seed=5) for sentence in document.sentences]


def test_two_processes_find_what_one_does_in_the_same_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_parser, "SHARE", 7)
    plain = load_parser("default")
    both = ParallelParser("default", 2)
    assert (both.name, both.fingerprint) == (plain.name, plain.fingerprint)
    found = list(both.nouns(SENTENCES))
    assert found == list(plain.nouns(SENTENCES))
    assert any(found)

    cached = CachedParser(plain, tmp_path)
    distinct = list(dict.fromkeys(SENTENCES))
    assert cached.missing(SENTENCES) == distinct
    cached.keep(distinct, list(plain.nouns(distinct)))
    assert cached.missing(SENTENCES) == []
    assert list(cached.nouns(SENTENCES)) == found


def test_nothing_to_parse_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_parser, "_begin", None)
    assert list(ParallelParser("default", 2).nouns([])) == []


def test_a_process_that_dies_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = ParallelParser("default", 1)
    monkeypatch.setattr(ParallelParser, "name", "gone")  # the process cannot load it
    with pytest.raises(UnshuffleError, match="parsing: a process died"):
        list(parser.nouns(SENTENCES[:3]))
