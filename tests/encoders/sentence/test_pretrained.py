"""Where transformers come from, what is frozen, and what a model folder keeps."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.encoders.made_up import WORDS, close, collated, corpus
from unshuffle.encoders.contracts import sentence_encoders
from unshuffle.encoders.pretrained.checkpoint import pieces_tokenizer
from unshuffle.encoders.pretrained.loading import MODEL_TYPES, PretrainedConfig
from unshuffle.encoders.pretrained.pieces import Pieces, chunks
from unshuffle.encoders.sentence.transformer import TransformerConfig
from unshuffle.errors import ConfigError, MissingExtra

pytest.importorskip("transformers")

SMALL = {
    "vocab_size": WORDS,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 34,
}


def small(kind: str) -> dict[str, Any]:
    """The architecture of a tiny transformer of a kind."""
    if kind == "distilbert":
        names = {"hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads"}
        options = {names.get(name, name): value for name, value in SMALL.items()}
        return {"model_type": kind, **options, "hidden_dim": options.pop("intermediate_size")}
    if kind == "bart":
        return {
            "model_type": kind,
            "vocab_size": WORDS,
            "d_model": 8,
            "encoder_layers": 2,
            "decoder_layers": 1,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 12,
            "decoder_ffn_dim": 12,
            "max_position_embeddings": 34,
        }
    return {"model_type": kind, **SMALL}


def built(config: Any) -> Any:
    encoder = sentence_encoders.build(config, words=WORDS)
    assert isinstance(encoder, nn.Module)
    return encoder.eval()


@pytest.mark.parametrize("kind", sorted(MODEL_TYPES))
def test_every_kind_reads_as_many_pieces_as_it_says_and_can_be_frozen(kind: str) -> None:
    torch.manual_seed(0)
    pieces = Pieces(PretrainedConfig(architecture=small(kind)), words=WORDS).eval()
    lengths = torch.tensor([3, pieces.longest, 5])
    ids = torch.randint(5, WORDS, (int(lengths.sum()),))
    states = pieces(ids, lengths)
    assert states.shape == (len(ids), 8)
    close(states[:3], pieces(ids[:3], lengths[:1]))
    frozen = PretrainedConfig(architecture=small(kind), frozen_layers=-1, freeze_embeddings=True)
    assert Pieces(frozen, words=WORDS).frozen


def test_a_model_folder_needs_no_source(bert: str) -> None:
    config = TransformerConfig(source=bert, dropout=0.1)
    first, batch = built(config), collated(corpus(pieces=True))
    kept = json.loads(json.dumps(sentence_encoders.write(config.detached())))
    assert kept["source"] == "" and bert not in json.dumps(kept)
    second = built(sentence_encoders.read(kept))
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(batch).sentences, second(batch).sentences)


def test_a_resolved_config_still_reads_the_weights_of_its_source(bert: str) -> None:
    batch = collated(corpus(pieces=True))
    config = TransformerConfig(source=bert)
    assert config.resolved().architecture["hidden_size"] == 8
    assert torch.equal(built(config)(batch).sentences, built(config.resolved())(batch).sentences)


def test_a_package_can_bring_a_transformer(package: str, bert: str) -> None:
    assert (
        TransformerConfig(source=package).resolved().architecture
        == PretrainedConfig(source=bert).resolved().architecture
    )


def test_of_bart_only_the_encoder_is_kept(bart: str) -> None:
    names = [name for name, _ in built(TransformerConfig(source=bart)).named_parameters()]
    assert names and not any("decoder" in name for name in names)


def test_some_layers_can_be_frozen(bert: str) -> None:
    encoder = built(TransformerConfig(source=bert, frozen_layers=2))
    trained = {name for name, value in encoder.named_parameters() if value.requires_grad}
    assert not any(".layer.0." in name or ".layer.1." in name for name in trained)
    assert any(".layer.2." in name for name in trained) and any("word_embeddings" in name for name in trained)
    assert not encoder.pieces.frozen
    with pytest.raises(ConfigError, match="only 3"):
        built(TransformerConfig(source=bert, frozen_layers=4))


def test_a_frozen_transformer_drops_nothing_while_the_rest_is_trained(bert: str) -> None:
    encoder = built(TransformerConfig(source=bert, frozen_layers=-1, freeze_embeddings=True, dropout=0.0))
    batch = collated(corpus(pieces=True))
    quiet = encoder(batch).sentences
    assert torch.equal(encoder.train()(batch).sentences, quiet)
    assert not any(value.requires_grad for value in encoder.parameters())


@pytest.mark.parametrize(
    ("source", "message"),
    [("", "it is empty"), ("no/such/folder", "no folder"), ("package:no_such_package", "no package")],
)
def test_a_source_that_is_not_there_is_named(source: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        built(TransformerConfig(source=source))


def test_weights_that_would_need_unpickling_are_refused(bert: str, tmp_path: Path) -> None:
    shutil.copy(Path(bert) / "config.json", tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"anything")
    with pytest.raises(ConfigError, match="safetensors"):
        built(TransformerConfig(source=str(tmp_path)))


def test_only_known_kinds_are_built(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gpt2"):
        built(TransformerConfig(architecture={"model_type": "gpt2"}))
    (tmp_path / "config.json").write_text("not json", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config\.json"):
        built(TransformerConfig(source=str(tmp_path)))


def test_a_tokenizer_of_another_source_is_noticed(bert: str) -> None:
    with pytest.raises(ConfigError, match="tokenizer"):
        sentence_encoders.build(TransformerConfig(source=bert), words=WORDS + 1)


def test_without_the_extra_the_command_is_named(bert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    built(TransformerConfig(source=bert))  # BERT itself needs no library
    with pytest.raises(MissingExtra, match=r"\.\[bert\]"):
        built(TransformerConfig(architecture=small("roberta")))


def test_word_pieces_come_with_their_marks(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {"[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "b": 5, "##b": 6}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    backend.save(str(tmp_path / "tokenizer.json"))
    (read,) = pieces_tokenizer(str(tmp_path)).encode(["a bb"])
    assert read.ids.tolist() == [2, 4, 5, 6, 3]
    assert pieces_tokenizer(str(tmp_path), longest=4).encode(["a bb"])[0].ids.tolist() == [2, 4, 6, 3]
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match="fast tokenizer"):
        pieces_tokenizer(str(tmp_path))


def test_chunks_hold_every_row_once_and_little_padding() -> None:
    lengths = torch.randint(1, 60, (500,), generator=torch.Generator().manual_seed(0))
    groups = chunks(lengths, 2048)
    assert sorted(torch.cat(groups).tolist()) == list(range(500))
    sizes = [len(rows) * int(lengths[rows].max()) for rows in groups]
    assert max(sizes) <= 2048
    assert sum(sizes) < 1.2 * int(lengths.sum())
    assert [rows.tolist() for rows in chunks(torch.tensor([9]), 4)] == [[0]]
    assert chunks(lengths[:0], 4) == []
