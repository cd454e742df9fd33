"""Presets, published figures, clock, groups of lengths, coherence."""

import math
from pathlib import Path

import numpy as np
import pytest

from unshuffle.metrics.bootstrap import Band
from unshuffle.storage.files import write_json
from unshuffle.system.rows import load_row, system_names
from unshuffle.text.document import Document, Mention, Role
from unshuffle.text.vectors import Vectors
from unshuffle.training.config import TrainingConfig, classifier_kinds, with_time_limit
from unshuffle.training.corpus import Splits
from unshuffle_research.experiments.ablation import Pairs, pair_band, trained_again
from unshuffle_research.experiments.clock import Clock
from unshuffle_research.experiments.coherence import neighbours
from unshuffle_research.experiments.datasets.preset import load_preset, plain_preset, preset_names
from unshuffle_research.experiments.length import groups
from unshuffle_research.experiments.measure import Measured
from unshuffle_research.experiments.models import Models, Trained
from unshuffle_research.experiments.pairs import PairRow, pair_accuracy
from unshuffle_research.experiments.plan import OWN_DATA, Dataset, Plan, changes_of, plans_for
from unshuffle_research.experiments.published import printed, published, shown
from unshuffle_research.experiments.report import read_sheets

PAPER = {  # eta, lambda, batch with BERT (Lai et al., 5.1)
    "nips": (0.20, 0.5, 16),
    "aan": (0.15, 0.5, 32),
    "acl": (0.15, 0.5, 32),
    "sind": (0.25, 0.2, 128),
    "roc": (0.15, 0.4, 128),
    "arxiv": (0.15, 0.5, 64),
}


@pytest.mark.parametrize("name", preset_names())
def test_presets_are_the_papers_settings(name: str) -> None:
    preset = load_preset(name)
    settings = preset.settings
    assert (settings.noise_share, settings.pair_loss_weight, settings.pretrained_batch) == PAPER[name]
    assert settings.batch == 16 and preset.ask and preset.published in published()
    row = load_row("irse-grn-fh", preset.changes(load_row("irse-grn-fh")))
    assert row.system.refiner is not None and row.system.refiner.noise_share == settings.noise_share
    assert row.system.decoder.pair_loss_weight == settings.pair_loss_weight
    assert row.training["batch"] == 16
    with_bert = load_row("irse-grn-bert-fh")
    changed = load_row("irse-grn-bert-fh", preset.changes(with_bert))
    assert changed.training["batch"] == settings.pretrained_batch
    for other in system_names():  # every row can be trained on every data set
        load_row(other, preset.changes(load_row(other)))


def test_published_tables_are_whole() -> None:
    assert printed("pairwise", "nips") == (80.46, 86.32)
    assert printed("ablation", "arxiv", "clean") == (80.45, 82.23, 53.10)
    assert printed("density", "sind") == (2.85,)
    assert printed("cost", "nips", "irse-grn-bert-fh") == (29.0, 128.0)
    assert printed("head-tail", "sind", "berson") == (84.95, 64.87)
    assert printed("nips", "nothing") is None
    assert shown((math.nan, 75.0)) == "– / 75.00" and shown(None) == "–"
    rows = {row for name in PAPER if name in published() for row in published()[name]}
    assert rows <= set(system_names())


def test_changes_may_be_for_one_row() -> None:
    given = ["training.epochs=1", "irse-grn:refiner.rounds=1", 'graph.relation_file="a:b"']
    assert changes_of("irse-grn", given) == ("training.epochs=1", "refiner.rounds=1", 'graph.relation_file="a:b"')
    assert changes_of("se-grn", given) == ("training.epochs=1", 'graph.relation_file="a:b"')


def test_a_time_box_is_dealt_out_to_all_stages() -> None:
    plain, refined = load_row("se-grn").system, load_row("irse-grn").system
    training = TrainingConfig()
    assert classifier_kinds(plain) == () and classifier_kinds(refined) == ("initial", "iterative")
    box = with_time_limit(training, refined, 60)
    assert box.minutes == 2 * box.classifier_minutes == with_time_limit(training, plain, 60).minutes == 60
    assert with_time_limit(TrainingConfig(folds=1), refined, 60).classifier_minutes == 60
    assert with_time_limit(training, plain, 0) == training
    assert Clock(0).share(3) == 0 and not Clock(0).over
    assert Clock(30).share(3) == pytest.approx(8.5, abs=0.1)  # the rest is for measuring


def test_later_data_sets_and_classifiers_are_left_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, float] = {}

    def no_train(self: Models, plan: Plan, minutes: float) -> Plan:
        given[f"{plan.dataset.name} {plan.system}"] = minutes
        return plan

    monkeypatch.setattr(Models, "_train", no_train)
    documents = tuple(Document(str(number), ("One.", "Two.")) for number in range(2))
    sets = [Dataset(name, plain_preset(name), Splits(documents, documents, documents)) for name in ("a", "b")]
    plans = [plans_for(["se-grn", "irse-grn", "irse-grn-fh"], one, [1]) for one in sets]
    models = Models(tmp_path, Clock(80))
    models.expect(plan for some in plans for plan in some)
    for some in plans:
        list(models.take(some))
    assert len(given) == 6 and not models.missing
    # Six ordering models and twice two kinds of classifier; nobody takes any time here: the later have more of it.
    assert given["a se-grn"] == pytest.approx(6.8, rel=0.01) == given["a irse-grn"] * 9 / 10
    assert given["a irse-grn-fh"] == pytest.approx(0.85 * 80 / 6, rel=0.01)


def test_nothing_is_trained_where_that_is_said(tmp_path: Path) -> None:
    documents = tuple(Document(str(number), ("One.", "Two.")) for number in range(2))
    plans = plans_for(["se-grn"], Dataset("a", plain_preset("a"), Splits(documents, documents, documents)), [1])
    models = Models(tmp_path, training=False)
    assert list(models.take(plans)) == [] and models.missing == plans


def test_more_seeds_on_the_same_documents_make_no_band_narrower() -> None:
    rows = [PairRow(str(number), None, (number % 3 / 2,), (True,), ()) for number in range(60)]
    once, thrice = pair_accuracy([rows], "final"), pair_accuracy([rows] * 3, "final")
    assert once == thrice and once.value == pytest.approx(50)  # wrong, a tie, right
    assert once.upper - once.lower > 10


def test_a_classifier_that_was_trained_again_is_told(tmp_path: Path) -> None:
    documents = tuple(Document(str(number), ("One.", "Two.")) for number in range(2))
    dataset = Dataset("a", plain_preset("a"), Splits(documents, documents, documents))

    def run(row: str, score: float, title: str) -> Measured:
        stages = [{"stage": "initial-all-1", "valid": score}, {"stage": "ordering-1", "valid": row}]
        plan = Plan(row, "irse-grn", dataset, title=title)
        return Measured(Trained(plan, tmp_path, tuple(stages), {}), (), {}, {}, 1)

    rows = {"full": [run("full", 80.0, "Full")], "clean": [run("clean", 80.0, "Clean")]}
    assert trained_again(rows) == []
    (note,) = trained_again(rows | {"later": [run("later", 80.1, "Later")]})
    assert note.endswith("Later.") and "Clean" not in note


def test_pairs_without_their_documents_are_a_point() -> None:
    rows = tuple(PairRow(str(number), None, (0.9,), (number > 2,), ()) for number in range(10))
    band = pair_band([Pairs(rows, 70.0)])
    assert band is not None and band.value == pytest.approx(70) and band.lower < 70 < band.upper
    assert pair_band([Pairs((), 70.0), Pairs(rows, 72.0)]) == Band(71.0, 71.0, 71.0, 1, 1)
    assert pair_band([Pairs((), None)]) is None


def test_lengths_are_joined_until_enough_documents_share_a_point() -> None:
    assert groups([1, 2, 2, 3, 3, 4, 9], 2) == [(2, 2), (3, 3), (4, 9)]
    assert groups([2, 2, 3, 3, 9], 2) == [(2, 2), (3, 9)]
    assert groups([5], 20) == [(5, 5)]


def test_coherence_is_the_mean_over_neighbours() -> None:
    vectors = Vectors(("cat", "dog", "sun"), np.array([[1, 0], [1, 0], [0, 1]], np.float16))
    document = Document(
        ("cat", "dog", "sun"),
        (Mention("x", 0, Role.OTHER), Mention("x", 1, Role.OTHER), Mention("y", 1, Role.OTHER)),
    )
    near = neighbours(document, vectors)
    assert near.coherence((0, 1, 2), 0.8) == pytest.approx((0.8 * 1 + 0.2 * 1 + 0) / 2)
    assert near.coherence((0, 2, 1), 0.5) == 0
    assert near.coherence((0,), 0.5) == 1


def test_plots_stand_missing_figures() -> None:
    from unshuffle_research.experiments.plots import Panel, dots

    band = Band(50.0, 40.0, 60.0, 0.95, 10)
    assert dots(["one", "two"], [Panel("τ", [band, None], [math.nan, None])]) is not None


def test_sheets_of_several_data_sets_say_a_note_once_the_papers_own_first(tmp_path: Path) -> None:
    for name, kind, own in [("acl", "not the paper's data", "Cut."), ("nips", OWN_DATA, "Whole.")]:
        write_json(tmp_path / f"summary-{name}.json", {"subtitle": f"{name} ({kind})", "notes": ["Micro.", own]})
    sheets = read_sheets(tmp_path)
    assert [sheet["subtitle"][:4] for sheet in sheets] == ["nips", "acl "]
    assert [sheet["notes"] for sheet in sheets] == [["Micro.", "Whole."], ["Cut."]]
