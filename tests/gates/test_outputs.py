"""What every system gives for fixed weights, documents and shuffles stays what it was.

`python -m tests.gates.test_outputs` adds the rows that are new; the others stay as they are.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import collate
from unshuffle.search.contracts import Search
from unshuffle.system.rows import system_names

OUTPUTS = Path(__file__).with_name("outputs.json")
DOCUMENTS = random_documents(6, sentences=(2, 7), seed=47)


@torch.no_grad()
def fill(network: nn.Module) -> None:
    """Every parameter from its own name, so that neither the order of building nor a draw decides it."""
    for name, parameter in network.named_parameters():
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
        drawn = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed))
        if parameter.dim() > 1:
            parameter.copy_(drawn * 2 / parameter.shape[-1] ** 0.5)
        else:
            parameter.copy_(0.1 * drawn + (1.0 if name.endswith(".weight") else 0.0))


@torch.inference_mode()
def outputs(name: str, folder: Path) -> dict[str, Any]:
    """Best orders, their log-probabilities, link weights and the loss of one row."""
    model = tiny_model(name, folder)
    fill(model.network)
    batch = collate([model.preparer.item(document) for document in DOCUMENTS])
    read = model.network.read(batch)
    best = model.network.search(read, batch, Search(beam=8, keep=2))
    gold = Gold.of([list(range(len(document.sentences)))[::-1] for document in DOCUMENTS])
    return {
        "orders": [list(found.orders[0]) for found in best],
        "log_probabilities": [round(found.log_probabilities[0], 5) for found in best],
        "weights": [] if read.refined is None else [round(weight, 5) for weight in read.refined.weights.tolist()],
        "loss": round(float(model.network(batch, gold)), 5),
    }


@pytest.mark.parametrize("name", system_names())
def test_a_system_gives_what_it_gave(name: str, tmp_path: Path) -> None:
    expected = json.loads(OUTPUTS.read_text(encoding="utf-8"))[name]
    given = outputs(name, tmp_path)
    assert given["orders"] == expected["orders"]
    for what in ("log_probabilities", "weights", "loss"):
        assert given[what] == pytest.approx(expected[what], rel=1e-3, abs=1e-3)


if __name__ == "__main__":
    import tempfile

    rows = json.loads(OUTPUTS.read_text(encoding="utf-8"))
    for row in sorted(set(system_names()) - set(rows)):
        with tempfile.TemporaryDirectory() as made:
            rows[row] = outputs(row, Path(made))
    OUTPUTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
