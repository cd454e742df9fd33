"""Files of a stranger's model folder: regular, inside the folder, no larger than they can be, packed as we pack."""

import json
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.fixtures.tiny import save_tiny
from unshuffle.errors import ConfigError, UnshuffleError
from unshuffle.graph.topics import LDATopics
from unshuffle.storage.files import SCALE, FolderFiles, packed, read_tensors, unpacked, write_tensors
from unshuffle.system.folder import describe, load_model

NAMES = ["config.json", "tokenizer.json", "model.safetensors", "calibration.json", "README.md"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = save_tiny(tmp_path_factory.mktemp("files") / "sound")
    (folder / "calibration.json").write_text("null")
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "model"))


def refused(folder: Path) -> str:
    """The one line with which a folder is refused."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UnshuffleError) as error:
        load_model(str(folder))
    assert "\n" not in str(error.value) and len(str(error.value)) < 600
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB
    return str(error.value)


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    described = json.loads((folder / "config.json").read_text())
    change(described)
    (folder / "config.json").write_text(json.dumps(described))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("target", ["/etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self/mem", "../outside", "itself"])
def test_links_that_lead_out_of_the_folder_are_not_followed(folder: Path, name: str, target: str) -> None:
    content = (folder / name).read_bytes()
    (folder.parent / "outside").write_bytes(content)
    (folder / name).unlink()
    (folder / name).symlink_to(name if target == "itself" else target)
    if name in ("calibration.json", "README.md") and not (folder / name).is_file():
        found = load_model(str(folder))  # nothing that is a file: as if there were none
        assert found.calibration is None and (name != "README.md" or not found.card)
    else:
        assert name in refused(folder)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["pipe", "folder", "huge"])
def test_pipes_folders_and_holes_are_not_read(folder: Path, name: str, kind: str) -> None:
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    elif kind == "folder":
        (folder / name).mkdir()
    else:
        with (folder / name).open("wb") as file:
            file.truncate(2**40)  # a hole: it takes no room
    if name in ("calibration.json", "README.md") and kind != "huge":
        load_model(str(folder))
    else:
        refused(folder)


@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "pipe", "../x"])
def test_a_file_that_becomes_a_device_after_it_was_seen_is_not_read(tmp_path: Path, target: str) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "x").write_text("x")
    file = tmp_path / "model" / "some.txt"
    if target == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(target)
    with pytest.raises(ConfigError, match="not a regular file"):
        FolderFiles(tmp_path / "model").read(file)


PATHS = [
    "/etc/passwd",
    "../../../etc/passwd",
    "/dev/zero",
    "/proc/self/environ",
    "config.json/..",
    "",
    "\0",
    "~/x",
    ".",
]


@pytest.mark.parametrize("path", PATHS)
def test_related_words_are_read_from_the_folder_alone(folder: Path, path: str) -> None:
    changed(folder, lambda it: it["system"]["graph"].update(relations="file", relation_file=path))
    refused(folder)


@pytest.mark.parametrize("path", PATHS)
def test_word_vectors_are_read_from_the_folder_alone(folder: Path, path: str) -> None:
    changed(folder, lambda it: it["system"]["graph"].update(relations="vectors"))
    changed(folder, lambda it: it["system"]["tokens"].update(vectors=path))
    refused(folder)


@pytest.mark.parametrize("name", ["entities.txt", "topics/topics.json", "topics/topics.safetensors"])
@pytest.mark.parametrize("target", ["/etc/passwd", "/dev/zero", "/proc/self/environ"])
def test_words_and_topics_are_read_from_the_folder_alone(folder: Path, name: str, target: str) -> None:
    part = {"entities": {"minimum_count": 2}} if name == "entities.txt" else {"topics": 2}
    changed(folder, lambda it: it["system"]["graph"].update(part))
    topics = LDATopics(("apple", "river"), np.ones((2, 2), np.float32), 0.5)
    topics.save(folder / "topics")
    (folder / "entities.txt").write_text("apple\n")
    load_model(str(folder))
    (folder / name).unlink()
    (folder / name).symlink_to(target)
    refused(folder)


@pytest.mark.parametrize("shape", [(1, 40_000), (40_000, 40_000), (1, 1), (40_000,), (2, 40_000, 1), (0, 1), ()])
def test_scales_that_would_blow_a_matrix_up_are_refused(shape: tuple[int, ...]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scale = torch.ones(1).expand(shape) if shape else torch.tensor(1.0)
    with pytest.raises(ConfigError, match="not one scale per row"):
        unpacked({"x": torch.ones(40_000, 1, dtype=torch.int8), f"x{SCALE}": scale})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("name", [SCALE, f"x{SCALE}", f"x{SCALE}{SCALE}", f"y{SCALE}"])
def test_scales_of_nothing_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="not one scale per row"):
        unpacked({name: torch.ones(3, 1)})


@pytest.mark.parametrize("shape", [(40_000,), (), (2, 3, 4)])
def test_scales_of_what_is_no_matrix_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match="not one scale per row"):
        unpacked({"x": torch.ones(shape, dtype=torch.int8), f"x{SCALE}": torch.ones(shape[0] if shape else 1, 1)})


def test_what_is_packed_is_unpacked() -> None:
    matrix = torch.randn(200, 100)
    found = unpacked(packed({"x": matrix}, "int8"))
    assert list(found) == ["x"] and (found["x"] - matrix).abs().max() < 0.03


def test_a_bomb_of_scales_in_a_folder_is_refused(folder: Path) -> None:
    changed(folder, lambda it: it.pop("sha256"))
    tensors = read_tensors(folder / "model.safetensors")
    first = next(name for name, value in tensors.items() if value.dim() == 2)
    bomb = {first: torch.ones(40_000, 1, dtype=torch.int8), first + SCALE: torch.ones(1, 40_000)}
    write_tensors(folder / "model.safetensors", tensors | bomb)
    assert "scale per row" in refused(folder) or "larger than" in refused(folder)


def test_weights_larger_than_the_network_are_not_read(folder: Path) -> None:
    changed(folder, lambda it: it.pop("sha256"))
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(2**27)  # small enough for any other file
    assert "larger than" in refused(folder)


def test_topics_are_hashed_and_never_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topics = LDATopics(("apple", "river"), np.ones((2, 2), np.float32), 0.5)
    topics.save(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    monkeypatch.setattr(Path, "replace", lambda *anything: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(ConfigError, match="could not be written"):
        LDATopics(("apple", "rivers"), np.zeros((2, 2), np.float32), 0.5).save(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_topics_that_are_no_numbers_are_refused(tmp_path: Path, value: float) -> None:
    LDATopics(("apple", "river"), np.full((2, 2), value, np.float32), 0.5).save(tmp_path)
    with pytest.raises(ConfigError, match="topics"):
        LDATopics.load(tmp_path)


@pytest.mark.parametrize("name", NAMES[:3])
def test_a_description_is_read_without_the_weights(folder: Path, name: str) -> None:
    if name != "config.json":
        (folder / name).unlink()
        assert describe(str(folder)).name == "tiny"
    else:
        assert describe(str(folder)).files.hashes.keys() >= {"model.safetensors", "tokenizer.json"}
