"""What a hostile or damaged model folder can do: be refused in one line, or give another order; nothing else."""

import json
import random
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.fixtures.tiny import save_tiny
from unshuffle.errors import ConfigError, UnshuffleError
from unshuffle.storage.files import write_tensors
from unshuffle.system.orderer import Orderer

Record = Callable[[str, object], None]
SENTENCES = ["Mia picked an apple.", "She washed the apple.", "Then she ate it."]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("faults") / "sound")


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "model"))


def outcome(folder: Path) -> str | tuple[int, ...]:
    """The order, or the one line of the refusal."""
    try:
        return Orderer.from_pretrained(folder).order(SENTENCES).order
    except UnshuffleError as error:
        assert "\n" not in str(error) and len(str(error)) < 2_000
        return str(error)


def described(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    description = json.loads((folder / "config.json").read_text())
    change(description)
    (folder / "config.json").write_text(json.dumps(description))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_flipped_and_missing_bytes_are_noticed_or_change_nothing_of_weight(
    folder: Path, name: str, record_property: Record
) -> None:
    draw, whole = random.Random(3), (folder / name).read_bytes()
    expected, faults = outcome(folder), 0
    for _ in range(24):
        data = bytearray(whole)
        if draw.random() < 0.5:
            place = draw.randrange(len(data))
            data[place] ^= 1 << draw.randrange(8)
        else:
            del data[draw.randrange(len(data)) :]
        (folder / name).write_bytes(bytes(data))
        found = outcome(folder)
        # The description is not hashed: an option in it may be another and still be sound.
        assert isinstance(found, str) or name == "config.json" or found == expected
        faults += 1
    record_property("faults", faults)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "calibration.json"])
@pytest.mark.parametrize(
    "content",
    [nested(100_000), '{"a":' * 50_000 + "1" + "}" * 50_000, "", "null", "\0" * 50, "9" * 5_000, '"\\ud800"'],
    ids=["lists", "objects", "empty", "null", "zeros", "number", "surrogate"],
)
def test_bombs_of_nesting_and_other_json_are_refused(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    assert isinstance(outcome(folder), str) or (name, content) == ("calibration.json", "null")  # none at all is sound


def test_a_file_too_large_for_what_it_claims_to_be_is_not_read(folder: Path) -> None:
    with (folder / "config.json").open("wb") as file:
        file.truncate(3 * 2**30)  # a hole: it takes no room
    assert "larger than" in str(outcome(folder))


@pytest.mark.parametrize("size", [10**5, 10**7, 10**12, 2**63, 10**400, -1])
def test_sizes_that_no_memory_holds_are_refused_before_they_are_taken(folder: Path, size: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    described(folder, lambda description: description["system"]["sentence_encoder"].update(width=size))
    assert isinstance(outcome(folder), str)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 300  # MB


@pytest.mark.parametrize(
    "path", ["../../../etc/passwd", "/etc/passwd", "/dev/zero", "..", "~/x", "http://localhost/x", "a/../b", "\0"]
)
@pytest.mark.parametrize(
    "place", ["tokens.vectors", "parser", "sentence_encoder.source", "decoder.kind", "name", "sha256"]
)
def test_paths_in_names_lead_nowhere(folder: Path, path: str, place: str) -> None:
    def change(description: dict[str, Any]) -> None:
        if place == "name":
            description["name"] = path
        elif place == "sha256":
            description["sha256"][path] = "0" * 64
        else:
            *tables, name = place.split(".")
            table = description["system"]
            for key in tables:
                table = table[key]
            table[name] = path

    described(folder, change)
    found = outcome(folder)
    if place in ("parser", "decoder.kind", "sentence_encoder.source"):
        assert isinstance(found, str)
    else:
        assert isinstance(found, str) or len(found) == 3


@pytest.mark.parametrize("slot", ["sentence_encoder", "decoder"])
@pytest.mark.parametrize("source", ["package:antigravity", "hub:someone/else", "/etc"])
def test_no_weights_are_fetched_from_elsewhere(
    slot: str, source: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, *anything: object) -> None:
        raise AssertionError(f"{name} was looked for")

    monkeypatch.setattr("unshuffle.encoders.pretrained.checkpoint.source_name", refuse)
    kinds = {"sentence_encoder": "transformer", "decoder": "markers"}
    described(folder, lambda description: description["system"].update({slot: {"kind": kinds[slot], "source": source}}))
    assert "'source' names weights elsewhere" in str(outcome(folder))


def test_tensors_that_lie_are_refused(folder: Path, record_property: Record) -> None:
    described(folder, lambda description: description.pop("sha256"))
    file = folder / "model.safetensors"
    whole = file.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + length])
    (first, *_) = (name for name in header if name != "__metadata__")
    lies: list[dict[str, Any]] = [
        {"shape": [2**40, 2**40]}, {"data_offsets": [0, 2**62]}, {"data_offsets": [2**62, 0]}, {"dtype": "PICKLE"},
        {"shape": [-1, 4]}, {"dtype": "F64"}, {"shape": "x"},
    ]  # fmt: skip
    for lie in lies:
        changed = json.dumps({**header, first: {**header[first], **lie}}).encode()
        file.write_bytes(len(changed).to_bytes(8, "little") + changed + whole[8 + length :])
        assert isinstance(outcome(folder), str)
    for start in (2**63, 2**40, 0):
        file.write_bytes(start.to_bytes(8, "little") + whole[8:])
        assert isinstance(outcome(folder), str)
    record_property("faults", len(lies) + 3)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_that_are_none_give_no_order_no_score_and_no_warning(folder: Path) -> None:
    described(folder, lambda description: description.pop("sha256"))
    from unshuffle.storage.files import read_tensors

    tensors = read_tensors(folder / "model.safetensors")
    for value in (float("nan"), float("inf"), 1e38):
        write_tensors(folder / "model.safetensors", {name: torch.full_like(it, value) for name, it in tensors.items()})
        assert "its weights give no order" in str(outcome(folder))
        with pytest.raises(ConfigError, match="its weights give no order"):
            Orderer.from_pretrained(folder).coherence(SENTENCES)


def test_code_in_a_folder_is_neither_opened_nor_run(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w').write('x')"
    for name in ("__init__.py", "modeling.py", "conftest.py", "sitecustomize.py"):
        (folder / name).write_text(code)
    import pickle

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return exec, (code,)

    for name in ("model.bin", "pytorch_model.bin", "model.pkl", "tokenizer.pkl"):
        (folder / name).write_bytes(pickle.dumps(Evil()))
    opened: set[str] = set()
    watching = True

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event == "open":
            opened.add(Path(str(arguments[0])).name)

    sys.addaudithook(watch)  # it cannot be taken away again, only told to rest
    try:
        assert isinstance(outcome(folder), tuple) and not mark.exists()
    finally:
        watching = False
    assert {"config.json", "tokenizer.json"} <= opened
    assert not [name for name in opened if name.endswith((".bin", ".pkl"))] and "modeling.py" not in opened
    (folder / "model.safetensors").write_bytes(pickle.dumps(Evil()))
    assert isinstance(outcome(folder), str) and not mark.exists()
