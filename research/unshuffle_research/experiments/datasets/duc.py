"""DUC 2004 Task 2 as NIST hands it out, for those who have signed for it.

Ask at https://www-nlpir.nist.gov/projects/duc/data.html. The summaries lie in `models/2` (written by people) and
`peers/2` (by systems), one file each, called like D30001.M.100.T.A: document set, M for several documents, 100 for the
length, T for text, and who wrote it. Files are plain text, or the HTML of the evaluation tool with a link a sentence.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from unshuffle.errors import DataError
from unshuffle.text.document import Document
from unshuffle.text.split import split_sentences

_FILE = re.compile(r"[Dd]\d{5}[a-z]?\.M\.\d+\.T\.\w+(\.html)?")
_LINKED = re.compile(r'<a\s+href="#\d+"[^>]*>(.*?)</a>', re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


def is_duc(folder: Path) -> bool:
    """Whether a folder has summaries in DUC's layout somewhere below it."""
    return folder.is_dir() and any(True for _ in _files(folder, "models"))


def read_duc(folder: Path, kind: str = "models") -> list[Document]:
    """The summaries of two sentences or more, `models` by people or `peers` by systems, by file name."""
    found = []
    for file in _files(folder, kind):
        sentences = sentences_of(file.read_text(encoding="utf-8", errors="replace"))
        if len(sentences) > 1:
            found.append(Document.from_sentences(sentences, id=file.name))
    if not found:
        raise DataError(f"{folder}: there is no summary in {kind}/2. Unpack the evaluation data of DUC 2004 here.")
    return found


def sentences_of(text: str) -> list[str]:
    """A linked sentence each in the tool's HTML; one per line where every line ends like one; else split by rules."""
    if linked := _LINKED.findall(text):
        return [cleaned for part in linked if (cleaned := " ".join(html.unescape(_TAG.sub("", part)).split()))]
    lines = [" ".join(line.split()) for line in html.unescape(_TAG.sub(" ", text)).splitlines() if line.strip()]
    if len(lines) > 1 and all(line.endswith((".", "!", "?", '"', "'")) for line in lines):
        return lines
    return split_sentences(" ".join(lines))


def _files(folder: Path, kind: str) -> Iterator[Path]:
    for inside in (folder, *sorted(path for path in folder.rglob(f"{kind}/2") if path.is_dir())):
        if inside.name == "2" and inside.parent.name == kind:
            yield from sorted(path for path in inside.iterdir() if _FILE.fullmatch(path.name))
