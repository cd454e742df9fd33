"""English by rule: whether a text is English, and its content words where no parser is installed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from unshuffle.text.document import Document, Role
from unshuffle.text.parsing.mentions import Noun, fill_mentions

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
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
SHORTEST = 3
"""Letters that a content word has at least."""
LONGEST_TEXT = 8_000
"""Characters of a sentence that are looked at."""
# fmt: off
FUNCTION_WORDS = frozenset(
    {
        "about", "above", "across", "after", "again", "against", "ago", "all", "almost", "along", "already",
        "also", "although", "always", "among", "and", "another", "any", "anybody", "anyone", "anything", "are",
        "around", "away", "back", "became", "because", "become", "been", "before", "began", "begin", "behind",
        "being", "below", "between", "both", "but", "called", "came", "can", "cannot", "come", "could", "did",
        "does", "doing", "done", "down", "during", "each", "either", "else", "enough", "even", "ever", "every",
        "everybody", "everyone", "everything", "few", "first", "for", "from", "further", "gave", "get",
        "getting", "give", "given", "goes", "going", "gone", "got", "had", "has", "have", "having", "her",
        "here", "hers", "herself", "him", "himself", "his", "how", "however", "into", "its", "itself", "just",
        "keep", "kept", "knew", "know", "last", "later", "least", "left", "less", "let", "like", "little",
        "long", "look", "looked", "made", "make", "making", "many", "may", "maybe", "might", "mine", "more",
        "most", "much", "must", "myself", "near", "need", "never", "new", "next", "nobody", "none", "nor",
        "not", "nothing", "now", "off", "often", "old", "once", "one", "only", "onto", "other", "others", "our",
        "ours", "ourselves", "out", "over", "own", "perhaps", "put", "quite", "rather", "really", "said",
        "same", "saw", "say", "says", "second", "see", "seem", "seemed", "several", "shall", "she", "should",
        "since", "some", "somebody", "someone", "something", "soon", "still", "such", "take", "taken", "tell",
        "than", "that", "the", "their", "theirs", "them", "themselves", "then", "there", "therefore", "these",
        "they", "thing", "things", "think", "third", "this", "those", "though", "thought", "three", "through",
        "thus", "till", "together", "told", "too", "took", "toward", "towards", "two", "under", "until", "upon",
        "used", "using", "very", "want", "wanted", "was", "way", "well", "went", "were", "what", "whatever",
        "when", "whenever", "where", "whether", "which", "while", "who", "whole", "whom", "whose", "why",
        "will", "with", "within", "without", "would", "yes", "yet", "you", "your", "yours", "yourself",
    }
)
# fmt: on
"""Words that every English text has, so that sharing them says nothing."""


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


@dataclass(frozen=True, slots=True)
class RuleParser:
    """Finds words that are not function words; all of them have the role `other`."""

    name: str = "rules"
    fingerprint: str = "rules-1"

    def nouns(self, sentences: Iterable[str]) -> Iterator[tuple[Noun, ...]]:
        """The content words of each sentence, sorted, each once."""
        for sentence in sentences:
            words = {_stem(word) for word in WORD.findall(sentence[:LONGEST_TEXT].lower())}
            yield tuple(Noun(word, Role.OTHER) for word in sorted(words - FUNCTION_WORDS) if len(word) >= SHORTEST)

    def mentions(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with their content words as mentions; mentions that a document brings along are kept."""
        return fill_mentions(documents, self.nouns)


def _stem(word: str) -> str:
    """Without a possessive ending."""
    return re.sub(r"['’]s$", "", word)
