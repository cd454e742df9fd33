"""Documents made ready for training."""

from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.documents import random_documents
from unshuffle.text.document import Document
from unshuffle.training import corpus

BARE = tuple(Document(document.sentences) for document in random_documents(6, seed=8))


@pytest.mark.parametrize("dies_after", [0, 5, None])
def test_many_sentences_are_parsed_elsewhere_and_what_is_left_undone_here(
    dies_after: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = corpus.parsed(BARE, "default", tmp_path / "alone")
    elsewhere: list[str] = []

    def nouns(name: str, sentences: list[str], processes: int) -> Iterator[Any]:
        for number, row in enumerate(corpus.load_parser(name).nouns(sentences)):
            if number == dies_after:
                raise BrokenProcessPool
            elsewhere.append(sentences[number])
            yield row

    monkeypatch.setattr(corpus, "MANY", 3)
    monkeypatch.setattr(corpus, "idle_processors", lambda: 2)
    monkeypatch.setattr(corpus, "parallel_nouns", nouns)
    assert corpus.parsed(BARE, "default", tmp_path / "shared") == expected
    distinct = {sentence for document in BARE for sentence in document.sentences}
    assert len(elsewhere) == (len(distinct) if dies_after is None else dies_after)
