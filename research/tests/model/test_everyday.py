"""New everyday texts join the data set checked, unrepeated and split by kind."""

import json
from pathlib import Path

import pytest

from unshuffle.errors import DataError
from unshuffle_research.model.everyday import read_rows, split_by_kind, unrepeated


def text(number: int) -> list[str]:
    return [f"Person {number} walked over to house {number * 7} at {place} and {number} o'clock." for place in range(5)]


def test_a_text_that_repeats_another_is_left_out() -> None:
    rows = [{"kind": "story", "sentences": text(number)} for number in range(4)]
    again = {"kind": "story", "sentences": [*text(2)[:3], "Then it rained.", "Nobody was surprised at that."]}
    assert unrepeated([*rows[1:], again], rows[:1]) == rows[1:]
    assert unrepeated(rows[:1], rows[:1]) == []


def test_every_kind_is_in_every_split_and_no_text_in_two() -> None:
    rows = [{"kind": kind, "sentences": text(number)} for kind in ("mail", "story") for number in range(25)]
    split = split_by_kind(rows, "b")
    assert {name: len(texts) for name, texts in split.items()} == {"train": 42, "valid": 4, "test": 4}
    assert all({row["kind"] for row in texts} == {"mail", "story"} for texts in split.values())
    assert len({row["id"] for texts in split.values() for row in texts}) == 50


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"kind": "mail"}, "line 1: no text"),
        ({"kind": "mail", "sentences": ["One.", "Two."]}, "line 1: 2 sentences"),
        ({"kind": "mail", "sentences": ["One.", "Two.", "One.", "Four."]}, "a sentence twice"),
    ],
)
def test_a_mistake_is_one_line_that_says_where(tmp_path: Path, row: object, message: str) -> None:
    (tmp_path / "new.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=message):
        list(read_rows([tmp_path / "new.jsonl"]))
