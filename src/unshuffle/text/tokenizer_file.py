"""What a `tokenizer.json` may hold: it may come from a stranger, and parts of it can multiply text or never end."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unshuffle.errors import ConfigError

LARGEST = 2**26
"""Bytes of a `tokenizer.json`."""
WORD = r"\w+?(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b|\w+|[^\w\s]"
"""Contractions as the word vectors know them: "do" + "n't", "it" + "'s"."""
PATTERNS = frozenset({WORD, " {2,}", r"\s+", "▁{2,}"})
"""Regular expressions that take linear time and never match nothing."""
MODELS = frozenset({"WordLevel", "WordPiece", "BPE", "Unigram"})
PARTS = {
    "normalizer": frozenset({
        "BertNormalizer", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "Prepend", "Replace",
        "Sequence", "Strip", "StripAccents",
    }),
    "pre_tokenizer": frozenset({
        "BertPreTokenizer", "ByteLevel", "Digits", "Metaspace", "Punctuation", "Sequence", "Split", "UnicodeScripts",
        "Whitespace", "WhitespaceSplit",
    }),
    "post_processor": frozenset({
        "BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing",
    }),
    "decoder": frozenset({
        "BPEDecoder", "ByteFallback", "ByteLevel", "Fuse", "Metaspace", "Replace", "Sequence", "Strip", "WordPiece",
    }),
}  # fmt: skip
"""The kinds of parts that may stand in each step."""
ONCE = frozenset({"Precompiled", "ByteLevel", "Prepend"})
"""Parts that make text longer, and so may stand only once in a step."""
MOST_PARTS, MOST_MARKS, LONGEST_REPLACEMENT = 16, 16, 64
LONGEST_WORD, LONGEST_MARK = 200, 8
"""Letters of a word that WordPiece cuts or of a piece of Unigram's, and of the mark on a piece."""


def checked_tokenizer(content: bytes, path: Path) -> bytes:
    """The same, refused where it holds a part that is not on the lists above."""
    if len(content) > LARGEST:
        raise ConfigError(f"{path}: it is larger than {LARGEST} bytes, so it is not a tokenizer.")
    try:
        found = json.loads(content.decode("utf-8"))
        fault = _fault(found) if isinstance(found, dict) else "it is not an object"
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        fault = f"{type(error).__name__} at reading it"
    if fault:
        raise ConfigError(f"{path}: not a tokenizer of this program ({fault}). Download the model folder again.")
    return content


def _fault(found: dict[str, Any]) -> str:
    """What is wrong with it, or nothing."""
    model = found.get("model")
    # Older files do not name the kind; the library then tells it by what the model holds.
    if not isinstance(model, dict) or not (model.get("type") is None or model.get("type") in MODELS):
        return "its model is of no known kind"
    if model.get("dropout"):
        return "its model is random"
    if fault := _model_fault(model):
        return f"its model {fault}"
    for step, kinds in PARTS.items():
        parts = list(_parts(found.get(step)))
        if len(parts) > MOST_PARTS:
            return f"its {step} has too many parts"
        names = [part.get("type") for part in parts]
        for name in names:
            if not isinstance(name, str) or name not in kinds:
                return f"its {step} has the part {str(name)[:40]!r}"
            if name in ONCE and names.count(name) > 1:
                return f"its {step} has {name} twice"
        fault = next((fault for part in parts if (fault := _part_fault(part))), "")
        if fault:
            return f"its {step} {fault}"
    return ""


def _model_fault(model: dict[str, Any]) -> str:
    """WordPiece takes the square of a word's length or more, Unigram the length of its longest piece per letter."""
    longest = model.get("max_input_chars_per_word")
    if longest is not None and not (isinstance(longest, int) and 0 <= longest <= LONGEST_WORD):
        return f"reads words of more than {LONGEST_WORD} letters"
    pieces = model.get("vocab")
    if isinstance(pieces, list) and any(len(str(piece[0])) > LONGEST_WORD for piece in pieces):
        return f"has pieces of more than {LONGEST_WORD} letters"
    marks = [model.get("continuing_subword_prefix"), model.get("end_of_word_suffix")]
    return "adds long text" if any(mark is not None and len(str(mark)) > LONGEST_MARK for mark in marks) else ""


def _parts(part: Any) -> Iterator[dict[str, Any]]:
    """A part, and those of which it is made, however deep; more than are allowed are not all listed."""
    waiting = [part] if part is not None else []
    for _ in range(MOST_PARTS + 1):
        if not waiting:
            return
        first = waiting.pop(0)
        yield first
        for name in ("normalizers", "pretokenizers", "processors", "decoders"):
            waiting += first.get(name) or []


def _part_fault(part: dict[str, Any]) -> str:
    kind = part["type"]
    if kind in ("Replace", "Split"):
        return _pattern_fault(part)
    if kind == "Precompiled":
        return _map_fault(part.get("precompiled_charsmap"))
    if kind == "TemplateProcessing":
        marks = part.get("special_tokens") or {}
        lists = [part.get("single") or [], part.get("pair") or [], marks, *(mark["ids"] for mark in marks.values())]
        return "adds too many marks" if max(map(len, lists)) > MOST_MARKS else ""
    texts = [part.get("prepend"), part.get("replacement"), part.get("content")]
    return "adds long text" if any(text is not None and len(str(text)) > 1 for text in texts) else ""


def _pattern_fault(part: dict[str, Any]) -> str:
    """A pattern must match at least as much as is put in its place."""
    pattern = part["pattern"]
    least = len(str(pattern.get("String", "")))
    if "Regex" in pattern:
        if pattern["Regex"] not in PATTERNS:
            return f"has the pattern {str(pattern['Regex'])[:40]!r}"
        least = 1
    return "makes text longer" if least == 0 or len(str(part.get("content", ""))) > least else ""


def _map_fault(coded: Any) -> str:
    """SentencePiece's table of characters: the size of an index, the index, then what each is replaced by."""
    try:
        table = base64.b64decode(coded or "", validate=True)
    except (binascii.Error, TypeError):
        return "has a table that cannot be read"
    texts = table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")
    return "makes text longer" if max(map(len, texts)) > LONGEST_REPLACEMENT else ""
