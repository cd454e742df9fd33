from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.text import split
from unshuffle.text.split import split_paragraphs, split_sentences, split_text

WHOLE = [
    "Dr. Adams met Mrs. Lowe and Prof. Hill.",
    "J. R. R. Tolkien and George W. Bush never met.",
    "J. A. Smith wrote it.",
    "It costs 3.14 dollars, i.e. nothing, e.g. Today's bread.",
    "See Fig. 3 and Eq. (4) in Sec. 2.1 for the proof.",
    "Smith et al. (2010) show that it holds.",
    "As Lai et al. propose, links are refined.",
    "The U.S. Army and the U.K. Parliament agreed.",
    'She asked, "Are you well?" and left.',
    "He waited ... and waited… and slept.",
    "We read https://example.org/a.b?c=d. it said nothing",
    "See Figs. 3 and 4, Fig. S1 and Eq. A.1 for more.",
    "St. John met Rev. Hill, Gov. A. Smith, Rep. Lee and Col. Fox on Mt. Everest.",
    "The shop on No. 5, vol. 2, pp. 3 is shut.",
    "Yahoo! is a name.",
    "1. Open the box.",
    "b. Close it.",
    "They came on Jan. 5 at noon.",
    "The case of Roe v. Wade is old.",
    "Wait . . . what?",
    "Version 2.0.1 of pkg.module works.",
]
SEVERAL = [
    ["It rained.", "We stayed in."],
    ["He said no.", "Then he left."],
    ["They moved to the U.S. in May.", "It was cold."],
    ["They live in the U.S.", "He likes it there."],
    ["Bring apples, pears, etc.", "Then we cook."],
    ["This is due to Lee et al.", "We improve on it."],
    ['"Go home."', "He went."],
    ['He said, "Go home."', '"Why?"', "She stayed."],
    ["It works (see the appendix.)", "We are glad."],
    ["(We stayed in.)", "[Nobody came.]", "Why?!", "No one knows..."],
    ["We chose plan B.", "The others did not."],
    ["It costs $3.", "20 people paid."],
    ["The site is www.example.org.", "Visit it."],
    ["iPhones are dear.", "iPads are not."],
    ["Who came?", "Nobody!", "So we left."],
    ["Il est là.", "«Où ?»", "Élan."],
    ["He slept…", "Then he woke."],
    ["She is a Ph.D.", "This helps."],
    ["¿Qué pasa?", "¡Nada!"],
    ["She picked a ripe fig.", "It was sweet.", "Mia ate two figs.", "Bob had none."],
    ["He lives on Main St.", "The house is old."],
    ["Call me, hon.", "I miss you."],
    ["He did one more rep.", "Then he rested."],
]


@pytest.mark.parametrize("sentence", WHOLE)
def test_a_stop_inside_a_sentence_does_not_end_it(sentence: str) -> None:
    assert split_sentences(sentence) == [sentence]


@pytest.mark.parametrize("sentences", SEVERAL, ids=lambda sentences: sentences[0])
def test_sentences_are_found_where_they_end(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == sentences
    assert split_sentences("\n".join(sentences)) == sentences


def test_scripts_without_blanks_are_split_at_their_own_stops() -> None:
    assert split_sentences("今日は雨です。家にいます！「本当？」はい。") == [
        "今日は雨です。",
        "家にいます！",
        "「本当？」",
        "はい。",
    ]
    assert split_sentences("यह घर है। वह पेड़ है।") == ["यह घर है।", "वह पेड़ है।"]


def test_lowercased_and_tokenised_text_is_split() -> None:
    assert split_sentences("we train a model . it works , i.e. it learns . see fig. 3 .") == [
        "we train a model .",
        "it works , i.e. it learns .",
        "see fig. 3 .",
    ]
    assert split_sentences("`` Stop . '' He ran . ( So did I . ) We too .") == [
        "`` Stop . ''",
        "He ran .",
        "( So did I . )",
        "We too .",
    ]


def test_a_blank_line_ends_sentence_and_paragraph() -> None:
    text = "A headline\r\n\r\nThe first line\nruns on. The end.\n \t\nLast"
    assert split_sentences(text) == ["A headline", "The first line runs on.", "The end.", "Last"]
    assert split_text(text, "paragraph") == ["A headline", "The first line runs on. The end.", "Last"]


@given(st.text(st.sampled_from("ab A.?!…\"')(。\n\f1U.S"), max_size=80) | st.text(max_size=80))
def test_no_letter_is_lost_or_made(text: str) -> None:
    bare = "".join(text.split())
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == bare
    assert "".join("".join(split_paragraphs(text)).split()) == bare
    assert all(sentence and sentence == sentence.strip() for sentence in sentences)


def test_long_text_is_split_in_passing_time() -> None:
    assert len(split_sentences("The cat sat. " * 20_000)) == 20_000
    assert len(split_sentences("." * 100_000 + "( " * 50_000)) == 1


def ends_by_the_whole_sentence(sentence: str, shown: str, following: str, *, cased: bool) -> bool:
    """The first form of the rule, which looked at all of the sentence and so took quadratic time."""
    if sentence[-1:].isspace() or not sentence:
        return bool(sentence)
    last = sentence[-60:].split()[-1]
    if last == sentence.strip() and split._LIST_NUMBER.fullmatch(last):
        return False
    word = last.lstrip(split._OPENING)
    abbreviation = word.lower()
    opener = following.rstrip(",;:!?'\"”’").lower() in split.OPENERS
    if abbreviation in split.NEVER_LAST:
        return False
    if abbreviation in split.BEFORE_NUMBER and split._NUMBER.match(following):
        return False
    if abbreviation in split.OFTEN_LAST:
        return cased and not shown.startswith(("(", "[")) and not following[:1].isdigit()
    if abbreviation in split.SELDOM_LAST or re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", word):
        return opener
    if len(word) == 1 and word.isalpha() and (word.isupper() or not cased):
        return opener
    return True


def split_by_the_whole_sentence(text: str) -> list[str]:
    cased = any(letter.isupper() for letter in text)
    found = []
    for paragraph in split_paragraphs(text):
        start = 0
        for stop in split._STOP.finditer(paragraph):
            if ends_there(paragraph, start, stop, cased=cased):
                found.append(paragraph[start : stop.end()].strip())
                start = stop.end()
        found.append(paragraph[start:].strip())
    return [sentence for sentence in found if sentence]


def ends_there(paragraph: str, start: int, stop: re.Match[str], *, cased: bool) -> bool:
    if paragraph[stop.start()] not in ".!?…":
        return True
    follows = paragraph[stop.end() : stop.end() + 40].split()
    if not follows:
        return True
    following = follows[0].lstrip(split._OPENING) or (follows[1].lstrip(split._OPENING) if len(follows) > 1 else "")
    if following[:1] and following[0] in ".!?…":
        return False
    if cased and following[:1].islower() and not following[1:2].isupper():
        return False
    if not re.match(rf"\.(?!\.)[{split._CLOSING}]*$", stop.group()):
        return True
    return ends_by_the_whole_sentence(paragraph[start : stop.start()], follows[0], following, cased=cased)


WORDS = "A. b. 1. (1. ii. Mr. e.g. U.S. no. 5 etc. Inc. the The . ... ! ? '' ” ) ( « 。 । etc.) Then"
LONG = [letter * size for letter in "xA" for size in (58, 59, 60, 61, 62, 63)]
TOKENS = st.sampled_from([*WORDS.split(), *LONG, *(word + "." for word in LONG)])


@given(st.lists(st.tuples(TOKENS, st.sampled_from(["", " ", "  ", "\n", "\n\n", "\f"])), max_size=14))
@settings(max_examples=1000)
def test_looking_at_the_end_of_a_sentence_changes_no_split(tokens: list[tuple[str, str]]) -> None:
    text = "".join(token + blank for token, blank in tokens)
    assert split_sentences(text) == split_by_the_whole_sentence(text)
