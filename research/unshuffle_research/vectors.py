"""Cut the shipped word vectors out of a larger file.

    python -m unshuffle_research.vectors --source glove.6B.100d.180k.f16.npy --out src/unshuffle/data/vectors

The source is anything `load_vectors` reads, the words most frequent first.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy

from unshuffle.text.vectors import load_vectors


def main() -> None:
    """Read the command line and write `glove.100d.npy` and `glove.100d.words.txt`."""
    say = argparse.ArgumentParser(description="Cut word vectors to the most frequent words.")
    say.add_argument("--source", type=Path, required=True, help="an .npy with its .words.txt, or GloVe's text")
    say.add_argument("--words", type=int, default=40_000)
    say.add_argument("--out", type=Path, required=True, help="folder to write to")
    options = say.parse_args()
    vectors = load_vectors(options.source, width=100)
    options.out.mkdir(parents=True, exist_ok=True)
    numpy.save(options.out / "glove.100d.npy", numpy.ascontiguousarray(vectors.matrix[: options.words]))
    text = "".join(f"{word}\n" for word in vectors.words[: options.words])
    (options.out / "glove.100d.words.txt").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
