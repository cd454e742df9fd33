"""No system mixes devices: every row computes on a device that is not the processor, and gives what the processor does.

There is no graphics card here. Tensors that claim to be elsewhere stand in for one (`tests.fixtures.devices`): they
compute on the processor, so that loss, gradients and search have real values, but an operation that mixes them with
tensors of the processor is refused, as is reading them without copying them first. What this cannot show is that every
operation exists on a given card, or how fast it is.
"""

from pathlib import Path

import pytest
import torch

from tests.fixtures.devices import ELSEWHERE, Placed, elsewhere
from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from tests.gates.test_outputs import fill
from unshuffle.graph.batch import collate
from unshuffle.machine import computing, device_of
from unshuffle.search.contracts import Search
from unshuffle.system.rows import system_names
from unshuffle.training.loop import draw
from unshuffle.training.ordering import JointTask, OrderingTask

DOCUMENTS = random_documents(5, sentences=(2, 6), seed=47)
CPU = torch.device("cpu")


def test_a_mixture_of_devices_is_refused() -> None:
    with elsewhere():
        here, there = torch.ones(3), torch.ones(3, device=ELSEWHERE)
        assert isinstance(there, Placed) and there.sum().item() == 3
        with pytest.raises(RuntimeError, match="tensors of two devices"):
            here + there
        with pytest.raises((RuntimeError, TypeError)):
            there.numpy()
        assert (there[torch.tensor([0])] + there.cpu().to(ELSEWHERE)[:1]).tolist() == [2]


@pytest.mark.parametrize("name", system_names())
def test_a_system_trains_and_orders_on_another_device(name: str, tmp_path: Path) -> None:
    model = tiny_model(name, tmp_path)
    network = model.network
    fill(network)
    items = [model.preparer.item(document) for document in DOCUMENTS]
    drawn = draw(items, range(len(items)), seed=3)
    joint = network.refiner is not None and network.refiner.config.encoder == "shared"
    task = (JointTask if joint else OrderingTask)(network)
    torch.manual_seed(5)
    expected = task(*drawn.collated(CPU), drawn)
    with torch.inference_mode():
        batch = collate(items)
        orders = [found.orders for found in network.search(network.read(batch), batch, Search(beam=4, keep=2))]
    with elsewhere():
        network.to(ELSEWHERE)
        assert device_of(network) == ELSEWHERE
        torch.manual_seed(5)
        loss = task(*drawn.collated(ELSEWHERE), drawn)
        loss.backward()
        assert loss.item() == pytest.approx(expected.item(), rel=1e-3)
        assert any(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in task.parameters())
        with torch.no_grad():
            batch = collate(items).to(ELSEWHERE)
            found = network.search(network.read(batch), batch, Search(beam=4, keep=2))
        assert [some.orders for some in found] == orders


@pytest.mark.parametrize("name", system_names())
def test_a_system_computes_in_bfloat16(name: str, tmp_path: Path) -> None:
    model = tiny_model(name, tmp_path)
    network = model.network.train()
    items = [model.preparer.item(document) for document in DOCUMENTS]
    drawn = draw(items, range(len(items)), seed=3)
    joint = network.refiner is not None and network.refiner.config.encoder == "shared"
    task = (JointTask if joint else OrderingTask)(network)
    with computing(CPU, "bf16"):
        loss = task(*drawn.collated(CPU), drawn)
    loss.backward()
    assert torch.isfinite(loss)
    for parameter in task.parameters():
        assert parameter.dtype == torch.float32
        assert parameter.grad is None or torch.isfinite(parameter.grad).all()
    network.eval()
    with torch.inference_mode(), computing(CPU, "bf16"):
        batch = collate(items)
        found = network.search(network.read(batch), batch, Search(beam=4, keep=2))
    assert [sorted(some.orders[0]) for some in found] == [list(range(item.graph.sentences)) for item in items]
