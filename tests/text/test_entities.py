from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.errors import ConfigError, DataError
from unshuffle.graph.build import EntityRule, EntityVocabulary, count_nouns, entities_of
from unshuffle.parts.registry import validated
from unshuffle.text.document import Document, Mention, Role

DOCUMENT = Document(
    ("s0", "s1", "s2"),
    (
        Mention("sun", 2, Role.SUBJECT),
        Mention("sun", 0, Role.OTHER),
        Mention("moon", 1, Role.OBJECT),
        Mention("air", 0, Role.OTHER),
        Mention("air", 1, Role.SUBJECT),
        Mention("air", 1, Role.OTHER),
    ),
    "sky",
)


def test_entities_stand_in_two_sentences_and_are_sorted() -> None:
    entities = entities_of(DOCUMENT, EntityRule())
    assert [entity.word for entity in entities] == ["air", "sun"]
    assert [(mention.sentence, mention.role) for mention in entities[0].mentions] == [
        (0, Role.OTHER),
        (1, Role.SUBJECT),
    ]
    assert [mention.sentence for mention in entities[1].mentions] == [0, 2]


def test_the_rule_and_the_vocabulary_choose() -> None:
    assert [entity.word for entity in entities_of(DOCUMENT, EntityRule(minimum_sentences=1))] == ["air", "moon", "sun"]
    only_sun = EntityVocabulary(frozenset({"sun"}))
    assert [entity.word for entity in entities_of(DOCUMENT, EntityRule(), only_sun)] == ["sun"]
    assert entities_of(DOCUMENT, EntityRule(minimum_sentences=3)) == ()


def test_counts_decide_the_vocabulary() -> None:
    documents = [Document(("s",) * 20, tuple(Mention("often", place, Role.OTHER) for place in range(20)))]
    documents.append(Document(("s",), (Mention("often", 0, Role.OTHER), Mention("once", 0, Role.OTHER))))
    counts = count_nouns(documents)
    assert counts == Counter(often=21, once=1)
    assert EntityVocabulary.from_counts(counts, EntityRule(minimum_count=21)).words == frozenset({"often"})
    assert EntityVocabulary.from_counts(counts, EntityRule(minimum_count=22)).words == frozenset()
    assert EntityVocabulary.from_counts(counts, EntityRule()).words is None


def test_unparsed_documents_are_refused() -> None:
    with pytest.raises(DataError, match="document 'x': its nouns are not known"):
        entities_of(Document(("s",), id="x"), EntityRule())
    with pytest.raises(DataError):
        count_nouns([Document(("s",))])


@pytest.mark.parametrize("options", [{"minimum_sentences": 0}, {"minimum_count": -1}, {"minimum_counts": 1}])
def test_wrong_options_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=r"entities\.minimum"):
        validated("entities", EntityRule, options)


@given(st.none() | st.frozensets(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1)))
def test_a_vocabulary_is_read_as_it_was_written(words: frozenset[str] | None) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "entities.txt"
        EntityVocabulary(words).write(file)
        assert EntityVocabulary.read(file).words == words
        assert [path.name for path in Path(folder).iterdir()] == ["entities.txt"]


def test_an_unreadable_vocabulary_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        EntityVocabulary.read(tmp_path / "entities.txt")
    (tmp_path / "entities.txt").write_bytes(b"\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        EntityVocabulary.read(tmp_path / "entities.txt")


@given(st.permutations(range(6)))
def test_the_order_of_mentions_does_not_matter(order: list[int]) -> None:
    assert DOCUMENT.mentions is not None
    shuffled = Document(DOCUMENT.sentences, tuple(DOCUMENT.mentions[place] for place in order))
    assert entities_of(shuffled, EntityRule()) == entities_of(DOCUMENT, EntityRule())
