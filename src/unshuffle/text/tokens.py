"""Sentences to word numbers, by a tokenizer that is one `tokenizer.json` file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from unshuffle.errors import ConfigError
from unshuffle.storage.files import Read
from unshuffle.text.tokenizer_file import WORD, checked_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

UNKNOWN, PADDING = "[UNK]", "[PAD]"
LONGEST_WORD = 40
"""Letters of a word that are looked at for each word that may be read."""


@dataclass(frozen=True, kw_only=True)
class TokensConfig:
    """How a word-level vocabulary is made; encoders with word pieces bring their own."""

    split: Literal["words", "spaces"] = "words"
    """`spaces` for text that was tokenised before, `words` for text as people write it."""
    vocabulary: Literal["training", "vectors"] = "training"
    """`training`: words of the training documents; `vectors`: also every word that has a vector."""
    minimum_count: Annotated[int, Ge(1)] = 2
    """A word without a vector must occur this often in training."""
    longest: Annotated[int, Ge(1)] = 512
    """Words of a sentence that are read; of a longer one, those at both ends."""
    vectors: str = "default"
    """Word vectors to start from: `default` for those in the package, or a file."""


@dataclass(frozen=True, slots=True)
class EncodedSentence:
    """A sentence as word numbers, with the span of text each came from."""

    ids: NDArray[np.int64]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


class Tokenizer:
    """Turns sentences into word numbers."""

    def __init__(self, backend: Backend, longest: int) -> None:
        self.backend = backend
        self.longest = longest
        self.backend.no_truncation()
        self.backend.no_padding()

    @classmethod
    def of_words(
        cls, sentences: Iterable[str], known: Sequence[str] | Container[str], config: TokensConfig
    ) -> Tokenizer:
        """A word-level tokenizer; `known` are the words that have a vector."""
        from tokenizers import Regex, models, normalizers, pre_tokenizers
        from tokenizers import Tokenizer as Backend

        backend = Backend(models.WordLevel({UNKNOWN: 0, PADDING: 1}, unk_token=UNKNOWN))
        backend.normalizer = normalizers.Lowercase()
        backend.pre_tokenizer = (
            pre_tokenizers.WhitespaceSplit()
            if config.split == "spaces"
            else pre_tokenizers.Split(Regex(WORD), behavior="removed", invert=True)
        )
        counts: Counter[str] = Counter()
        for sentence in sentences:
            text = backend.normalizer.normalize_str(sentence)
            counts.update(word for word, _ in backend.pre_tokenizer.pre_tokenize_str(text))
        chosen = {word for word, count in counts.items() if count >= config.minimum_count or word in known}
        if config.vocabulary == "vectors" and isinstance(known, Sequence):
            chosen.update(known)
        words = [UNKNOWN, PADDING, *sorted(chosen - {UNKNOWN, PADDING})]
        backend.model = models.WordLevel({word: number for number, word in enumerate(words)}, unk_token=UNKNOWN)
        return cls(backend, config.longest)

    @classmethod
    def read(cls, path: Path, longest: int = 512, *, read: Read = Path.read_bytes) -> Tokenizer:
        """From a `tokenizer.json`."""
        from tokenizers import Tokenizer as Backend

        if not path.is_file():
            raise ConfigError(f"{path}: the tokenizer is missing. Copy the whole model folder.")
        content = checked_tokenizer(read(path), path)
        try:
            found = cls(Backend.from_buffer(content), longest)
            (probe,) = found.encode(["a"])
        except BaseException as error:  # the library raises bare Exception for any defect, and panics are none
            if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
                raise
            reason = " ".join(str(error).split())[:200]
            raise ConfigError(f"{path}: not a tokenizer ({reason}). Download the model folder again.") from None
        if max([*found.backend.get_vocab().values(), *probe.ids.tolist()], default=0) >= found.size:
            raise ConfigError(f"{path}: its words are not numbered from 0 on. Download the model folder again.")
        return found

    def json(self) -> str:
        """The content of `tokenizer.json`."""
        return str(self.backend.to_str())

    @property
    def size(self) -> int:
        """How many words or word pieces there are."""
        return int(self.backend.get_vocab_size())

    def words(self) -> list[str]:
        """All words, by number."""
        vocabulary = self.backend.get_vocab()
        return sorted(vocabulary, key=vocabulary.__getitem__)

    def number(self, word: str) -> int:
        """The number of a word; unknown words share one."""
        found = self.backend.token_to_id(word)
        return 0 if found is None else int(found)

    def encode(self, sentences: Sequence[str]) -> list[EncodedSentence]:
        """Word numbers of each sentence; a sentence without any word reads as one unknown word.

        Of a sentence that is too long both ends are read: how it begins and how it ends tell most of its place.
        """
        found = []
        for row in self.backend.encode_batch([self._bounded(sentence) for sentence in sentences]):
            ids, offsets = row.ids or [0], row.offsets or [(0, 0)]
            if len(ids) > self.longest:
                head, tail = self.longest - self.longest // 2, self.longest // 2
                ids, offsets = ids[:head] + ids[len(ids) - tail :], offsets[:head] + offsets[len(offsets) - tail :]
            starts, ends = zip(*offsets, strict=True)
            found.append(EncodedSentence(np.array(ids, np.int64), starts, ends))
        return found

    def _bounded(self, sentence: str) -> str:
        """Both ends of a sentence so long that it could not be read whole anyway."""
        most = LONGEST_WORD * self.longest
        return sentence if len(sentence) <= 2 * most else f"{sentence[:most]} {sentence[-most:]}"
