import json
import xml.etree.ElementTree as ElementTree

import pytest

from unshuffle.drawing.description import describe
from unshuffle.drawing.dot import dot_of
from unshuffle.drawing.layout import picture_of
from unshuffle.drawing.shapes import Picture, Words, columns, wrapped
from unshuffle.drawing.svg import svg_of
from unshuffle.result import Ordering, PairProbability, Round, SentenceGraph

SENTENCES = ('She said "now" & <left>.', "Nora found a key.", "The key fitted.\x00")
GRAPH = SentenceGraph(
    3, ("key", "nora"), ((0, 1, "object"), (0, 2, "subject"), (1, 1, "subject")), ((0, 1), (1, 2)), ((0, 1),)
)
FIRST = Round((PairProbability(0, 1, 0.5), PairProbability(1, 2, 0.7)), ((0, 1),))
LAST = Round((PairProbability(0, 1, 0.1), PairProbability(1, 2, 0.9)), ())
ORDERING = Ordering("a & b", (1, 2, 0), 0.5, 0.9, (), (FIRST, LAST), ())


def test_a_link_has_its_weights_before_and_after() -> None:
    link = describe(SENTENCES, GRAPH, ORDERING).links[0]
    assert (link.before, link.after, link.undecided_before, link.undecided_after) == (0.5, 0.1, True, False)


def test_the_description_is_plain() -> None:
    plain = describe(SENTENCES, GRAPH, ORDERING).to_json()
    assert json.loads(json.dumps(plain))["order"] == [1, 2, 0]


def test_svg_is_well_formed_and_shows_every_word() -> None:
    drawn = svg_of(picture_of(describe(SENTENCES, GRAPH, ORDERING)))
    text = " ".join(ElementTree.fromstring(drawn).itertext())
    for expected in ("Before refinement", "After refinement", "nora", 'She said "now" & <left>.', "0.90"):
        assert expected in text


@pytest.mark.parametrize("rounds", [(), (FIRST,), (FIRST, LAST)])
@pytest.mark.parametrize("graph", [GRAPH, SentenceGraph(3, (), (), ())])
def test_everything_stays_on_the_paper(rounds: tuple[Round, ...], graph: SentenceGraph) -> None:
    picture = picture_of(describe(SENTENCES, graph, Ordering("x", (1, 2, 0), 0.5, 0.9, (), rounds, ())))
    for shape in picture.shapes:
        if isinstance(shape, Words):
            assert 0 <= shape.x <= picture.width and 0 <= shape.y <= picture.height


def test_dot_quotes_what_it_must() -> None:
    drawn = dot_of(describe(SENTENCES, GRAPH, ORDERING))
    assert drawn.startswith("digraph") and drawn.rstrip().endswith("}")
    assert r"\"now\"" in drawn and 's1 -> s0 [label="0.50 / 0.90"' in drawn


def test_no_character_makes_the_svg_unreadable() -> None:
    strange = "a\x00b\x1fc\ud800d\ufffee\uffff🙂"
    drawn = svg_of(Picture(10, 10, (Words(1, 1, strange),), strange))
    assert list(ElementTree.fromstring(drawn).itertext()).count("abcde🙂") == 2


def test_dot_shows_entities_as_they_are_written() -> None:
    drawn = dot_of(describe(("Write &lt; & not <.", *SENTENCES[1:]), GRAPH, ORDERING))
    assert 'label="3. Write &amp;lt; &amp; not <."' in drawn


def test_long_text_is_wrapped_and_cut() -> None:
    assert wrapped("one two three", 7, 2) == ["one two", "three"]
    assert wrapped("one two three four five", 7, 2) == ["one two", "three…"]
    assert wrapped("x" * 500, 10, 2) == ["x" * 9 + "…"]
    assert all(columns(line) <= 10 for line in wrapped("漢字" * 50, 10, 2))
    assert wrapped("", 10, 2) == [""]
