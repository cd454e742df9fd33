from __future__ import annotations

import gzip
from pathlib import Path

import numpy
import pytest

from unshuffle.errors import ConfigError, DataError
from unshuffle.text.vectors import load_vectors


def test_the_shipped_vectors_know_common_words() -> None:
    vectors = load_vectors()
    assert len(vectors) == 40_000
    assert vectors.matrix.shape == (40_000, 100)
    assert vectors.matrix.dtype == numpy.float16
    assert all(word in vectors for word in ("the", "a", "i", "'s", "n't", "network", "dog"))
    assert vectors.row("The") is None

    def near(one: str, other: str) -> float:
        left, right = (numpy.asarray(vectors.matrix[vectors.row(word)], numpy.float32) for word in (one, other))
        return float(left @ right / numpy.linalg.norm(left) / numpy.linalg.norm(right))

    assert near("king", "queen") > near("king", "bread") + 0.2


def test_a_table_and_its_words_are_read_without_loading(tmp_path: Path) -> None:
    numpy.save(tmp_path / "small.npy", numpy.eye(3, dtype=numpy.float16))
    (tmp_path / "small.words.txt").write_text("a\nb\nc\n")
    vectors = load_vectors(tmp_path / "small.npy")
    assert isinstance(vectors.matrix, numpy.memmap)
    assert (vectors.words, vectors.row("c"), vectors.row("d"), vectors.width) == (("a", "b", "c"), 2, None, 3)


@pytest.mark.parametrize("packed", [False, True])
def test_glove_text_is_read(tmp_path: Path, packed: bool) -> None:
    text = "the 0.5 -1.25 3\n. . . 1 2 3\nné 4 5 6e-1\nthe 9 9 9\n".encode()
    file = tmp_path / ("glove.3d.txt.gz" if packed else "glove.3d.txt")
    file.write_bytes(gzip.compress(text) if packed else text)
    vectors = load_vectors(file, width=3)
    assert vectors.words == ("the", ". . .", "né", "the")
    assert vectors.row("the") == 0
    assert vectors.matrix[0].tolist() == [0.5, -1.25, 3.0]


def test_the_sizes_before_word2vec_text_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "w2v.txt"
    file.write_text("2 3\na 1 2 3\nb 4 5 6\n")
    assert load_vectors(file).words == ("a", "b")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "there are no vectors in it"),
        (b"a 1 2 3\nb 1 2\n", "line 2: it has 2 numbers, not 3"),
        (b"a 1 2 3\nb 1 x 3\n", "line 2: what follows the word is not all numbers"),
        (b"a 1 2 3\nb 1 nan 3\n", "line 2: a number is too large or none"),
        (b"a 1 2 1e9\n", "line 1: a number is too large or none"),
        (b"a 1 2 3\n\xff 1 2 3\n", "line 2: it is not UTF-8"),
        (b"just\nwords\n", "line 1: it has 0 numbers"),
    ],
)
def test_what_is_wrong_in_text_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "glove.txt"
    file.write_bytes(content)
    with pytest.raises(DataError, match=reason):
        load_vectors(file)


def test_what_is_wrong_in_a_table_is_named(tmp_path: Path) -> None:
    file = tmp_path / "small.npy"
    numpy.save(file, numpy.eye(3))
    with pytest.raises(DataError, match="cannot be read"):
        load_vectors(file)
    (tmp_path / "small.words.txt").write_text("a\nb\n")
    with pytest.raises(DataError, match="2 words for 3 vectors"):
        load_vectors(file)
    numpy.save(file, numpy.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read"):
        load_vectors(file)
    file.write_bytes(b"\x93NUMPY")
    with pytest.raises(DataError, match="cannot be read"):
        load_vectors(file)


def test_a_wrong_request_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file of vectors"):
        load_vectors(tmp_path / "missing.txt")
    with pytest.raises(ConfigError, match=r"have 100 numbers\. The model needs 300"):
        load_vectors(width=300)


def test_a_cut_off_packed_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "glove.txt.gz"
    file.write_bytes(gzip.compress(b"a 1 2 3\n" * 10_000)[:-20])
    with pytest.raises(DataError, match="it cannot be read on"):
        load_vectors(file)
