"""A parser on a spaCy pipeline."""

from __future__ import annotations

import hashlib
import itertools
import re
import threading
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.text.document import Document, Role
from unshuffle.text.parsing.mentions import Noun, fill_mentions

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

ROLES = {
    **dict.fromkeys(("nsubj", "nsubjpass", "nsubj:pass"), Role.SUBJECT),
    **dict.fromkeys(("dobj", "dative", "obj", "iobj"), Role.OBJECT),
}
"""Labels of both schemes in use, ClearNLP's and Universal Dependencies'; every other label is `Role.OTHER`."""
UNUSED = ("ner", "lemmatizer", "senter", "textcat", "textcat_multilabel", "entity_linker", "entity_ruler", "spancat")
LONGEST_TEXT = 8_000
"""Characters of a sentence that are looked at."""
LONGEST_WORD = 400
"""Characters without a blank that are looked at; spaCy's tokenizer takes the square of their number in time."""
LONGEST_SENTENCE = 400
"""Tokens of a sentence that are looked at."""
_LONG_WORD = re.compile(rf"(\S{{{LONGEST_WORD}}})\S+")
CHUNK = 1_024
"""Sentences that are parsed between two points where memory is given back."""
RULE = "1"
"""Goes into the fingerprint; to be raised whenever the rule that picks nouns changes."""


class SpacyParser:
    """Nouns are tokens whose tag starts with NN, in lower case, with the role of their label (Lai et al., 3.1)."""

    def __init__(self, name: str, pipeline: Language, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._pipeline = pipeline
        # Tag sets of other treebanks may have an NN without meaning all nouns by it.
        self._has_tags = "NNS" in pipeline.pipe_labels.get("tagger", [])
        self._lock = threading.Lock()

    @classmethod
    def load(cls, name: str, folder: Path) -> SpacyParser:
        """The pipeline of a folder, without the components that no noun depends on."""
        try:
            import spacy
        except ModuleNotFoundError:
            raise MissingExtra(f"parser '{name}': it", "parse") from None
        try:
            pipeline = spacy.load(folder, exclude=list(UNUSED))
        except (OSError, ValueError, KeyError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ConfigError(f"parser '{name}': the pipeline cannot be loaded ({reason}). Install it again.") from None
        return cls(name, pipeline, fingerprint(folder))

    def nouns(self, sentences: Iterable[str]) -> Iterator[tuple[Noun, ...]]:
        """The nouns of each sentence, sorted by word, each word once."""
        rest = iter(sentences)
        while chunk := list(itertools.islice(rest, CHUNK)):
            yield from self._parsed(chunk)

    def mentions(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with their mentions filled in; mentions that a document brings along are kept."""
        return fill_mentions(documents, self.nouns)

    def _parsed(self, sentences: list[str]) -> list[tuple[Noun, ...]]:
        # The zone frees the words that the pipeline would otherwise remember for ever; it allows one user at a time.
        with self._lock, self._pipeline.memory_zone():
            docs = (self._tokenised(sentence) for sentence in sentences)
            return [self._nouns(doc) for doc in self._pipeline.pipe(docs)]

    def _tokenised(self, sentence: str) -> Doc:
        # Halves of characters, which JSON can spell, have no UTF-8 form and would end the pipeline.
        text = sentence[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")
        doc = self._pipeline.make_doc(_LONG_WORD.sub(r"\1", text))
        if len(doc) > LONGEST_SENTENCE:
            doc = doc[:LONGEST_SENTENCE].as_doc()
        for token in doc[1:]:
            token.is_sent_start = False  # it is one sentence, whatever stops it holds
        return doc

    def _nouns(self, doc: Doc) -> tuple[Noun, ...]:
        roles: dict[str, Role] = {}
        for token in doc:
            if self._is_noun(token):
                word = token.text.lower()
                roles[word] = max(roles.get(word, Role.OTHER), ROLES.get(token.dep_, Role.OTHER))
        return tuple(Noun(word, roles[word]) for word in sorted(roles))

    def _is_noun(self, token: Any) -> bool:
        if token.is_space:
            return False
        return token.tag_.startswith("NN") if self._has_tags else token.pos_ in ("NOUN", "PROPN")


def fingerprint(folder: Path) -> str:
    """A hash of a pipeline's files, of spaCy's version and of the rule above."""
    digest = hashlib.blake2b(
        f"{RULE} {version('spacy')} {LONGEST_TEXT} {LONGEST_WORD} {LONGEST_SENTENCE}".encode(), digest_size=16
    )
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix not in (".md", ".py", ".pyc") and not file.name.startswith("LICENSE"):
            digest.update(f"\0{file.relative_to(folder).as_posix()}\0{file.stat().st_size}\0".encode())
            with file.open("rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()
