"""What the adapters to retrieval libraries share."""

from types import SimpleNamespace
from typing import Any

import pytest

from unshuffle.errors import ConfigError, DataError
from unshuffle.integrations.chunks import ChunkOrderer, ChunkSettings
from unshuffle.rank.constraints import Constraints
from unshuffle.system.orderer import Orderer


def test_options_reach_the_orderer_as_they_are(
    model: str, sentences: list[str], expected: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []

    def order(self: Orderer, texts: list[str], **options: Any) -> SimpleNamespace:
        seen.append(options)
        return SimpleNamespace(order=expected)

    monkeypatch.setattr(Orderer, "order", order)
    given: Any = {"beam": 3, "judge": compare, "questions": 5}
    found = ChunkOrderer(ChunkSettings(model=model, options=given)).order(sentences, [{}] * 4)
    assert found == list(expected) and seen == [given]


def compare(first: str, second: str) -> float:
    return 0.5


def test_chunks_of_one_source_keep_the_order_in_which_they_come(model: str, sentences: list[str]) -> None:
    chunks = ChunkOrderer(ChunkSettings(model=model, source_key="file"))
    for pattern in ("abab", "aabb", "abba"):
        order = chunks.order(sentences, [{"file": name} for name in pattern])
        for name in "ab":
            own = [place for place in order if pattern[place] == name]
            assert own == sorted(own)
    assert chunks.order(sentences, [{"file": "a"}] * 4) == [0, 1, 2, 3]


def test_or_the_order_of_their_positions(model: str, sentences: list[str]) -> None:
    chunks = ChunkOrderer(ChunkSettings(model=model, source_key="file", position_key="page"))
    metadata = [{"file": "a", "page": page} for page in (3, 1, 4, 2)]
    assert chunks.order(sentences, metadata) == [1, 3, 0, 2]
    two = [{"file": "a", "page": 2}, {"file": "b", "page": 9}, {"file": "a", "page": 1}, {"file": "b", "page": 8}]
    order = chunks.order(sentences, two)
    assert order.index(2) < order.index(0) and order.index(3) < order.index(1)


def test_chunks_without_source_are_free(model: str, sentences: list[str], expected: tuple[int, ...]) -> None:
    by_source = ChunkOrderer(ChunkSettings(model=model, source_key="file"))
    assert by_source.order(sentences, [{}, None, {"other": 1}, {"file": None}]) == list(expected)
    by_position = ChunkOrderer(ChunkSettings(model=model, source_key="file", position_key="page"))
    assert by_position.order(sentences, [{"file": "a"}] * 4) == list(expected)


def test_chunks_without_text_come_last(model: str, sentences: list[str], expected: tuple[int, ...]) -> None:
    chunks = ChunkOrderer(ChunkSettings(model=model))
    order = chunks.order(["", *sentences, None, " "], [None] * 7)
    assert order == [*(place + 1 for place in expected), 0, 5, 6]
    assert chunks.order([], []) == [] and chunks.order([""], [{}]) == [0] and chunks.order(["a"], [{}]) == [0]


def test_settings_that_contradict_each_other_are_refused(model: str, sentences: list[str]) -> None:
    with pytest.raises(ConfigError, match="source_key as well"):
        ChunkSettings(position_key="page")
    with pytest.raises(ConfigError, match="not both"):
        ChunkSettings(source_key="file", options={"constraints": Constraints(before=[(0, 1)])})
    mixed = ChunkOrderer(ChunkSettings(model=model, source_key="file", position_key="page"))
    with pytest.raises(DataError, match="several types"):
        mixed.order(sentences, [{"file": "a", "page": page} for page in (1, "two", 3, 4)])


def test_constraints_mean_the_chunks_as_they_were_given(model: str, sentences: list[str]) -> None:
    texts = ["", *sentences[:2], " ", *sentences[2:]]

    def order(**known: Any) -> list[int]:
        return ChunkOrderer(ChunkSettings(model=model, options={"constraints": Constraints(**known)})).order(
            texts, [{}] * len(texts)
        )

    for chunk in (1, 2, 4, 5):
        assert order(fixed=[(0, chunk)])[0] == chunk
        assert order(fixed=[(3, chunk), (1, 0)])[3] == chunk
    for first, second in ((1, 5), (5, 1), (4, 2), (2, 4)):
        found = order(before=[(first, second), (0, first), (second, 3)])
        assert found.index(first) < found.index(second) and found[4:] == [0, 3]
    assert order(within_source=["b", "a", "a", "a", "a", "a"]) == [1, 2, 4, 5, 0, 3]
    with pytest.raises(ConfigError, match="4 sentences"):
        order(before=[(6, 1)])
