"""The training examples of the parser: gold trees of UD EWT, and trees that a larger parser (the teacher) draws."""

from __future__ import annotations

import gzip
import json
import lzma
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SHARES = {"storybooks": 18000, "wikinews": 4000, "speeches": 13000, "propara": 2700, "acl": 14000, "arxiv": 14000}
"""How many sentences of each open set the teacher parses."""
GOLD_ROLES = {"nsubj": "nsubj", "nsubj:pass": "nsubjpass", "obj": "dobj", "iobj": "dative"}
"""UD labels that give a role, and what the teacher calls them."""
GOLD_OTHERS = {
    "compound": "compound",
    "conj": "conj",
    "appos": "appos",
    "nmod:poss": "poss",
    "obl:unmarked": "npadvmod",
    "nmod:unmarked": "npadvmod",
    "flat": "compound",
    "vocative": "npadvmod",
    "obl": "pobj",
    "nmod": "pobj",
    "xcomp": "oprd",
}
"""What a word is called that the teacher takes for a subject or an object and the treebank does not."""


@dataclass(frozen=True, slots=True)
class Parse:
    """A sentence with its tags and its tree."""

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]

    def lowercased(self) -> Parse:
        """The same tree over lowercased words."""
        return replace(self, words=tuple(word.lower() for word in self.words))


def read_ewt(file: Path) -> list[Parse]:
    """The sentences of a CoNLL-U file, with UD labels."""
    parses = []
    with lzma.open(file, "rt", encoding="utf-8") if file.suffix == ".xz" else file.open(encoding="utf-8") as lines:
        rows: list[list[str]] = []
        for line in lines:
            if line.startswith("#"):
                continue
            if line.strip():
                fields = line.rstrip("\n").split("\t")
                if fields[0].isdigit():  # neither a range of a contraction nor an empty node
                    rows.append(fields)
            elif rows:
                parses.append(_parse(rows))
                rows = []
    return parses


def _parse(rows: list[list[str]]) -> Parse:
    return Parse(
        words=tuple(row[1] for row in rows),
        spaces=tuple("SpaceAfter=No" not in row[9] for row in rows),
        tags=tuple(row[4] for row in rows),
        heads=tuple(int(row[6]) - 1 if row[6] != "0" else index for index, row in enumerate(rows)),
        labels=tuple(row[7] for row in rows),
    )


def open_sentences(folder: Path, seed: int) -> Iterator[str]:
    """A sample of the sentences of the openly licensed training sets."""
    chance = random.Random(seed)
    for name, share in SHARES.items():
        with gzip.open(folder / name / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
            sentences = [" ".join(text.split()) for line in lines for text in json.loads(line)["sentences"]]
        kept = [text for text in sentences if 2 <= text.count(" ") <= 60]
        yield from chance.sample(kept, min(share, len(kept)))


def whole(doc: Any) -> Any:
    """The same spaCy Doc, forbidden to fall into several sentences."""
    for token in doc[1:]:
        token.is_sent_start = False
    return doc


def taught(teacher: Any, sentences: Iterable[str]) -> Iterator[Parse]:
    """Running sentences as the teacher parses them."""
    yield from (_copy(doc) for doc in teacher.pipe(whole(teacher.make_doc(text)) for text in sentences))


def merged(teacher: Any, gold: list[Parse]) -> Iterator[Parse]:
    """The treebank's sentences in the teacher's scheme: gold tags, the teacher's heads, gold roles.

    The teacher hangs nouns under prepositions and subjects under copulas, the treebank does the reverse, so trees of
    the two would contradict each other; which words are subjects and objects they mean alike.
    """
    from spacy.tokens import Doc

    docs = (whole(Doc(teacher.vocab, words=list(parse.words), spaces=list(parse.spaces))) for parse in gold)
    for parse, doc in zip(gold, teacher.pipe(docs), strict=True):
        drawn = _copy(doc)
        labels = list(drawn.labels)
        for index, true in enumerate(parse.labels):
            if drawn.heads[index] == index:
                continue  # the root of the tree must stay its root
            if true in GOLD_ROLES:
                labels[index] = GOLD_ROLES[true]
            elif labels[index] in GOLD_ROLES.values() and true not in {"expl", "csubj", "ccomp"}:
                labels[index] = GOLD_OTHERS.get(true, "dep") if true != "root" else "attr"
        yield replace(drawn, tags=parse.tags, labels=tuple(labels))


def _copy(doc: Any) -> Parse:
    return Parse(
        words=tuple(token.text for token in doc),
        spaces=tuple(bool(token.whitespace_) for token in doc),
        tags=tuple(token.tag_ for token in doc),
        heads=tuple(token.head.i for token in doc),
        labels=tuple(token.dep_ for token in doc),
    )
