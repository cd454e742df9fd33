"""Whether a text is English, as cheaply as can be told."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

FEWEST_WORDS = 12
"""Below this many words nothing is said about text in Latin letters."""
LEAST_SHARE = 0.1
"""English has at least this share of the words below; in prose it is a third."""
OTHER_LETTERS = 0.3
"""Share of letters outside the Latin alphabet from which a text is not English."""
LONGEST = 20_000
"""Characters that are looked at."""
_SMALL_WORDS = (
    "the of and to is that for it with was his her are be this have from by not but had they she which you we their"
    " been has when who will more if out so what up its about into them can only other then these may than would there"
    " could our some very after before over because while where how each most both your just also through between"
    " were did does do as at on or an it's don't i'm"
)
ENGLISH = frozenset(_SMALL_WORDS.split())
"""Words that no English text of some length does without; few other languages have one of them."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def looks_english(sentences: Sequence[str]) -> bool:
    """False where the letters or the small words speak against it; true where too little is there to tell."""
    text = " ".join(sentences)[:LONGEST].lower()
    letters = [letter for letter in text if letter.isalpha()]
    other = sum(not (letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")) for letter in letters)
    if letters and other / len(letters) > OTHER_LETTERS:
        return False
    words = [word.replace("’", "'") for word in _WORD.findall(text)]
    if len(words) < FEWEST_WORDS:
        return True
    return sum(word in ENGLISH for word in words) / len(words) >= LEAST_SHARE
