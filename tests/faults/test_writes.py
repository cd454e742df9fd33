"""Each write fails once: what was there is whole, nothing temporary is left, and the next attempt ends as planned."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")

from tests.faults.writes import counted_writes
from tests.fixtures.tiny import tiny_model
from tests.training.run_and_die import tiny_job
from unshuffle.errors import ConfigError, UnshuffleError
from unshuffle.graph.build import EntityVocabulary
from unshuffle.graph.topics import LDATopics
from unshuffle.storage.files import write_json, write_tensors, write_text
from unshuffle.system.folder import Model, load_model, save_model
from unshuffle.text.vectors import Vectors
from unshuffle.training.checkpoint import Checkpoint, Position
from unshuffle.training.run import train_system

Record = Callable[[str, object], None]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def failures(write: Callable[[], object]) -> Iterator[int]:
    """Lets each step of a write fail in turn, and says which has just failed."""
    number = 0
    while True:
        number += 1
        with counted_writes(number) as writes:
            try:
                write()
            except ConfigError as error:
                assert "\n" not in str(error) and "unharmed" in str(error)
            else:
                assert not writes.failed, f"step {number} failed unnoticed"
                return
        yield number


WRITERS: dict[str, Callable[[Path, int], object]] = {
    "text": lambda folder, value: write_text(folder / "x.txt", f"{value}" * 99),
    "json": lambda folder, value: write_json(folder / "x.json", [value] * 99),
    "tensors": lambda folder, value: write_tensors(folder / "x.safetensors", {"x": torch.full((99,), value)}),
    "words": lambda folder, value: EntityVocabulary(frozenset({f"word{value}", "apple"})).write(folder / "x.txt"),
    "topics": lambda folder, value: LDATopics(("a", "b"), np.full((2, 2), value, np.float32), 0.5).save(folder),
    "vectors": lambda folder, value: Vectors(("a", "b"), np.full((2, 3), value, np.float16)).save(folder / "v.npy"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_as_before_or_as_wished(tmp_path: Path, name: str, record_property: Record) -> None:
    write = WRITERS[name]
    write(tmp_path / "wished", 2)
    wished = contents(tmp_path / "wished")
    write(tmp_path / "out", 1)
    before, faults = contents(tmp_path / "out"), 0
    for _ in failures(lambda: write(tmp_path / "out", 2)):
        faults += 1
        found = contents(tmp_path / "out")
        assert found.keys() == before.keys()
        assert all(found[file] in (before[file], wished[file]) for file in found)
    assert contents(tmp_path / "out") == wished and faults >= 5
    record_property("faults", faults)


def made(seed: int, parts: str) -> Model:
    model = tiny_model(seed=seed)
    if parts == "plain":
        return model
    topics = LDATopics(("a", "b"), np.full((2, 2), seed, np.float32), 0.5)
    return replace(model, preparer=replace(model.preparer, topics=topics, entities=EntityVocabulary(frozenset("ab"))))


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("parts", ["plain", "words and topics"])
def test_a_model_folder_is_never_half_a_model(
    tmp_path: Path, storage: Any, over: bool, parts: str, record_property: Record
) -> None:
    old, new = (made(seed, parts) for seed in (1, 2))
    save_model(new, tmp_path / "wished", storage=storage)
    wished, folder, faults = contents(tmp_path / "wished"), tmp_path / "out", 0
    if over:
        save_model(old, folder, storage=storage)
    before = contents(folder)
    for _ in failures(lambda: save_model(new, folder, storage=storage)):
        faults += 1
        found = contents(folder)
        assert found.keys() <= wished.keys()  # nothing temporary is left
        assert all(content in (before.get(file), wished[file]) for file, content in found.items())
        try:
            load_model(str(folder))
        except UnshuffleError as error:
            assert "\n" not in str(error)
        else:  # what loads is the old model or the new one, never a mixture
            one = before if found["model.safetensors"] == before.get("model.safetensors") else wished
            assert found["config.json"] == one["config.json"]
    assert contents(folder) == wished and faults >= 20
    record_property("faults", faults)


def test_a_checkpoint_is_the_old_one_or_the_new_one(tmp_path: Path, record_property: Record) -> None:
    module = torch.nn.Linear(4, 4)
    optimizer = torch.optim.Adam(module.parameters())
    checkpoint, faults = Checkpoint(tmp_path / "stage", "f"), 0
    checkpoint.save(Position(step=1), module, optimizer, {})
    for _ in failures(lambda: checkpoint.save(Position(step=2), module, optimizer, {})):
        faults += 1
        found = checkpoint.load(module, optimizer)
        assert found is not None and found[0].step in (1, 2)
        assert not list((tmp_path / "stage").glob(".*"))
    assert faults >= 8
    record_property("faults", faults)


def killed(write: Callable[[], object], number: int) -> bool:
    """Whether a process of its own that writes is gone at this step; it cannot tidy up after itself."""
    process = os.fork()
    if not process:
        with counted_writes(number, deadly=True):
            write()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("storage", ["float32", "int8"])
@pytest.mark.parametrize("parts", ["plain", "words and topics"])
def test_a_process_killed_while_it_saves_leaves_the_old_model_or_the_new_one(
    tmp_path: Path, storage: Any, parts: str, record_property: Record
) -> None:
    old, new = (made(seed, parts) for seed in (1, 2))
    save_model(new, tmp_path / "wished", storage=storage)
    wished, folder, kills = contents(tmp_path / "wished"), tmp_path / "out", 0
    save_model(old, folder, storage=storage)
    before = contents(folder)
    while killed(lambda: save_model(new, folder, storage=storage), kills + 1):
        kills += 1
        found = {name: content for name, content in contents(folder).items() if name in wished}
        assert all(content in (before[name], wished[name]) for name, content in found.items())
        try:
            load_model(str(folder))
        except UnshuffleError as error:
            assert "\n" not in str(error)
        else:
            one = before if found["model.safetensors"] == before["model.safetensors"] else wished
            assert found["config.json"] == one["config.json"]
    assert load_model(str(folder)).name == new.name
    assert {name: contents(folder)[name] for name in wished} == wished and kills >= 15
    record_property("kills", kills)


@pytest.mark.slow
def test_a_training_whose_writes_fail_again_and_again_ends_with_the_same_weights(
    tmp_path: Path, record_property: Record
) -> None:
    train_system(tiny_job(tmp_path, tmp_path / "whole", system="se-grn"))
    faults = 0
    while True:
        with counted_writes(faults + 1) as writes:  # each attempt comes one write further than the one before
            try:
                train_system(tiny_job(tmp_path, tmp_path / "cut", system="se-grn", resume=True))
            except (UnshuffleError, OSError):
                faults += 1
                assert faults < 400
            else:
                if not writes.failed:
                    break
                faults += 1  # a log that could not be written ends nothing
    whole, cut = (tmp_path / name / "model.safetensors" for name in ("whole", "cut"))
    assert cut.read_bytes() == whole.read_bytes() and faults >= 10
    record_property("faults", faults)


def test_a_copy_of_a_model_that_was_cut_off_is_refused(tmp_path: Path, record_property: Record) -> None:
    save_model(tiny_model(seed=1), tmp_path / "sound")
    files, faults = sorted(contents(tmp_path / "sound")), 0
    for name in files:
        for share in (0.0, 0.3, 0.9):
            folder = Path(shutil.copytree(tmp_path / "sound", tmp_path / f"{name}-{share}"))
            data = (folder / name).read_bytes()
            (folder / name).write_bytes(data[: int(len(data) * share)])
            faults += 1
            if name != "README.md":
                with pytest.raises(UnshuffleError):
                    load_model(str(folder))
    record_property("faults", faults)
