import numpy as np
import pytest

from unshuffle_research.tables import compared
from unshuffle_research.tables.compared import lead
from unshuffle_research.tables.figures import filled, systems


def test_a_table_can_be_cut_to_rows_in_the_order_they_are_named() -> None:
    page = "<!-- figures: systems se-grn irse-grn -->\nold\n<!-- end figures -->\n"
    lines = filled(page).splitlines()
    assert [line.split("`")[1] for line in lines if line.startswith("| `")] == ["se-grn", "irse-grn"]
    assert lines[0] == page.splitlines()[0] and "old" not in lines
    assert len(systems().splitlines()) > len(lines)


def test_a_baseline_that_was_not_trained_is_named_as_missing() -> None:
    _, _, real, missing = lead("irse-grn", "se-grn-relations", "no-such-row").splitlines()
    assert "not trained yet" in missing and "not trained yet" not in real


def test_rows_are_level_with_the_best_unless_they_are_behind_it_by_more_than_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(1)
    best = random.normal(80, 5, 300)
    known = {
        "best": {1: (best, False), 2: (best, False)},
        "near": {2: (best + random.normal(-0.1, 5, 300), False)},
        "behind": {1: (best - 3 + random.normal(0, 5, 300), False)},
        "cut": {1: (best + 50, True)},
        "other-seed": {3: (best - 1, False)},
        "untrained": {},
    }
    monkeypatch.setattr(compared, "trained", known.__getitem__)
    assert compared.level_with_best(known) == {"best", "near"}
    assert compared.level_with_best(["best", "cut"]) == frozenset()
