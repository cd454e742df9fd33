"""Sentences to word numbers."""

from unshuffle.text.tokens import Tokenizer, TokensConfig

WORDS = [f"w{number}" for number in range(30)]


def tokenizer(longest: int) -> Tokenizer:
    return Tokenizer.of_words([" ".join(WORDS)], WORDS, TokensConfig(split="spaces", minimum_count=1, longest=longest))


def read(longest: int, text: str) -> list[str]:
    found = tokenizer(longest)
    (encoded,) = found.encode([text])
    assert len(encoded.ids) == len(encoded.starts) == len(encoded.ends)
    return [found.words()[number] for number in encoded.ids]


def test_both_ends_of_a_long_sentence_are_read() -> None:
    assert read(7, " ".join(WORDS)) == ["w0", "w1", "w2", "w3", "w27", "w28", "w29"]
    assert read(30, " ".join(WORDS)) == WORDS
    assert read(1, " ".join(WORDS)) == ["w0"]


def test_a_sentence_of_any_length_is_bounded_before_it_is_split() -> None:
    text = " ".join(["w1", *["w2"] * 1_000_000, "w3"])
    assert read(4, text) == ["w1", "w2", "w2", "w3"]


def test_a_sentence_without_words_is_one_unknown_word() -> None:
    assert read(5, "   ") == ["[UNK]"]
