from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from unshuffle.errors import ConfigError
from unshuffle.text.document import Document, Mention, Role
from unshuffle.text.parsing.corpus import CachedParser
from unshuffle.text.parsing.mentions import Noun, fill_mentions


class Counting:
    """Takes every word for a noun, and remembers what it was asked."""

    name = "counting"

    def __init__(self, fingerprint: str = "one") -> None:
        self.fingerprint = fingerprint
        self.asked: list[str] = []

    def nouns(self, sentences: Iterable[str]) -> Iterator[tuple[Noun, ...]]:
        for sentence in sentences:
            self.asked.append(sentence)
            yield tuple(Noun(word, Role.OBJECT) for word in sorted(set(sentence.split())))

    def mentions(self, documents: Iterable[Document]) -> Iterator[Document]:
        return fill_mentions(documents, self.nouns)


def test_a_sentence_is_parsed_once_wherever_it_stands(tmp_path: Path) -> None:
    documents = [Document(("a b", "c")), Document(("c", "a b", "d")), Document(("c", "c"))]
    straight = list(Counting().mentions(documents))
    inner = Counting()
    assert list(CachedParser(inner, tmp_path).mentions(documents)) == straight
    assert sorted(inner.asked) == ["a b", "c", "d"]
    again = Counting()
    cached = CachedParser(again, tmp_path)
    assert list(cached.mentions(reversed(documents))) == straight[::-1]
    assert again.asked == []
    assert (cached.name, cached.fingerprint) == ("counting", "one")
    assert straight[0].mentions == (
        Mention("a", 0, Role.OBJECT),
        Mention("b", 0, Role.OBJECT),
        Mention("c", 1, Role.OBJECT),
    )


def test_another_parser_does_not_see_these_parses(tmp_path: Path) -> None:
    list(CachedParser(Counting(), tmp_path).nouns(["a"]))
    other = Counting("two")
    list(CachedParser(other, tmp_path).nouns(["a"]))
    assert other.asked == ["a"]


def test_more_sentences_than_one_look_up_takes(tmp_path: Path) -> None:
    sentences = [f"w{number % 3000}" for number in range(5000)]
    inner = Counting()
    found = list(CachedParser(inner, tmp_path).nouns(sentences))
    assert [nouns[0].word for nouns in found] == sentences
    assert len(inner.asked) == 3000


@pytest.mark.parametrize("damage", ["garbage", "cut", "middle", "empty", "other table"])
def test_a_damaged_file_is_rebuilt(tmp_path: Path, damage: str) -> None:
    sentences = [f"word{number} and more" for number in range(500)]
    expected = list(CachedParser(Counting(), tmp_path).nouns(sentences))
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    if damage == "other table":
        file.unlink()
        with sqlite3.connect(file) as store:
            store.execute("CREATE TABLE parses (something TEXT)")
        store.close()
    else:
        half = len(content) // 2
        middle = content[:200] + b"\xff" * (len(content) - 400) + content[-200:]
        parts = {"garbage": b"no database " * 99, "cut": content[:half], "middle": middle, "empty": b""}
        file.write_bytes(parts[damage])
    assert list(CachedParser(Counting(), tmp_path).nouns(sentences)) == expected
    assert list(CachedParser(Counting(), tmp_path).nouns(sentences)) == expected
    last = Counting()
    assert list(CachedParser(last, tmp_path).nouns(sentences)) == expected
    if damage != "other table":
        assert last.asked == []


def test_damaged_rows_are_parsed_again(tmp_path: Path) -> None:
    list(CachedParser(Counting(), tmp_path).nouns(["a", "b", "c"]))
    (file,) = tmp_path.iterdir()
    store = sqlite3.connect(file)
    for wrong in ("{", '[["a", 9]]', "[3]"):
        with store:
            store.execute("UPDATE parses SET content = ?", (wrong,))
        inner = Counting()
        assert [nouns[0].word for nouns in CachedParser(inner, tmp_path).nouns(["a", "b", "c"])] == ["a", "b", "c"]
        assert len(inner.asked) == 3
    store.close()


def parse_many(folder: Path, start: int) -> None:
    cached = CachedParser(Counting(), folder)
    sentences = [f"w{number}" for number in range(start, start + 4000)]
    assert [nouns[0].word for nouns in cached.nouns(sentences)] == sentences


def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=parse_many, args=(tmp_path, start)) for start in (0, 2000)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    inner = Counting()
    list(CachedParser(inner, tmp_path).nouns(f"w{number}" for number in range(6000)))
    assert inner.asked == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="no folder for parses"):
        CachedParser(Counting(), tmp_path / "file" / "below")


def test_odd_letters_have_keys_too(tmp_path: Path) -> None:
    cached = CachedParser(Counting(), tmp_path)
    assert len(list(cached.nouns(["\ud800", "\0", ""]))) == 3
