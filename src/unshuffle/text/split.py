"""Running text to sentences or paragraphs, and whether it is English, by rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

Unit = Literal["sentence", "paragraph"]

_PARAGRAPH = re.compile(r"\r?\n[^\S\n\f]*\n|[\f\u2029]")
_CLOSING = "\"'”’»)\\]}"
_STOP = re.compile(
    # Nothing here tries a run of stops again from its middle: time must not grow with the square of the text.
    # A stop with what closes after it, then a blank; in tokenised text a blank may stand before the closing mark.
    rf"(?:(?<![.!?…])[.!?…]++[{_CLOSING}]*+(?:\s?(?:''|[”»)\]])(?=\s))*(?=\s))"
    # Scripts that put no blank after a stop, and those whose stop is never anything else.
    r"|[。！？｡．]+[”’」』）】》\"')\]]*"
    r"|(?<![।॥؟۔])[।॥؟۔]++(?=\s)"
)
_SINGLE_DOT = re.compile(rf"\.(?!\.)[{_CLOSING}]*$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LIST_NUMBER = re.compile(r"[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})")
_REACH = 60
"""Characters before a stop that may hold the word it belongs to."""
_OPENING = "\"'`“”‘’«»([{¿¡-–—•*"
_NEVER_LAST = (
    "mr mrs ms mx dr prof gen sen capt lt sgt maj cmdr pres messrs mme mlle mgr fr"
    " e.g i.e eg ie cf viz vs v approx ca resp incl esp w.r.t dept univ assn bros"
)
NEVER_LAST = frozenset(_NEVER_LAST.split())
"""Abbreviations that something always follows."""
_BEFORE_NUMBER = (
    "no nos vol vols p pp ch chap art ref refs app ex nr ver sec sect tab thm lem prop def alg cor"
    " fig figs eq eqs jan feb mar apr jun jul aug sep sept oct nov dec"
)
BEFORE_NUMBER = frozenset(_BEFORE_NUMBER.split())
"""Words that are abbreviations only where a number follows: "No. 5", but "He said no. Then"."""
_NUMBER = re.compile(r"[A-Z]?\.?\d")
"""A number, as of a figure in an appendix too: "Fig. S1", "Eq. A.1"."""
OFTEN_LAST = frozenset({"etc", "al"})
"""Abbreviations that end a sentence wherever a capital follows."""
_SELDOM_LAST = "inc ltd co corp llc jr sr ph.d ave blvd rd est bldg hwy ft st mt hon rev rep col gov"
SELDOM_LAST = frozenset(_SELDOM_LAST.split())
"""Abbreviations that, like those of the form "a.m.", end a sentence only before a word that likes to open one."""
_OPENERS = (
    "the a an this that these those it its he she they we you i his her their our my your there here in on at by for"
    " from with without after before when while where if although though because since as but and or so yet however"
    " then thus therefore hence moreover furthermore finally first second third next later now what who why how which"
    " to no not one some many most all both each every another other such more"
)
OPENERS = frozenset(_OPENERS.split())
"""Words that like to open a sentence and seldom follow an initial or an abbreviation with a capital."""
FEWEST_WORDS = 12
"""Below this many words the lack of small English words says nothing of text in Latin letters."""
LEAST_SHARE = 0.1
"""English has at least this share of the words below; in prose it is a third."""
OTHER_LETTERS = 0.3
"""Share of letters outside the Latin alphabet from which a text is not English."""
LOOKED_AT = 20_000
"""Characters that are looked at."""
_SMALL_WORDS = (
    "the of and to is that for it with was his her are be this have from by not but had they she which you we their"
    " been has when who will more if out so what up its about into them can only other then these may than would there"
    " could our some very after before over because while where how each most both your just also through between"
    " were did does do as at on or an it's don't i'm"
)
ENGLISH = frozenset(_SMALL_WORDS.split())
"""Words that no English text of some length does without; few other languages have one of them."""
_FOREIGN_WORDS = (
    "und ist nicht ein eine einen einem einer ich ihn ihm wir sind wird wurde haben auch dann nach una uno se los las"
    " muy pero está más sus por luego une les dans avec sont cette puis nous vous elle qui gli che sono della nel poi"
    " uma não ele ela depois foi het een niet zijn naar ook maar"
)
FOREIGN = frozenset(_FOREIGN_WORDS.split())
"""Small words of other languages; none that stand with a small letter in English texts or in names, as `de la` do."""
FEWEST_FOREIGN = 2
"""Different ones of them from which a short text without a small English word is not English."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def split_text(text: str, unit: Unit = "sentence") -> list[str]:
    """The sentences or paragraphs of a text, with runs of blanks made one."""
    return split_sentences(text) if unit == "sentence" else split_paragraphs(text)


def split_paragraphs(text: str) -> list[str]:
    """What blank lines, form feeds or paragraph marks keep apart."""
    return [" ".join(part.split()) for part in _PARAGRAPH.split(text) if part.strip()]


def split_sentences(text: str) -> list[str]:
    """The sentences of a text; none reaches over the end of a paragraph."""
    # In text without capitals a small letter says nothing.
    cased = any(letter.isupper() for letter in text)
    return [sentence for paragraph in split_paragraphs(text) for sentence in _split(paragraph, cased=cased)]


def _split(paragraph: str, *, cased: bool) -> list[str]:
    sentences, start = [], 0
    for stop in _STOP.finditer(paragraph):
        if _ends(paragraph, start, stop, cased=cased):
            sentences.append(paragraph[start : stop.end()].strip())
            start = stop.end()
    sentences.append(paragraph[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _ends(paragraph: str, start: int, stop: re.Match[str], *, cased: bool) -> bool:
    """Whether a sentence that began at `start` ends with this stop."""
    mark = paragraph[stop.start()]
    if mark not in ".!?…":
        return True
    follows = paragraph[stop.end() : stop.end() + 40].split()
    if not follows:
        return True
    following = follows[0].lstrip(_OPENING) or (follows[1].lstrip(_OPENING) if len(follows) > 1 else "")
    if following[:1] and following[0] in ".!?…":
        return False  # the last of several decides
    if cased and following[:1].islower() and not following[1:2].isupper():  # "iPhone" does open sentences
        return False
    if not _SINGLE_DOT.match(stop.group()):  # ! ? … and several at once
        return True
    # Never the whole sentence: one that does not end would be copied at each stop, in quadratic time. Two characters
    # more than the reach show whether anything but a blank stands before the last word.
    before = paragraph[max(start, stop.start() - _REACH - 2) : stop.start()]
    return _dot_ends(before, follows[0], following, cased=cased)


def _dot_ends(before: str, shown: str, following: str, *, cased: bool) -> bool:
    """Whether a single full stop ends the sentence; `before` is its end, `shown` the next token with its marks."""
    if before[-1:].isspace() or not before:
        return bool(before)  # a stop with a blank before it, as in tokenised text
    last = before[-_REACH:].split()[-1]
    if last == before.strip() and _LIST_NUMBER.fullmatch(last):
        return False  # "1. Open the box."
    word = last.lstrip(_OPENING)
    abbreviation = word.lower()
    # "A." may open nothing: it is the next initial.
    opener = following.rstrip(",;:!?'\"”’").lower() in OPENERS
    if abbreviation in NEVER_LAST:
        return False
    if abbreviation in BEFORE_NUMBER and _NUMBER.match(following):
        return False
    if abbreviation in OFTEN_LAST:
        return cased and not shown.startswith(("(", "[")) and not following[:1].isdigit()
    if abbreviation in SELDOM_LAST or _INITIALS.fullmatch(word):
        return opener
    if len(word) == 1 and word.isalpha() and (word.isupper() or not cased):
        return opener  # "J. Smith", but "Plan B. We"
    return True


def looks_english(sentences: Sequence[str]) -> bool:
    """False where the letters or the small words speak against it; true where too little is there to tell."""
    shown = " ".join(sentences)[:LOOKED_AT]
    text = shown.lower()
    letters = [letter for letter in text if letter.isalpha()]
    other = sum(not (letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")) for letter in letters)
    if letters and other / len(letters) > OTHER_LETTERS:
        return False
    words = [word.replace("’", "'") for word in _WORD.findall(text)]
    english = sum(word in ENGLISH for word in words)
    if len(words) < FEWEST_WORDS:
        return english > 0 or len(FOREIGN.intersection(_WORD.findall(shown))) < FEWEST_FOREIGN
    return english / len(words) >= LEAST_SHARE
