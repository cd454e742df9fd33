"""Parsing in several processes, against one."""

from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from tests.fixtures.documents import random_documents
from unshuffle.text.parsing import corpus as parallel_parser
from unshuffle.text.parsing.corpus import CachedParser, parallel_nouns
from unshuffle.text.parsing.mentions import load_parser

SENTENCES = [sentence for document in random_documents(12, seed=5) for sentence in document.sentences]


def test_two_processes_find_what_one_does_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_parser, "SHARE", 7)
    found = list(parallel_nouns("default", SENTENCES, 2))
    assert found == list(load_parser("default").nouns(SENTENCES))
    assert any(found)


def test_what_was_found_elsewhere_need_not_be_parsed(tmp_path: Path) -> None:
    plain = load_parser("default")
    cached, distinct = CachedParser(plain, tmp_path), list(dict.fromkeys(SENTENCES))
    assert cached.missing(SENTENCES) == distinct
    cached.keep(distinct, plain.nouns(distinct))
    assert cached.missing(SENTENCES) == []
    assert list(cached.nouns(SENTENCES)) == list(plain.nouns(SENTENCES))


def test_a_process_that_cannot_load_the_parser_breaks_the_pool() -> None:
    with pytest.raises(BrokenProcessPool):
        list(parallel_nouns("gone", SENTENCES[:3], 1))
