"""A stranger's tokenizer.json: no part that multiplies text, takes for ever, or gives numbers that are no words."""

import base64
import json
import resource
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Backend
from tokenizers import models, normalizers, pre_tokenizers

from unshuffle.errors import ConfigError
from unshuffle.text.tokenizer_file import WORD
from unshuffle.text.tokens import Tokenizer, TokensConfig


def sound() -> dict[str, Any]:
    backend = Backend(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "a": 2}, unk_token="[UNK]"))
    backend.normalizer = normalizers.Sequence([normalizers.Lowercase()])
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return dict(json.loads(backend.to_str()))


def read(tmp_path: Path, content: Any) -> Tokenizer:
    path = tmp_path / "tokenizer.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return Tokenizer.read(path)


def replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def charsmap(*texts: bytes) -> str:
    return base64.b64encode((4).to_bytes(4, "little") + b"\0" * 4 + b"\0".join(texts) + b"\0").decode()


def sequence(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(parts)}


DOUBLE = replace({"String": "a"}, "aa")
NORMALIZERS: dict[str, Any] = {
    "doubling": DOUBLE,
    "doubling forty times": sequence(*[DOUBLE] * 40),
    "doubling in depth": sequence(sequence(sequence(DOUBLE))),
    "regex": replace({"Regex": "(a+)+$"}, "a"),
    "regex of nothing": replace({"Regex": "x*"}, "a"),
    "regex of any": replace({"Regex": "."}, "aaaa"),
    "listed regex, long text": replace({"Regex": " {2,}"}, "a" * 99),
    "empty string": replace({"String": ""}, "a"),
    "no pattern": {"type": "Replace", "content": "a"},
    "prepended twice": sequence({"type": "Prepend", "prepend": "a"}, {"type": "Prepend", "prepend": "a"}),
    "long prepended": {"type": "Prepend", "prepend": "a" * 10_000},
    "table of long texts": {"type": "Precompiled", "precompiled_charsmap": charsmap(b"a" * 100_000)},
    "table twice": sequence(*[{"type": "Precompiled", "precompiled_charsmap": charsmap(b"a")}] * 2),
    "table that is none": {"type": "Precompiled", "precompiled_charsmap": "%%%"},
    "byte level": {"type": "ByteLevel"},
    "too many": sequence(*[{"type": "Lowercase"}] * 40),
    "custom": {"type": "Custom", "python": "evil"},
    "no type": {"lowercase": True},
    "list": [{"type": "Lowercase"}],
    "text": "Lowercase",
    "number": 7,
}
PRE_TOKENIZERS: dict[str, Any] = {
    "regex": {"type": "Split", "pattern": {"Regex": "(a|a)*b"}, "behavior": "Isolated", "invert": False},
    "regex that looks back": {"type": "Split", "pattern": {"Regex": "(?<=a)"}, "behavior": "Isolated", "invert": False},
    "empty split": {"type": "Split", "pattern": {"String": ""}, "behavior": "Isolated", "invert": False},
    "byte level thrice": {
        "type": "Sequence",
        "pretokenizers": [{"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}] * 3,
    },
    "too many": {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}] * 40},
    "custom": {"type": "Custom"},
    "long replacement": {"type": "Metaspace", "replacement": "aaaa", "prepend_scheme": "always", "split": True},
    "delimiter": {"type": "CharDelimiterSplit", "delimiter": "aaaa"},
}
MARK = {"SpecialToken": {"id": "a", "type_id": 0}}
POST_PROCESSORS: dict[str, Any] = {
    "many marks": {"type": "TemplateProcessing", "single": [MARK] * 10_000, "pair": [], "special_tokens": {}},
    "marks of many words": {
        "type": "TemplateProcessing",
        "single": [MARK],
        "pair": [],
        "special_tokens": {"a": {"id": "a", "ids": [0] * 10_000, "tokens": ["a"] * 10_000}},
    },
    "a number that is no word": {"type": "BertProcessing", "sep": ["b", 4_000_000_000], "cls": ["c", 77]},
    "custom": {"type": "Custom"},
}
DECODERS: dict[str, Any] = {"regex": replace({"Regex": "(a+)+$"}, "a"), "custom": {"type": "Custom"}}
MODELS: dict[str, Any] = {
    "number beyond the words": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 4_000_000_000}, "unk_token": "[UNK]"},
    "gap": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 5}, "unk_token": "[UNK]"},
    "negative": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": -5}, "unk_token": "[UNK]"},
    "random": {"type": "BPE", "dropout": 0.5, "vocab": {"a": 0}, "merges": []},
    "words without end": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 10**9,  # 4,000 letters would take 5 s, 40,000 minutes
        "vocab": {"[UNK]": 0, "a": 1, "##a": 2},
    },
    "pieces of any length": {
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [["<unk>", 0.0], *(["a" * length, -1.0] for length in range(1, 3_000))],  # 4,000 letters: 5 s
    },
    "long mark of a piece": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "#" * 10_000,
        "max_input_chars_per_word": 100,
        "vocab": {"[UNK]": 0, "a": 1},
    },
    "long mark of a word": {"type": "BPE", "end_of_word_suffix": "#" * 10_000, "vocab": {"a": 0}, "merges": []},
    "custom": {"type": "Custom"},
    "none": None,
    "list": [],
    "no vocabulary": {"type": "WordLevel"},
    "unknown word missing": {"type": "WordLevel", "vocab": {"b": 0}, "unk_token": "[UNK]"},
    "merges of unknown words": {"type": "BPE", "vocab": {"a": 0}, "merges": ["x y"]},
    "pieces without end": {"type": "Unigram", "unk_id": 9, "vocab": [["a", 0.0]]},
}
CASES = [
    (place, name, part)
    for place, parts in {
        "normalizer": NORMALIZERS,
        "pre_tokenizer": PRE_TOKENIZERS,
        "post_processor": POST_PROCESSORS,
        "decoder": DECODERS,
        "model": MODELS,
    }.items()
    for name, part in parts.items()
]


@pytest.mark.parametrize(("place", "name", "part"), CASES, ids=[f"{place}: {name}" for place, name, _ in CASES])
def test_hostile_parts_are_one_line(tmp_path: Path, place: str, name: str, part: Any) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, sound() | {place: part})
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 600
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "null", "7", "[" * 100_000, '{"model":' * 50_000, "\ufeff{}", "\0"]
)
def test_files_that_are_no_tokenizer_are_one_line(tmp_path: Path, content: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, content)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 600


def test_a_file_larger_than_any_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="larger than"):
        read(tmp_path, json.dumps(sound()) + " " * 2**26)


@pytest.mark.parametrize("split", ["words", "spaces"])
def test_our_own_tokenizers_are_sound(tmp_path: Path, split: Any) -> None:
    made = Tokenizer.of_words(["It isn't a test."], ["test"], TokensConfig(split=split, minimum_count=1))
    again = read(tmp_path, made.json())
    assert again.encode(["It isn't a test."])[0].ids.tolist() == made.encode(["It isn't a test."])[0].ids.tolist()


@pytest.mark.parametrize(
    ("place", "part"),
    [
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": charsmap(b"a", b"abc")}),
        ("normalizer", sequence(replace({"Regex": " {2,}"}, " "), {"type": "NFKC"}, {"type": "StripAccents"})),
        ("normalizer", replace({"String": " "}, "▁")),
        ("pre_tokenizer", {"type": "Split", "pattern": {"Regex": WORD}, "behavior": "Removed", "invert": True}),
        ("pre_tokenizer", {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}),
        ("pre_tokenizer", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}),
        ("post_processor", {"type": "BertProcessing", "sep": ["a", 2], "cls": ["[UNK]", 0]}),
        ("decoder", {"type": "WordPiece", "prefix": "##", "cleanup": True}),
    ],
)
def test_parts_of_known_models_pass(tmp_path: Path, place: str, part: dict[str, Any]) -> None:
    content = sound() | {place: part}
    if part["type"] == "Precompiled":  # our made-up table has no index that the library could walk
        from unshuffle.text.tokenizer_file import checked_tokenizer

        assert checked_tokenizer(json.dumps(content).encode(), tmp_path)
    else:
        assert read(tmp_path, content).size == 3
