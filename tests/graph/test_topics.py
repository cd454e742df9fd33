"""Topics of sentences."""

from pathlib import Path

import numpy as np
import pytest

from unshuffle.errors import ConfigError, DataError
from unshuffle.graph.topics import LDAConfig, LDATopics, _words

pytest.importorskip("sklearn")


def sentences_about(words: str) -> list[str]:
    draw = np.random.default_rng(0)
    return [" ".join(draw.choice(words.split(), 6)) for _ in range(60)]


SEA = sentences_about("whale wave storm sailor harbour mast anchor fish")
KITCHEN = sentences_about("bread flour butter dough oven sugar spoon yeast")
CONFIG = LDAConfig(topics=2, minimum_count=2, most_common=0.5, passes=20)


@pytest.fixture(scope="module")
def topics() -> LDATopics:
    return LDATopics.fit([*SEA, *KITCHEN], CONFIG)


def test_each_sentence_has_a_distribution(topics: LDATopics) -> None:
    found = topics.of([*SEA, *KITCHEN, "qqq 12"])
    assert found.shape == (121, 2) and found.dtype == np.float32
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(found[120], 0.5)  # nothing known, nothing said


def test_sentences_of_a_kind_share_a_topic(topics: LDATopics) -> None:
    found = topics.of([*SEA, *KITCHEN]).argmax(1)
    assert len(set(found[:60])) == len(set(found[60:])) == 1
    assert found[0] != found[60]


def test_inference_is_that_of_the_library_that_learns() -> None:
    from scipy.sparse import csr_matrix
    from sklearn.decomposition import LatentDirichletAllocation

    sentences = [*SEA, *KITCHEN]
    topics = LDATopics.fit(sentences, CONFIG)
    rows = {word: row for row, word in enumerate(topics.words)}
    counts = np.zeros((len(sentences), len(rows)))
    for number, sentence in enumerate(sentences):
        for word in _words(sentence):
            if word in rows:
                counts[number, rows[word]] += 1
    learner = LatentDirichletAllocation(2, learning_method="online", max_iter=20, random_state=0)
    expected = learner.fit(csr_matrix(counts)).transform(csr_matrix(counts))
    np.testing.assert_allclose(topics.of(sentences), expected, atol=1e-4)


def test_saved_topics_are_read_back_alike(topics: LDATopics, tmp_path: Path) -> None:
    topics.save(tmp_path / "topics")
    assert {path.suffix for path in (tmp_path / "topics").iterdir()} == {".json", ".safetensors"}
    np.testing.assert_array_equal(LDATopics.load(tmp_path / "topics").of(SEA), topics.of(SEA))


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="model folder"):
        LDATopics.load(tmp_path)
    with pytest.raises(DataError, match="minimum_count"):
        LDATopics.fit(["one short text"], LDAConfig())
