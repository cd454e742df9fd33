"""The data set of everyday texts."""

import gzip
import json
from collections import Counter

import pytest

from unshuffle.errors import ConfigError
from unshuffle.text.readers.read import EVERYDAY, EVERYDAY_SPLITS, read_documents


def rows(split: str) -> list[dict[str, object]]:
    lines = gzip.decompress((EVERYDAY / f"{split}.jsonl.gz").read_bytes()).decode().splitlines()
    return [json.loads(line) for line in lines]


def test_every_split_is_read_by_name() -> None:
    for split in EVERYDAY_SPLITS:
        documents = list(read_documents(f"everyday:{split}"))
        assert [document.id for document in documents] == [row["id"] for row in rows(split)]
    with pytest.raises(ConfigError, match="no such split"):
        read_documents("everyday:testing")


def test_no_text_is_in_two_splits_and_none_shares_two_sentences_with_another_split() -> None:
    ids = Counter(str(row["id"]) for split in ("train", "valid", "test") for row in rows(split))
    assert max(ids.values()) == 1
    sentences: dict[str, list[set[str]]] = {
        split: [
            {text for text in document.sentences if len(text.split()) > 8}
            for document in read_documents(f"everyday:{split}")
        ]
        for split in ("train", "valid", "test")
    }
    for split, others in (("train", ("valid", "test")), ("valid", ("test",))):
        known = set().union(*sentences[split])
        held = [document for other in others for document in sentences[other]]
        assert max(len(document & known) for document in held) < 2


def test_kinds_are_held_out_in_proportion() -> None:
    counts = {split: Counter(str(row["kind"]) for row in rows(split)) for split in ("train", "valid", "test")}
    assert set(counts["train"]) == set(counts["valid"]) == set(counts["test"])
    assert len(counts["train"]) >= 120
