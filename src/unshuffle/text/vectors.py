"""Word vectors: the shipped ones, or a file of the user's."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from unshuffle.errors import ConfigError, DataError
from unshuffle.storage.files import Read, write_text, write_whole

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

DEFAULT_VECTORS = Path(__file__).parent.parent / "data" / "vectors" / "glove.100d.npy"
"""GloVe 6B, 100 numbers a word, cut to the most frequent 40,000 words (recipes/vectors.py)."""


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """A vector a word, most frequent words first."""

    words: tuple[str, ...]
    matrix: NDArray[numpy.float16]
    """(words, width); read from disk as it is used where it comes from an `.npy` file."""
    _rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the words."""
        object.__setattr__(self, "_rows", {word: row for row, word in reversed(list(enumerate(self.words)))})

    @property
    def width(self) -> int:
        """Numbers a word."""
        return int(self.matrix.shape[1])

    def row(self, word: str) -> int | None:
        """The row of a word, as it is written; None for an unknown one."""
        return self._rows.get(word)

    def only(self, words: Iterable[str]) -> Vectors:
        """The same for some words, those without a vector left out."""
        rows = sorted({row for word in words if (row := self.row(word)) is not None})
        return Vectors(tuple(self.words[row] for row in rows), self.matrix[rows])

    def save(self, file: Path) -> None:
        """An `.npy` file and the words beside it, as `load_vectors` reads them."""
        import numpy

        def put(temporary: Path) -> None:
            with temporary.open("wb") as out:
                numpy.save(out, self.matrix, allow_pickle=False)

        write_whole(file, put)
        write_text(_words_beside(file), "".join(f"{word}\n" for word in self.words))

    def __contains__(self, word: object) -> bool:
        return word in self._rows

    def __len__(self) -> int:
        return len(self.words)


def load_vectors(
    source: str | os.PathLike[str] = "default", *, width: int | None = None, read: Read | None = None
) -> Vectors:
    """The shipped vectors ("default"), an `.npy` with its `.words.txt`, or text such as glove.6B.100d.txt[.gz].

    With a width, vectors of any other are refused. `read` gives the bytes of an `.npy` and its words.
    """
    file = DEFAULT_VECTORS if source == "default" else Path(source)
    if not file.is_file():
        raise ConfigError(f"{file}: there is no such file of vectors. Give an .npy or GloVe text file, or 'default'.")
    vectors = _read_matrix(file, read) if read or file.suffix == ".npy" else _read_text(file)
    if width is not None and vectors.width != width:
        raise ConfigError(f"{file.name}: its vectors have {vectors.width} numbers. The model needs {width}.")
    return vectors


def _read_matrix(file: Path, read: Read | None) -> Vectors:
    import numpy

    beside = _words_beside(file)
    try:
        if read is None:
            matrix = numpy.load(file, mmap_mode="r", allow_pickle=False)
        else:
            matrix = numpy.load(io.BytesIO(read(file)), allow_pickle=False)
        words = tuple((read or Path.read_bytes)(beside).decode("utf-8").split("\n"))
    except UnicodeDecodeError:
        raise DataError(f"{beside.name}: it is not UTF-8 text. Write one word a line.") from None
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{file.name}: vectors and words cannot be read ({error}). Give both files whole.") from None
    words = words[:-1] if words[-1] == "" else words
    if matrix.ndim != 2 or matrix.dtype.kind != "f" or matrix.shape[1] == 0:
        raise DataError(f"{file.name}: it is no table of numbers. Give an array of shape (words, width).")
    if len(words) != len(matrix):
        raise DataError(f"{beside.name}: it has {len(words)} words for {len(matrix)} vectors. Write one word a line.")
    return Vectors(words, matrix if matrix.dtype == numpy.float16 else matrix.astype(numpy.float16))


def _words_beside(file: Path) -> Path:
    return file.with_name(file.stem.removesuffix(".f16") + ".words.txt")


def _read_text(file: Path) -> Vectors:
    import numpy

    words: list[str] = []
    rows: list[NDArray[numpy.float16]] = []
    width = 0
    for number, line in _lines(file):
        where = f"{file.name} line {number}"
        fields = line.rstrip().split(" ")
        if number == 1 and len(fields) == 2 and all(part.isdigit() for part in fields):
            continue  # word2vec's text format begins with its sizes
        width = width or len(fields) - 1
        if width < 2 or len(fields) <= width:
            raise DataError(
                f"{where}: it has {len(fields) - 1} numbers, not {width or 100}. Give a file of GloVe vectors."
            )
        row = _numbers(where, fields[-width:])
        # Some published files have blanks inside a word.
        words.append(" ".join(fields[:-width]))
        rows.append(row)
    if not rows:
        raise DataError(f"{file.name}: there are no vectors in it. Give a file of GloVe vectors.")
    return Vectors(tuple(words), numpy.stack(rows))


def _numbers(where: str, fields: list[str]) -> Any:
    import numpy

    try:
        row = numpy.array([float(part) for part in fields])
    except ValueError:
        raise DataError(f"{where}: what follows the word is not all numbers. Give a file of GloVe vectors.") from None
    if not (numpy.abs(row) < numpy.finfo(numpy.float16).max).all():
        raise DataError(f"{where}: a number is too large or none at all. Give a file of GloVe vectors.")
    return row.astype(numpy.float16)


def _open(file: Path) -> IO[bytes]:
    if file.suffix == ".gz":
        return cast(IO[bytes], gzip.open(file))
    return lzma.open(file) if file.suffix == ".xz" else file.open("rb")


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with _open(file) as content:
            while raw := content.readline(1 << 20):
                number += 1
                if raw.strip():
                    yield number, raw.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{file.name} line {number}: it is not UTF-8 text. Give a file of GloVe vectors.") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{file.name} line {number}: it cannot be read on ({error}). Fetch the file again.") from None
