"""The layouts in which the data sets are handed out, each read into documents by split."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from unshuffle.errors import DataError
from unshuffle.seeds import derived
from unshuffle.text.document import Document
from unshuffle.text.readers.read import read_documents
from unshuffle.text.readers.source import Source, document
from unshuffle.text.split import split_sentences
from unshuffle.training.corpus import NAMES, find_split
from unshuffle_research.experiments.datasets.preset import SPLITS, Format

Layout = Callable[[Path], dict[str, list[Document]]]
STORY_SENTENCES = 5


def format_of(source: Path) -> Format:
    """Which layout a folder or file has, by the names of its files."""
    names = [path.name.lower() for path in (source.iterdir() if source.is_dir() else [source]) if path.is_file()]
    if any(name.endswith("story-in-sequence.json") for name in names):
        return "vist"
    if any(name.split(".gz")[0].endswith(".lower") for name in names):
        return "lower"
    if any("metadata" in name and ".json" in name for name in names):
        return "abstracts"
    if any(name.endswith(".csv") for name in names):
        return "stories"
    if any(".jsonl" in name for name in names):
        return "jsonl"
    raise DataError(f"{source}: no file of it is known. See docs/experiments.md for the layouts that are read.")


def read_split_files(source: Path) -> dict[str, list[Document]]:
    """Files called train, valid (val, dev) and test, in any format that `unshuffle order` reads."""
    found = {}
    for split in SPLITS:
        file = find_split(source, split)
        if file is None:
            raise DataError(f"{source}: there is no {split} file. Name it {' or '.join(NAMES[split])}.")
        found[split] = list(read_documents(file))
    return found


def read_vist(source: Path) -> dict[str, list[Document]]:
    """VIST: annotations of one sentence each, put together by story and sorted by the position in it."""
    found = {}
    for split in SPLITS:
        files = [source / f"{name}.story-in-sequence.json" for name in NAMES[split]]
        file = next((file for file in files if file.is_file()), None)
        if file is None:
            raise DataError(f"{source}: there is no {files[0].name}. Unpack the SIS archive here.")
        found[split] = list(_stories_of(file))
    return found


def _stories_of(file: Path) -> Iterator[Document]:
    stories: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    try:
        for entry in json.loads(file.read_text(encoding="utf-8"))["annotations"]:
            row = entry[0]
            stories[str(row["story_id"])].append((int(row["worker_arranged_photo_order"]), str(row["original_text"])))
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise DataError(f"{file}: not a file of VIST stories ({error}). Take the SIS files.") from None
    for story, rows in stories.items():
        sentences = [" ".join(text.split()) for _, text in sorted(rows)]
        if len(sentences) == STORY_SENTENCES and all(sentences):
            yield document(f"{file.name} story {story}", sentences, story, story)


def read_stories(source: Path) -> dict[str, list[Document]]:
    """ROCStories: CSV with storyid, storytitle, sentence1 to sentence5; split 8:1:1."""
    documents = []
    for file in sorted(source.glob("*.csv")) if source.is_dir() else [source]:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            for number, row in enumerate(csv.DictReader(lines), 2):
                sentences = [row.get(f"sentence{position}") for position in range(1, STORY_SENTENCES + 1)]
                documents.append(document(f"{file.name} line {number}", sentences, row.get("storyid"), f"{number}"))
    return _eight_one_one(documents)


def read_abstracts(source: Path, *, shortest: int = 2, longest: int = 20) -> dict[str, list[Document]]:
    """The arXiv metadata: an object with id and abstract a line; sentences are split by rules, documents 8:1:1."""
    files = [source] if source.is_file() else sorted(file for file in source.iterdir() if "metadata" in file.name)
    documents = []
    for file in files:
        for line in Source(file.name, file).lines():
            try:
                record = json.loads(line.text)
                sentences = split_sentences(" ".join(str(record["abstract"]).split()))
            except (ValueError, KeyError, TypeError):
                raise DataError(f"{file.name} line {line.number}: expected an object with id and abstract.") from None
            if shortest <= len(sentences) <= longest:
                documents.append(document(f"{file.name} line {line.number}", sentences, record.get("id"), ""))
    return _eight_one_one(documents)


def _eight_one_one(documents: list[Document]) -> dict[str, list[Document]]:
    """A fixed random split, the same on every machine."""
    documents = sorted(documents, key=lambda document: document.id)
    order = np.random.default_rng(derived(1, "8:1:1")).permutation(len(documents))
    tenth = len(documents) // 10
    bounds = {"train": order[: len(order) - 2 * tenth], "valid": order[-2 * tenth : -tenth], "test": order[-tenth:]}
    if not tenth:
        raise DataError("prepare: there are fewer than ten documents. Give the whole data set.")
    return {split: [documents[number] for number in chosen] for split, chosen in bounds.items()}


LAYOUTS: dict[Format, Layout] = {
    "lower": read_split_files,
    "jsonl": read_split_files,
    "vist": read_vist,
    "stories": read_stories,
    "abstracts": read_abstracts,
}
