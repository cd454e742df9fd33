"""The examples of the page say honestly what the shipped model makes of them."""

import json
from pathlib import Path
from typing import Any

import pytest

import unshuffle
from unshuffle import serve

EXAMPLES: list[dict[str, Any]] = json.loads(
    (Path(serve.__file__).parent / "page" / "examples.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_an_example_has_a_note_exactly_where_the_shipped_model_gets_it_wrong(example: dict[str, Any]) -> None:
    sentences = example["sentences"]
    found = unshuffle.order(sentences[::-1])
    assert (list(found.sentences) == sentences) == (not example.get("note"))
