"""How well a pipeline finds nouns and their roles in UD EWT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unshuffle_research.parser.parses import Parse, whole

SUBJECTS = {"nsubj", "nsubj:pass", "nsubjpass"}
OBJECTS = {"obj", "iobj", "dobj", "dative"}


@dataclass(frozen=True, slots=True)
class Score:
    """Shares in percent."""

    noun_precision: float
    noun_recall: float
    role_accuracy: float
    """Over the gold nouns that were found."""

    @property
    def choice(self) -> float:
        """What the best checkpoint has most of: the harmonic mean for nouns, plus the roles."""
        precision, recall = self.noun_precision, self.noun_recall
        return 2 * precision * recall / max(precision + recall, 1e-9) + self.role_accuracy


def role(label: str) -> str:
    """Subject, object or other, from a UD or ClearNLP label."""
    return "subject" if label in SUBJECTS else "object" if label in OBJECTS else "other"


def score(pipeline: Any, gold: list[Parse], *, lowercase: bool = False) -> Score:
    """A pipeline against the treebank, on the treebank's own tokens."""
    from spacy.tokens import Doc

    shown = [parse.lowercased() if lowercase else parse for parse in gold]
    docs = (whole(Doc(pipeline.vocab, words=list(parse.words), spaces=list(parse.spaces))) for parse in shown)
    found = true = both = right = 0
    for parse, doc in zip(gold, pipeline.pipe(docs), strict=True):
        for token, tag, label in zip(doc, parse.tags, parse.labels, strict=True):
            found += token.tag_.startswith("NN")
            true += tag.startswith("NN")
            if token.tag_.startswith("NN") and tag.startswith("NN"):
                both += 1
                right += role(token.dep_) == role(label)
    return Score(100 * both / max(found, 1), 100 * both / max(true, 1), 100 * right / max(both, 1))
