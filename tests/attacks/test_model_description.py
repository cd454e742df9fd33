"""The description of a transformer in a stranger's model folder: no code, no hub, no memory beyond its own tensors."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unshuffle.encoders.pretrained.loading import MODEL_TYPES, PretrainedConfig, load
from unshuffle.errors import ConfigError
from unshuffle.parts.architecture import RULES, checked_architecture

Record = Callable[[str, object], None]
SIZES: dict[str, Any] = {
    "vocab_size": 60,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 34,
}
BART: dict[str, Any] = {
    "model_type": "bart",
    "vocab_size": 60,
    "d_model": 8,
    "encoder_layers": 1,
    "encoder_attention_heads": 2,
    "encoder_ffn_dim": 12,
    "max_position_embeddings": 34,
}
HUGE = [10**7, 10**12, 2**63, -1, True, 1.5, "8", None, [8], {}, float("nan"), float("inf")]
SIZE_NAMES = sorted(
    name for name in RULES if any(part in name for part in ("size", "layers", "heads", "dim", "d_model"))
)
ODD = [10**30, -(10**30), "evil", float("nan"), ["evil"], {"evil": 1}, "os.system", "__import__"]


@pytest.mark.parametrize("name", SIZE_NAMES)
def test_no_size_under_any_name_escapes_the_bounds(name: str, record_property: Record) -> None:
    for value in HUGE:
        described = {"model_type": "roberta", **SIZES, name: value}
        with pytest.raises(ConfigError, match=rf"sentence_encoder\.architecture\.{name}: ") as refused:
            load(PretrainedConfig(architecture=described))
        assert "\n" not in str(refused.value)
    record_property("faults", len(HUGE))


@pytest.mark.parametrize("name", sorted(RULES))
def test_values_that_no_transformer_has_are_refused(name: str, record_property: Record) -> None:
    for value in ODD:
        with pytest.raises(ConfigError, match=rf"architecture\.{name}: .* is not "):
            checked_architecture({"model_type": "bert", name: value}, kinds=MODEL_TYPES, slot="sentence_encoder")
    record_property("faults", len(ODD))


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2", "distilbert", "bart"])
@pytest.mark.parametrize("name", ["hidden_act", "activation", "activation_function"])
@pytest.mark.parametrize("value", ["attacker/evil", "evil", "", 7, None, ["gelu"]])
def test_an_unknown_activation_is_one_line(kind: str, name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"{name}: .* is not one of"):
        load(PretrainedConfig(architecture={"model_type": kind, **SIZES, name: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("attn_implementation", "attacker/evil-kernel"),
        ("_attn_implementation", "attacker/evil-kernel"),
        ("_attn_implementation_internal", "attacker/evil-kernel"),
        ("attn_implementation", {"": "attacker/evil-kernel"}),
        ("auto_map", {"AutoModel": "attacker/evil--code.Model"}),
        ("_name_or_path", "attacker/evil"),
        ("trust_remote_code", True),
        ("quantization_config", {"quant_method": "bitsandbytes"}),
        ("kernel_config", {"Linear": "attacker/evil"}),
        ("use_kernels", True),
        ("experts_implementation", "attacker/evil"),
        ("dtype", "evil"),
        ("torch_dtype", "evil"),
        ("transformers_weights", "/etc/passwd"),
        ("adapter_kwargs", {"_adapter_model_path": "attacker/evil"}),
        ("chunk_size_feed_forward", 10**9),
        ("id2label", {"0": "x" * 1000}),
        ("num_labels", 10**9),
        ("output_attentions", True),
        ("add_cross_attention", True),
    ],
)
@pytest.mark.parametrize("kind", ["roberta", "electra", "mpnet", "deberta"])
def test_options_that_are_not_listed_never_reach_the_library(
    kind: str, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    reached: list[dict[str, Any]] = []
    attention: list[object] = []
    for_model, from_config = transformers.AutoConfig.for_model, transformers.AutoModel.from_config

    def watched_config(model_type: str, **options: Any) -> Any:
        reached.append(options)
        return for_model(model_type, **options)

    def watched_model(config: Any, **options: Any) -> Any:
        attention.append(options["attn_implementation"])
        return from_config(config, **options)

    monkeypatch.setattr(transformers.AutoConfig, "for_model", watched_config)
    monkeypatch.setattr(transformers.AutoModel, "from_config", watched_model)
    load(PretrainedConfig(architecture={"model_type": kind, **SIZES, name: value}))
    assert reached and all(set(options) <= set(RULES) for options in reached)
    assert attention == ["eager" if kind in ("deberta", "mpnet") else "sdpa"]


@pytest.mark.parametrize(
    "change", [{"decoder_layers": 96}, {"decoder_ffn_dim": 65_536}, {"decoder_attention_heads": 8}]
)
def test_parts_that_are_dropped_take_no_memory(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    transformers = pytest.importorskip("transformers")
    sizes: list[int] = []
    from_config = transformers.AutoModel.from_config

    def watched(config: Any, **options: Any) -> Any:
        model = from_config(config, **options)
        sizes.append(sum(value.numel() for value in model.parameters()))
        return model

    monkeypatch.setattr(transformers.AutoModel, "from_config", watched)
    load(PretrainedConfig(architecture=BART | change))
    assert sizes[0] < 10_000


def test_the_words_and_encoder_of_a_decoder_take_no_memory() -> None:
    pytest.importorskip("transformers")
    from unshuffle.decode.transformer.pretrained import load_decoder

    described = BART | {"vocab_size": 2_000_000, "encoder_layers": 96, "encoder_ffn_dim": 65_536, "decoder_layers": 1,
                        "decoder_attention_heads": 2, "decoder_ffn_dim": 12}  # fmt: skip
    decoder, width = load_decoder("", described)
    assert width == 8 and sum(value.numel() for value in decoder.parameters()) < 10_000


@pytest.mark.parametrize(
    "change",
    [
        {"max_position_embeddings": 65_536, "hidden_size": 8192, "num_attention_heads": 64},
        {"num_attention_heads": 3},
        {"pad_token_id": 60},
        {"type_vocab_size": 0},
        {"is_decoder": True},
        {"position_embedding_type": "relative_key"},
        {"model_type": "gpt2"},
        {"model_type": ["bert"]},
        {"model_type": None},
        {"model_type": "../../evil"},
    ],
)
@pytest.mark.parametrize("kind", ["bert", "roberta", "electra"])
def test_descriptions_that_do_not_fit_together_are_one_line(kind: str, change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as refused:
        load(PretrainedConfig(architecture={"model_type": kind, **SIZES} | change))
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_the_shipped_model_is_described_by_listed_options_alone() -> None:
    from unshuffle.system.loading import MODELS

    described = json.loads((MODELS / "default" / "config.json").read_text())["system"]["sentence_encoder"]
    known = checked_architecture(described["architecture"], kinds=MODEL_TYPES, slot="sentence_encoder")
    assert set(described["architecture"]) == set(known)


def test_a_changed_description_of_the_shipped_model_is_refused_before_its_weights_are_read(tmp_path: Path) -> None:
    from unshuffle.system.folder import load_model
    from unshuffle.system.loading import MODELS

    folder = Path(shutil.copytree(MODELS / "default", tmp_path / "model"))
    described = json.loads((folder / "config.json").read_text())
    (folder / "model.safetensors").unlink()
    for name, value in [("num_hidden_layers", 10**6), ("hidden_act", "evil"), ("n_layers", 10**6)]:
        changed = json.loads(json.dumps(described))
        changed["system"]["sentence_encoder"]["architecture"][name] = value
        (folder / "config.json").write_text(json.dumps(changed))
        with pytest.raises(ConfigError, match=name):
            load_model(str(folder))
