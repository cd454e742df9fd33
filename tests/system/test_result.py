"""What a result gives its reader beyond the numbers."""

import re
from xml.etree import ElementTree

import pytest

from unshuffle.result import Candidate, Ordering, PairProbability, Reason, Round

GIVEN = ("Then she ate it.", "Mia picked an apple.", "She washed the apple.")
PAIRS = (PairProbability(0, 1, 0.1), PairProbability(0, 2, 0.2), PairProbability(1, 2, 0.9))


def ordering(given: tuple[str, ...] = GIVEN, **changes: object) -> Ordering:
    plain: dict[str, object] = {
        "id": "apple",
        "order": (1, 2, 0),
        "probability": 0.7,
        "confidence": 0.874,
        "pairs": PAIRS,
        "rounds": (Round(PAIRS, ()),),
        "n_best": (Candidate((1, 2, 0), 0.7, -0.357),),
        "why": (Reason(1, 2, 0.9, ("apple",)),),
        "given": given,
    }
    return Ordering(**(plain | changes))  # type: ignore[arg-type]


def test_sentences_and_text_stand_in_reading_order() -> None:
    found = ordering()
    assert found.sentences == (GIVEN[1], GIVEN[2], GIVEN[0]) == tuple(found)
    assert found.text == "Mia picked an apple. She washed the apple. Then she ate it."
    assert len(found) == 3


def test_the_repr_is_one_short_line() -> None:
    assert repr(ordering()) == (
        "<Ordering 'apple' (1, 2, 0), confidence 0.87: 'Mia picked an apple. She washed the apple. Then she ate it.'>"
    )
    size = 500
    long = ordering(
        tuple(f"Line\n{place}\x1b[31m" for place in range(size)), order=tuple(range(size)), id="", kept=True
    )
    shown = repr(long)
    assert len(shown) < 200 and "\n" not in shown and "\x1b" not in shown and "input order kept" in shown


def test_a_result_is_a_sequence_of_sentences() -> None:
    found = ordering()
    assert (found[0], found[-1], len(found)) == (GIVEN[1], GIVEN[0], 3)
    with pytest.raises(IndexError):
        found[3]


def test_the_repr_of_one_sentence_is_that_of_a_tuple() -> None:
    assert repr(ordering(("Alone.",), order=(0,), pairs=(), id="")).startswith("<Ordering (0,), ")


def test_the_json_has_the_sentences_in_reading_order_and_as_they_came_in() -> None:
    found = ordering(warnings=("Careful.",)).to_json()
    assert found["sentences"] == [GIVEN[1], GIVEN[2], GIVEN[0]] == [found["input"][place] for place in found["order"]]
    assert found["input"] == list(GIVEN) and found["warnings"] == ["Careful."]


def test_the_json_does_not_hold_the_place_in_the_stream() -> None:
    assert list(ordering(index=3).to_json()) == [
        "id",
        "sentences",
        "order",
        "input",
        "warnings",
        "probability",
        "log_probability",
        "confidence",
        "headline",
        "pairs",
        "rounds",
        "n_best",
        "why",
        "ties",
        "kept",
    ]


@pytest.mark.parametrize("rounds", [(), (Round(PAIRS, ()),)])
def test_a_notebook_shows_order_links_and_pairs_without_scripts(rounds: tuple[Round, ...]) -> None:
    nasty = ("<script>alert(1)</script>", "a \"quote\" & 'more'", "<img src=x onerror=alert(1)>")
    html = ordering(nasty, id="<b>id</b>", rounds=rounds)._repr_html_()
    tree = ElementTree.fromstring(html)  # well-formed, so nothing of the text has become markup
    assert {part.tag for part in tree.iter()} <= {
        *("div", "b", "small", "svg", "path", "table", "caption", "tr", "th", "td")
    }
    assert not re.search(r"<script|<img|href|url\(", html)
    texts = "".join(tree.itertext())
    assert all(text in texts for text in (*nasty, "<b>id</b>", "confidence 0.87"))
    assert len(tree.findall(".//td")) == 9 and len(tree.findall(".//path")) == (3 if rounds else 1)


def test_a_single_sentence_and_a_very_long_document_are_shown_too() -> None:
    alone = ordering(("Only this.",), order=(0,), pairs=(), rounds=(), why=())
    assert "Only this." in alone._repr_html_()
    size = 300
    long = ordering(tuple(map(str, range(size))), order=tuple(range(size)), rounds=(), why=(), pairs=())
    assert "<table" not in long._repr_html_()
