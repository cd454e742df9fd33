"""A stranger's folder named as a judge: no code, no pickle, no device is read, and what does not fit is one line."""

import json
import os
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

pytest.importorskip("transformers", reason="needs the 'bert' extra")

from tests.judge.test_weights import DOCUMENT, PAIRS, cross_encoder, language_model
from unshuffle.errors import ConfigError, UnshuffleError
from unshuffle.judge.language_model import LanguageModelJudge
from unshuffle.judge.opening import open_judge

VALUES: list[Any] = ["evil", "", -1, 0, 1, 3, None, [7], {}, True, 10**12, 10**30, 0.5, float("nan")]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one judge of each kind."""
    folder = tmp_path_factory.mktemp("judges")
    cross_encoder(folder).save(folder / "cross-encoder")
    language_model(folder)
    return folder


def options(folder: Path) -> list[tuple[str, ...]]:
    described = json.loads((folder / "config.json").read_text())["judge"]
    return [(name,) for name in described] + [("architecture", name) for name in described["architecture"]]


def changed(folder: Path, path: tuple[str, ...], value: object) -> None:
    described = json.loads((folder / "config.json").read_text())
    table = described
    for name in path[:-1]:
        table = table[name]
    table[path[-1]] = value
    (folder / "config.json").write_text(json.dumps(described))


def refused(folder: Path) -> str:
    with pytest.raises(UnshuffleError) as error:
        open_judge(str(folder))
    assert "\n" not in str(error.value) and len(str(error.value)) < 600
    return str(error.value)


def test_hostile_options_of_a_cross_encoder_are_one_line_or_harmless(sound: Path, tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for path in options(sound / "cross-encoder"):
        for value in VALUES:
            folder = Path(shutil.copytree(sound / "cross-encoder", tmp_path / "judge", dirs_exist_ok=True))
            changed(folder, ("judge", *path), value)
            try:
                answers = open_judge(str(folder)).answers(DOCUMENT.sentences, PAIRS)
            except UnshuffleError as error:
                assert "\n" not in str(error) and len(str(error)) < 600
            else:
                assert len(answers) == len(PAIRS), (path, value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("cross-encoder", "config.json"),
        ("cross-encoder", "tokenizer.json"),
        ("cross-encoder", "model.safetensors"),
        ("causal", "config.json"),
    ],
)
@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "huge", "/proc/self/mem"])
def test_what_is_no_file_of_the_folder_is_not_read(
    sound: Path, tmp_path: Path, kind: str, name: str, target: str
) -> None:
    folder = Path(shutil.copytree(sound / kind, tmp_path / "judge"))
    (folder / name).unlink()
    if target == "pipe":
        os.mkfifo(folder / name)
    elif target == "huge":
        with (folder / name).open("wb") as file:
            file.truncate(2**40)
    else:
        (folder / name).symlink_to(target)
    assert name in refused(folder)


@pytest.mark.parametrize(
    "path",
    [("attn_implementation",), ("_attn_implementation",), ("experts_implementation",), ("text", "attn_implementation")],
)
@pytest.mark.parametrize(
    "value", ["attacker/evil-kernel", "flash_attention_2", {"": "attacker/evil-kernel"}, "paged|x"]
)
def test_a_language_model_s_folder_does_not_choose_its_attention_code(
    sound: Path, tmp_path: Path, path: tuple[str, ...], value: object
) -> None:
    folder = Path(shutil.copytree(sound / "causal", tmp_path / "judge"))
    changed(folder, path[:1], {path[-1]: value} if len(path) > 1 else value)
    assert "names code" in refused(folder)
    changed(folder, path[:1], [{path[-1]: value}])
    assert "names code" in refused(folder)
    changed(folder, path[:1], None)
    assert isinstance(open_judge(str(folder)), LanguageModelJudge)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.bin", "tf_model.h5", "flax_model.msgpack"])
def test_pickled_weights_of_a_language_model_are_not_opened(sound: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(sound / "causal", tmp_path / "judge"))
    torch.save(load_file(folder / "model.safetensors"), folder / name)
    (folder / "model.safetensors").unlink()
    assert "no causal language model" in refused(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dtype", "evil"),
        ("activation_function", "evil"),
        ("activation_function", 7),
        ("n_head", 3),
        ("n_head", 0),
        ("n_embd", "evil"),
        ("vocab_size", -1),
        ("model_type", "evil"),
        ("model_type", ["gpt2"]),
        ("quantization_config", {"quant_method": "bitsandbytes", "load_in_8bit": True}),
    ],
)
def test_descriptions_that_no_language_model_has_are_one_line(
    sound: Path, tmp_path: Path, name: str, value: object
) -> None:
    folder = Path(shutil.copytree(sound / "causal", tmp_path / "judge"))
    changed(folder, (name,), value)
    assert "no causal language model" in refused(folder)


def test_code_that_lies_in_a_language_model_s_folder_is_not_run(sound: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sound / "causal", tmp_path / "judge"))
    (folder / "evil.py").write_text("raise SystemExit('code of a stranger was run')\n")
    changed(folder, ("auto_map",), {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model"})
    tokens = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(
        json.dumps(tokens | {"auto_map": {"AutoTokenizer": ["evil.T", None]}})
    )
    assert isinstance(open_judge(str(folder)), LanguageModelJudge)


@pytest.mark.parametrize("name", ["reliability", "temperature", "model_weight", "sure"])
@pytest.mark.parametrize("value", [10**400, -(10**400), float("nan"), float("inf"), "evil", None, [1]])
def test_trust_that_is_no_number_is_one_line(sound: Path, tmp_path: Path, name: str, value: object) -> None:
    folder = Path(shutil.copytree(sound / "cross-encoder", tmp_path / "judge"))
    trust = json.loads((folder / "trust.json").read_text())
    (folder / "trust.json").write_text(json.dumps({**trust, name: value}))
    assert "trust" in refused(folder)


def test_a_file_that_is_no_language_model_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF" + b"\xff" * 4_000)
    with pytest.raises(ConfigError) as error:
        open_judge(str(tmp_path / "x.gguf"))
    assert "\n" not in str(error.value)
