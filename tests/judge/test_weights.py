"""Judges with weights of their own: answers turn with the question, training learns, folders are checked."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.fixtures.documents import NOUNS, VERBS, random_documents
from tests.fixtures.systems import tiny_model, tiny_transformer
from unshuffle.errors import ConfigError, DataError
from unshuffle.evaluation.trust import fitted_trust
from unshuffle.judge.contracts import Trust
from unshuffle.judge.cross_encoder import CrossEncoder, CrossEncoderConfig, CrossEncoderJudge
from unshuffle.judge.language_model import LanguageModelJudge
from unshuffle.judge.opening import open_judge
from unshuffle.system.folder import save_model
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.text.tokens import TokensConfig
from unshuffle.training.corpus import Splits
from unshuffle.training.judge import SETTINGS, JudgeTraining, drawn_pairs, train_judge
from unshuffle.training.loop import draw

DOCUMENT = random_documents(1, sentences=5, seed=4)[0]
PAIRS = [(0, 1), (3, 2), (4, 0)]
TURNED = [(second, first) for first, second in PAIRS]


def numbered(count: int, seed: int) -> tuple[Document, ...]:
    """Sentences whose first noun tells their place."""
    made = random_documents(count, sentences=4, seed=seed)
    return tuple(
        replace(
            one,
            sentences=tuple(
                f"the {NOUNS[place]} {VERBS[at % 8]} {at}" for place, at in zip(range(4), range(90), strict=False)
            ),
            mentions=(),
        )
        for one in made
    )


def cross_encoder(folder: Path, **options: object) -> CrossEncoderJudge:
    config = CrossEncoderConfig(source=str(tiny_transformer(folder / "transformer")), **options).resolved()  # type: ignore[arg-type]
    tokenizer = config.vocabulary((), TokensConfig(longest=config.longest), 1).tokenizer
    torch.manual_seed(1)
    return CrossEncoderJudge(CrossEncoder(config, words=tokenizer.size), tokenizer)


def language_model(folder: Path) -> Path:
    """A random causal model with the word-level tokenizer of the tiny transformer."""
    transformers = pytest.importorskip("transformers", reason="needs the 'bert' extra")
    place = folder / "causal"
    tokens = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(tiny_transformer(folder / "transformer") / "tokenizer.json"),
        bos_token="[CLS]",
        unk_token="[UNK]",
    )
    tokens.save_pretrained(place)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(tokens), n_positions=256, n_embd=16, n_layer=2, n_head=2, initializer_range=0.5,
        bos_token_id=tokens.bos_token_id, eos_token_id=tokens.bos_token_id,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(place)
    return place


@pytest.mark.parametrize("context", [True, False])
@pytest.mark.parametrize("kind", ["cross-encoder", "language-model"])
def test_turning_a_question_turns_the_answer(tmp_path: Path, kind: str, context: bool) -> None:
    judge = (
        cross_encoder(tmp_path, context=context)
        if kind == "cross-encoder"
        else LanguageModelJudge.load(language_model(tmp_path), context=context)
    )
    straight, turned = judge.answers(DOCUMENT.sentences, PAIRS), judge.answers(DOCUMENT.sentences, TURNED)
    assert [1 - chance for chance in straight] == pytest.approx(list(turned), abs=1e-5)  # type: ignore[operator]
    assert len({*straight}) == 3
    # One at a time, and with other sentences around them.
    assert [judge.answers(DOCUMENT.sentences, [pair])[0] for pair in PAIRS] == pytest.approx(list(straight), abs=1e-5)
    fewer = judge.answers(DOCUMENT.sentences[:4], PAIRS[:2])
    assert (list(fewer) == pytest.approx(list(straight[:2]), abs=1e-6)) is not context


@pytest.mark.parametrize("context", [True, False])
def test_a_language_model_compares_the_likelihoods_of_both_orders(tmp_path: Path, context: bool) -> None:
    judge = LanguageModelJudge.load(language_model(tmp_path), context=context)

    def likelihood(*numbers: int) -> float:
        text = [judge.tokenizer(f" {sentences[at]}", add_special_tokens=False).input_ids for at in numbers]
        ids = torch.tensor([[judge.tokenizer.bos_token_id, *(piece for some in text for piece in some)]])
        chance = judge.model(input_ids=ids).logits.log_softmax(-1)
        return float(sum(chance[0, at - 1, ids[0, at]] for at in range(1, ids.shape[1])))

    sentences = DOCUMENT.sentences[:4]
    rest = (1, 3) if context else ()
    with torch.inference_mode():  # what is read before counts the same in both
        odds = likelihood(*rest, 0, 2) - likelihood(*rest, 2, 0)
    assert judge.answers(sentences, [(0, 2)])[0] == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-5)


def test_long_sentences_are_cut_alike_on_both_sides(tmp_path: Path) -> None:
    judge = cross_encoder(tmp_path, longest=12)
    long = [f"the {noun} " * 40 for noun in NOUNS[:3]]
    assert judge.answers(long, [(0, 1)])[0] == pytest.approx(1 - judge.answers(long, [(1, 0)])[0], abs=1e-6)
    row, segments = judge.model._row([words.ids for words in judge.tokenizer.encode(long)], 0, 1)
    assert len(row) == len(segments) <= 12 and 0 < segments.sum() < len(row)


def test_a_judge_s_folder_gives_the_same_answers(tmp_path: Path) -> None:
    judge = cross_encoder(tmp_path)
    judge.trust = Trust(reliability=0.7)
    judge.save(tmp_path / "judge")
    again = open_judge(str(tmp_path / "judge"))
    assert again.answers(DOCUMENT.sentences, PAIRS) == judge.answers(DOCUMENT.sentences, PAIRS)
    assert again.trust == judge.trust  # type: ignore[attr-defined]
    assert isinstance(open_judge(str(language_model(tmp_path))), LanguageModelJudge)


@pytest.mark.parametrize("harm", ["weights", "source", "kind", "shape"])
def test_a_folder_that_was_tampered_with_is_refused_in_one_line(tmp_path: Path, harm: str) -> None:
    judge = cross_encoder(tmp_path)
    judge.save(tmp_path / "judge")
    config = tmp_path / "judge" / "config.json"
    described = json.loads(config.read_text())
    if harm == "weights":
        file = tmp_path / "judge" / "model.safetensors"
        file.write_bytes(file.read_bytes()[:-1] + b"\x00\x01")
    elif harm == "source":
        described["judge"]["source"] = "hub:someone/else"
    elif harm == "kind":
        described["kind"] = "other"
    else:
        described["judge"]["architecture"]["hidden_size"] = 32
    config.write_text(json.dumps(described))
    with pytest.raises(ConfigError) as refused:
        CrossEncoderJudge.load(tmp_path / "judge")
    assert "\n" not in str(refused.value)


def test_pairs_to_learn_from_depend_on_the_step_and_not_on_the_process(tmp_path: Path) -> None:
    model = tiny_model("se-grn", tmp_path, [DOCUMENT])
    items = [model.preparer.item(one) for one in random_documents(7, sentences=(2, 6), seed=1)]
    whole = draw(items, range(7), 5)
    pairs, truth = drawn_pairs(whole)
    shares = [drawn_pairs(whole.share(rank, 2)) for rank in range(2)]
    assert [one for share in shares for one in share[0]] == pairs
    assert [one for share in shares for one in share[1]] == truth
    for order, asked in zip(whole.orders, pairs, strict=True):
        assert len(asked) == min(4, len(order) * (len(order) - 1) // 2)


def test_a_judge_learns_which_sentence_comes_first(tmp_path: Path) -> None:
    job = JudgeTraining(
        config=CrossEncoderConfig(source=str(tiny_transformer(tmp_path / "transformer")), context=False),
        data=Splits(numbered(24, 1), numbered(4, 2), ()),
        out=tmp_path / "judge",
        training=replace(SETTINGS, learning_rate=1e-2, epochs=8, patience=8),
    )
    scores: list[float] = []
    judge = train_judge(job, lambda progress: scores.append(progress.score) if progress.score is not None else None)
    assert max(scores) > 90
    sentences = numbered(1, 3)[0].sentences
    assert open_judge(str(tmp_path / "judge")).answers(sentences, [(0, 3)]) == judge.answers(sentences, [(0, 3)])


def test_a_judge_may_begin_with_the_transformer_of_an_ordering_model_of_the_same_kind(tmp_path: Path) -> None:
    ordering = tiny_model("ranktxnet", tmp_path)
    save_model(ordering, tmp_path / "ordering")
    job = JudgeTraining(
        config=CrossEncoderConfig(source=str(tmp_path / "transformer")),
        data=Splits(numbered(4, 1), numbered(4, 2), ()),
        out=tmp_path / "judge",
        training=replace(SETTINGS, learning_rate=1e-12, epochs=1),
        start=str(tmp_path / "ordering"),
    )
    begun = train_judge(job).model.pieces.state_dict()
    known = ordering.network.state_dict()
    assert all(torch.allclose(value, known[f"sentence_encoder.pieces.{name}"]) for name, value in begun.items())
    save_model(tiny_model("se-grn", tmp_path), tmp_path / "words")
    with pytest.raises(ConfigError, match="not of the encoder's kind"):
        train_judge(replace(job, start=str(tmp_path / "words"), out=tmp_path / "other"))


class Told:
    def __init__(self, documents: Sequence[Document], right: bool) -> None:
        self.place = {text: at for document in documents for at, text in enumerate(document.sentences)}
        self.right = right

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
        return [float((self.place[sentences[a]] < self.place[sentences[b]]) == self.right) for a, b in pairs]


def test_trust_is_given_to_a_judge_that_helps_and_to_no_other(tmp_path: Path) -> None:
    documents = random_documents(12, sentences=(3, 5), seed=9)
    orderer = Orderer(tiny_model("se-grn", tmp_path, documents))
    good = fitted_trust(orderer, Told(documents, True), documents, questions=4)
    assert good.trust.reliability >= 0.9 and good.with_judge > good.without + 20 and good.asked <= 4
    bad = fitted_trust(orderer, Told(documents, False), documents, questions=4)
    assert not bad.trust.used and bad.with_judge == bad.without
    with pytest.raises(DataError, match="too few"):
        fitted_trust(orderer, Told(documents, True), documents[:3])


def test_trust_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "trust.json"
    file.write_text(json.dumps(Trust(reliability=0.6).write()))
    judge = open_judge("http://localhost:1/v1", model="m", trust=file)
    assert judge is not None and judge.trust.reliability == 0.6  # type: ignore[attr-defined]
