"""A light stand-in for a parser: content words by rule, without roles.

It needs no library and no model, so shared words can be shown where spaCy is not installed. Systems that learn from
entities need a real parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unshuffle.text.document import Document, Role
from unshuffle.text.parsing.mentions import Noun, fill_mentions

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
