"""A stranger's folder that is read without torch: hostile options are one line, or change nothing but the order."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unshuffle.errors import UnshuffleError
from unshuffle.system.light_model import LightModel
from unshuffle.system.loading import MODELS, read_description
from unshuffle.system.orderer import Orderer

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


@pytest.mark.parametrize("value", ["a\x1b[2J", "a\nb", "x" * 100_000, "\ud800", "\u202e", ["a"], {"a": 1}, None, 7])
def test_a_name_that_is_none_is_one_line(folder: Path, value: object) -> None:
    described = json.loads((MODELS / "default" / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(described | {"name": value}))
    with pytest.raises(UnshuffleError, match="'name' is no name") as refused:
        read_description(str(folder))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", [None, [], "evil", 7, {"kind": {}}, {"kind": ["pointer"]}, {"kind": None}])
@pytest.mark.parametrize("slot", ["sentence_encoder", "paragraph_encoder", "decoder", "refiner", "tokens", "graph"])
def test_tables_that_are_none_are_one_line_or_harmless(folder: Path, slot: str, value: object) -> None:
    described = json.loads((MODELS / "default" / "config.json").read_text())
    described["system"][slot] = value
    (folder / "config.json").write_text(json.dumps(described))
    try:
        Orderer.from_pretrained(folder)
    except UnshuffleError as error:
        assert "\n" not in str(error) and len(str(error)) < 600


@pytest.mark.parametrize("name", ["intercept", "length", "distance", "keep_below", "knots"])
def test_calibrations_of_too_many_digits_are_one_line(folder: Path, name: str) -> None:
    shutil.copy(MODELS / "default" / "config.json", folder)
    calibration = json.loads((MODELS / "default" / "calibration.json").read_text())
    number: object = [[0, 10**400]] if name == "knots" else 10**400
    (folder / "calibration.json").write_text(json.dumps({**calibration, name: number}))
    with pytest.raises(UnshuffleError, match="Fit it again"):
        Orderer.from_pretrained(folder)
    shutil.copy(MODELS / "default" / "calibration.json", folder)


PEAK = """
import resource
from unshuffle.system.orderer import Orderer
orderer = Orderer.from_pretrained("default", runtime="light")
sentences = [f"Sentence {one} " + "has words of a river that floods every spring " * 4 for one in range(60)]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
orderer.order(sentences[:2])
before = peak()
orderer.order(sentences)
print(peak() - before)
"""


def test_the_longest_documents_that_the_service_takes_are_read_in_bounded_memory() -> None:
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 380_000  # kB


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
