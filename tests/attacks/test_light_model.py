"""A stranger's folder that is read without torch: hostile options are one line, or change nothing but the order."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unshuffle.errors import UnshuffleError
from unshuffle.system.light_model import LightModel
from unshuffle.system.loading import MODELS, read_description

Record = Callable[[str, object], None]
VALUES = ["evil", -1, None, [7], 10**12]
SYSTEM: dict[str, Any] = json.loads((MODELS / "default" / "config.json").read_text())["system"]
PLACES = [
    (slot, name)
    for slot in ("sentence_encoder", "decoder", "tokens", "graph")
    for name in SYSTEM.get(slot, {})
    if name != "architecture"
] + [("architecture", name) for name in SYSTEM["sentence_encoder"]["architecture"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(MODELS / "default", tmp_path_factory.mktemp("light") / "model"))


@pytest.mark.slow
@pytest.mark.parametrize(("slot", "name"), PLACES)
def test_hostile_options_are_one_line_or_harmless(folder: Path, slot: str, name: str, record_property: Record) -> None:
    described = json.loads((MODELS / "default" / "config.json").read_text())
    for value in VALUES:
        changed = json.loads(json.dumps(described))
        table = changed["system"]["sentence_encoder" if slot == "architecture" else slot]
        (table["architecture"] if slot == "architecture" else table)[name] = value
        (folder / "config.json").write_text(json.dumps(changed))
        try:
            LightModel.load(read_description(str(folder)), precision="int8", threads=1)
        except UnshuffleError as error:
            assert "\n" not in str(error) and len(str(error)) < 600
    record_property("faults", len(VALUES))
