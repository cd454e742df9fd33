"""Add newly written texts to the data set of everyday texts.

`python -m unshuffle_research.model.everyday NEW.jsonl ...` checks each text (`kind` and `sentences`), leaves out what
repeats a text that is there already, says which openings and phrases recur, and splits what is left within each kind.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unshuffle.errors import DataError
from unshuffle.seeds import derived
from unshuffle.storage.files import write_whole
from unshuffle.text.readers.read import EVERYDAY

FEWEST, MOST = 4, 15
"""Sentences of a text."""
HELD_OUT = {"test": 0.08, "valid": 0.08}
"""Share of each kind that is not trained on, one text at least."""
PHRASE, SHARED = 8, 0.15
"""A text that has this share of its phrases of so many words in common with another repeats it."""
Row = dict[str, Any]


def read_rows(paths: Iterable[Path]) -> Iterator[Row]:
    """Texts as they were written, each checked."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            where = f"{path.name} line {number}"
            try:
                row = json.loads(line)
                kind, sentences = str(row["kind"]), [" ".join(str(text).split()) for text in row["sentences"]]
            except (ValueError, KeyError, TypeError):
                raise DataError(f'{where}: no text. Write {{"kind": "...", "sentences": ["...", "..."]}}.') from None
            if not FEWEST <= len(sentences) <= MOST or not all(sentences):
                raise DataError(f"{where}: {len(sentences)} sentences. Write {FEWEST} to {MOST}, none empty.")
            if len(set(sentences)) < len(sentences):
                raise DataError(f"{where}: it holds a sentence twice. Rewrite one of them.")
            yield {"kind": kind, "sentences": sentences}


def phrases(sentences: Sequence[str], size: int = PHRASE) -> set[str]:
    """All runs of so many words, in lower case."""
    words = " ".join(sentences).lower().split()
    return {" ".join(words[start : start + size]) for start in range(len(words) - size + 1)}


def unrepeated(rows: Iterable[Row], known: Iterable[Row]) -> list[Row]:
    """Those that share neither a sentence of some length nor many phrases with what is known or came before."""
    seen = {phrase for row in known for phrase in phrases(row["sentences"])}
    kept = []
    for row in rows:
        own = phrases(row["sentences"])
        if len(own & seen) < SHARED * max(1, len(own)):
            kept.append(row)
        seen |= own
    return kept


def split_by_kind(rows: Sequence[Row], batch: str) -> dict[str, list[Row]]:
    """Train, valid and test, drawn within each kind; ids tell kind and batch."""
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_kind[row["kind"]].append(row)
    found: dict[str, list[Row]] = {"train": [], "valid": [], "test": []}
    for kind, texts in sorted(by_kind.items()):
        drawn = np.random.default_rng(derived(0, "everyday", batch, kind)).permutation(len(texts))
        named = [{"id": f"everyday-{kind}-{batch}{number}", **texts[number]} for number in drawn]
        for split, share in HELD_OUT.items():
            size = max(1, round(share * len(texts)))
            found[split] += named[:size]
            named = named[size:]
        found["train"] += named
    return found


def recurring(rows: Sequence[Row]) -> list[str]:
    """Openings of four words and phrases of six that several of the texts have."""
    openings = Counter(" ".join(row["sentences"][0].lower().split()[:4]) for row in rows)
    runs = Counter(phrase for row in rows for phrase in phrases(row["sentences"], 6))
    found = [f"opening '{text}': {count} texts" for text, count in openings.most_common(20) if count > 2]
    return found + [f"phrase '{text}': {count} texts" for text, count in runs.most_common(20) if count > 2]


def main() -> None:
    """Reads the arguments."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--batch", required=True, help="one or two letters that tell these texts' ids from others")
    options.add_argument("--folder", type=Path, default=EVERYDAY)
    chosen = options.parse_args()
    present = {split: _stored(chosen.folder / f"{split}.jsonl.gz") for split in ("train", "valid", "test")}
    known = [row for rows in present.values() for row in rows]
    written = list(read_rows(chosen.files))
    kept = unrepeated(written, known)
    print(f"{len(written)} texts, {len(written) - len(kept)} of them repeat another one and are left out")
    print("\n".join(recurring(kept)))
    for split, rows in split_by_kind(kept, chosen.batch).items():
        _store(chosen.folder / f"{split}.jsonl.gz", [*present[split], *rows])
        print(f"{split}: {len(rows)} new texts, {len(present[split]) + len(rows)} in all")


def _stored(path: Path) -> list[Row]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def _store(path: Path, rows: Sequence[Row]) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

    def write(temporary: Path) -> None:
        temporary.write_bytes(gzip.compress(lines.encode(), mtime=0))

    write_whole(path, write)


if __name__ == "__main__":
    main()
