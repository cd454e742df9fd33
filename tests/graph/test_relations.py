"""Which entities are related."""

from pathlib import Path

import numpy as np
import pytest

from tests.fixtures.documents import NOUNS, write_vectors
from unshuffle.errors import ConfigError, DataError
from unshuffle.graph.build import GraphConfig
from unshuffle.graph.prepare import relatedness_of
from unshuffle.graph.relations import FileRelatedness, VectorRelatedness
from unshuffle.text.vectors import load_vectors


def test_words_whose_vectors_are_near_are_related(tmp_path: Path) -> None:
    vectors = load_vectors(write_vectors(tmp_path / "vectors.txt"))
    words = [*NOUNS[:6], "unheard-of"]
    found = VectorRelatedness(vectors, 0.5)(words)
    matrix = vectors.matrix[:6].astype(np.float64)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    cosine = matrix @ matrix.T
    expected = {(i, j): cosine[i, j] for i in range(6) for j in range(i + 1, 6) if cosine[i, j] >= 0.5}
    assert {tuple(pair) for pair in found.pairs.T.tolist()} == set(expected) != set()
    np.testing.assert_allclose(found.similarity, list(expected.values()), atol=1e-3)


def test_a_file_of_pairs_is_read_either_way_round(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("box\tkey\t0.75\n\nriver\tboat\t0.4\n", encoding="utf-8")
    relatedness = relatedness_of(GraphConfig(relations="file", relation_file=str(file)), "default")
    assert relatedness is not None
    for words in (("box", "key"), ("key", "box")):
        found = relatedness(words)
        assert found.pairs.tolist() == [[0], [1]] and found.similarity.tolist() == [0.75]
    assert not relatedness(("boat", "river")).pairs.size
    assert relatedness_of(GraphConfig(), "default") is None


@pytest.mark.parametrize("content", [b"box\tkey\n", b"box\tkey\tnear\n", b"box\tkey\tnan\n", b"\xff\xfe\n"])
def test_a_bad_file_is_one_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"pairs\.tsv") as error:
        FileRelatedness.read(file, 0.5)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent\.tsv: it cannot be read"):
        FileRelatedness.read(tmp_path / "absent.tsv", 0.5)
    with pytest.raises(ConfigError, match=r"graph\.relation_file"):
        relatedness_of(GraphConfig(relations="file"), "default")
