"""Training in bfloat16 learns what training in single precision learns."""

from pathlib import Path

import pytest
import torch

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_config
from unshuffle.machine import Precision, usable_device, usable_precision
from unshuffle.training.checkpoint import Checkpoint
from unshuffle.training.config import TrainingConfig
from unshuffle.training.loop import train
from unshuffle.training.ordering import OrderingStage
from unshuffle.training.run import new_fabric, new_model

DOCUMENTS = random_documents(24, sentences=(3, 5), seed=7)
TRAINING = TrainingConfig(optimizer="adamw", learning_rate=1e-2, batch=8, epochs=20, patience=99, measure="tau")
NO_DROPOUT = ["sentence_encoder.dropout=0.0", "sentence_encoder.word_dropout=0.0"]


def losses(precision: Precision, folder: Path) -> list[float]:
    """Mean loss of each epoch on documents seen again and again."""
    torch.manual_seed(1)
    model = new_model("se-grn", tiny_config("se-grn", folder, NO_DROPOUT), DOCUMENTS, 1)
    items = list(model.preparer.items(DOCUMENTS))
    stage = OrderingStage("ordering", model.network, items, items[:4], 1, beam=1, measure="tau")
    steps = train(
        new_fabric(folder / precision, 1),
        stage,
        TRAINING,
        seed=1,
        checkpoint=Checkpoint(folder / precision / "stage", precision),
        epochs=TRAINING.epochs,
        patience=TRAINING.patience,
        precision=precision,
    )
    found = [progress.loss for progress in steps if progress.score is not None]
    assert all(parameter.dtype == torch.float32 for parameter in model.network.parameters())
    return found


def test_bfloat16_reaches_the_loss_of_single_precision(tmp_path: Path) -> None:
    single, short = losses("32", tmp_path), losses("bf16", tmp_path)
    assert single != short  # it does compute in fewer bits
    assert single[-1] < 0.9 * single[0]
    assert short[-1] == pytest.approx(single[-1], rel=0.1)


@pytest.mark.parametrize("instructions", [True, False])
def test_bfloat16_is_chosen_where_the_processor_has_it(instructions: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": instructions})
    cpu = torch.device("cpu")
    assert usable_precision("auto", cpu) == ("bf16" if instructions else "32")
    assert usable_precision("32", cpu) == "32"
    assert usable_precision("bf16", cpu) == "bf16"


def test_the_best_device_there_is_can_be_used() -> None:
    assert torch.ones(2, device=usable_device("auto")).sum().item() == 2
