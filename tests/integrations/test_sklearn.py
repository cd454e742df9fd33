"""The scikit-learn estimator under scikit-learn's own tools."""

from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="needs the 'sklearn' extra")
from sklearn import base
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from tests.fixtures.documents import random_documents
from unshuffle.errors import DataError
from unshuffle.integrations.sklearn import SentenceOrderer


def test_it_is_fitted_cloned_and_searched_like_any_estimator(
    model: str, sentences: list[str], expected: tuple[int, ...]
) -> None:
    estimator = SentenceOrderer(model, beam=4)
    with pytest.raises(NotFittedError):
        estimator.predict([sentences])
    assert base.clone(estimator).get_params() == estimator.get_params()
    assert estimator.fit([sentences]).predict([sentences, ["One."]]) == [expected, (0,)]
    assert estimator.score([sentences], [expected]) == 1.0
    assert estimator.score([sentences], [expected[::-1]]) == -1.0
    assert estimator.score([["a", "b", "a"]], [(0, 1, 2)]) == estimator.score([["a", "b", "a"]], [(2, 1, 0)])
    with pytest.raises(DataError, match="one order a row"):
        estimator.score([sentences], [])
    search = GridSearchCV(estimator, {"beam": [1, 4]}, cv=2, error_score="raise")
    search.fit([sentences] * 4, [expected] * 4)
    assert search.best_score_ == 1.0


def test_fit_may_adapt_the_model_to_the_rows(model: str, tmp_path: Path) -> None:
    pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")
    rows = [list(document.sentences) for document in random_documents(12, sentences=3, seed=1)]
    estimator = SentenceOrderer(model, fine_tune_in=str(tmp_path / "adapted"), minutes=0.001)
    estimator.fit([row[::-1] for row in rows], [(2, 1, 0)] * 12)
    assert (tmp_path / "adapted" / "config.json").is_file()
    assert sorted(estimator.predict(rows)[0]) == [0, 1, 2]


@pytest.mark.parametrize("order", [(2, 0), (0, 1, 1, 2), (1, 2, 3, 4), (0, 1, 2, -1), (0, 1, 2, 3, 4)])
def test_an_order_that_is_no_permutation_is_refused(
    order: tuple[int, ...], model: str, sentences: list[str], tmp_path: Path
) -> None:
    estimator = SentenceOrderer(model).fit([sentences])
    with pytest.raises(DataError, match="score: order 1 does not name each of its 4 sentences once"):
        estimator.score([sentences] * 2, [(0, 1, 2, 3), order])
    pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")
    with pytest.raises(DataError, match="fit: order 0 does not name"):
        SentenceOrderer(model, fine_tune_in=str(tmp_path / "adapted")).fit([sentences], [order])
