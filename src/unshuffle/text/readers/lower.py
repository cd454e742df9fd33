"""The format of the published NIPS data: `x.lower`, and beside it `x.eg` with the nouns and their roles.

In `.lower` a line is a document, its sentences divided by `<eos>`. In `.eg` the same line lists `word:i-r|i-r`, where i
is a sentence, from 0, and r its role: 1 other, 2 object, 3 subject.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from unshuffle.errors import DataError
from unshuffle.text.document import Document, Mention, Role
from unshuffle.text.readers.source import PACKED, Line, Source, document

_END = re.compile(r"(?<!\S)<eos>(?!\S)")
_MENTION = re.compile(r"(\d{1,6})-([123])")


def read_lower(source: Source) -> Iterator[Document | DataError]:
    """The documents of a file, with mentions where there is an `.eg` file."""
    beside = _entity_file(source)
    if beside is None:
        for line in source.lines():
            yield _document(source, line, None, "")
        return
    # A missing last line would shift nothing, but who knows which line is the missing one.
    for line, entities in itertools.zip_longest(source.lines(), beside.lines()):
        if line is None or entities is None:
            short, long = (source, beside) if line is None else (beside, source)
            raise DataError(f"{short.name}: it has fewer lines than {long.name}. Both need one line per document.")
        yield _document(source, line, entities, beside.name)


def _entity_file(source: Source) -> Source | None:
    if source.path is None:
        return None
    base = source.path.with_suffix("") if source.path.suffix.lower() in PACKED else source.path
    for ending in ("", *PACKED):
        path = Path(f"{base.with_suffix('.eg')}{ending}")
        if path.is_file():
            return Source(path.name, path)
    return None


def _document(source: Source, line: Line, entities: Line | None, beside: str) -> Document | DataError:
    error = line.error or (entities.error if entities else None)
    if error:
        return error
    sentences = [" ".join(part.split()) for part in _END.split(line.text)]
    if len(sentences) > 1 and not sentences[-1]:
        sentences.pop()
    try:
        plain = document(f"{source.name} line {line.number}", sentences, None, f"{source.stem}-{line.number}")
        if entities is None:
            return plain
        return replace(plain, mentions=_mentions(f"{beside} line {line.number}", entities.text, len(sentences)))
    except DataError as error:
        return error


def _mentions(where: str, text: str, sentences: int) -> tuple[Mention, ...]:
    """Sorted by word, because the files list entities by first sentence and so give the order away."""
    roles: dict[tuple[str, int], Role] = {}
    for entry in text.split():
        word, _, mentions = entry.rpartition(":")
        for mention in mentions.split("|"):
            match = _MENTION.fullmatch(mention)
            if not word or match is None:
                raise DataError(
                    f"{where}: '{entry[:60]}' is not like word:0-3|2-1. Write sentence-role after the word."
                )
            sentence, role = int(match[1]), Role(int(match[2]))
            if sentence >= sentences:
                raise DataError(f"{where}: '{entry[:60]}' names sentence {sentence} of {sentences}. Count from 0.")
            roles[word, sentence] = max(role, roles.get((word, sentence), Role.OTHER))
    return tuple(Mention(word, sentence, role) for (word, sentence), role in sorted(roles.items()))
