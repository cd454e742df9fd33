"""Figures that can be recomputed from the predictions beside them."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.fixtures.documents import random_documents, stories
from tests.fixtures.systems import tiny_model
from unshuffle.errors import DataError
from unshuffle.evaluation.predict import Prediction, figures, gains, intervals, predict, shuffled
from unshuffle.evaluation.results import Result, plain, read_predictions, write_predictions
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

RESULTS = sorted(
    path for path in (ROOT / "research" / "results").rglob("*.json") if path.with_suffix(".orders.jsonl.gz").is_file()
)


def repeated() -> list[Document]:
    """Documents in which sentences occur more than once."""
    found = []
    for number, document in enumerate(random_documents(12, sentences=4, seed=71)):
        texts = (*document.sentences, document.sentences[number % 4], document.sentences[0])
        found.append(Document(texts, (), f"repeated {number}"))
    return found


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_every_written_figure_follows_from_the_predictions(path: Path) -> None:
    written = json.loads(path.read_text(encoding="utf-8"))
    again = json.loads(json.dumps(plain(figures(read_predictions(path.with_suffix(".orders.jsonl.gz"))))))
    assert {name: again[name] for name in written["test"]} == written["test"]


def test_says_how_many_documents_come_out_differently_in_another_shuffle() -> None:
    made = [
        Prediction(id, shuffle, order)
        for shuffle in range(2)
        for id, order in (("one", (0, 1, 2)), ("two", (0, 1) if shuffle else (1, 0)))
    ]
    assert figures(made).changed == 50
    assert figures(made[:2]).changed is None


def test_predictions_alone_give_the_figures_also_where_sentences_are_repeated(tmp_path: Path) -> None:
    documents = repeated()
    orderer = Orderer(tiny_model("se-grn", tmp_path, documents))
    predictions = list(predict(orderer, documents, shuffles=3, beam=4))
    file = tmp_path / "made.orders.jsonl.gz"
    write_predictions(file, predictions)
    assert list(read_predictions(file)) == predictions
    assert plain(figures(read_predictions(file))) == plain(figures(predictions))
    for prediction, document in zip(predictions, documents, strict=False):  # copies in rising order
        texts = [document.sentences[place] for place in prediction.order]
        for text in set(texts):
            places = [place for place, own in zip(prediction.order, texts, strict=True) if own == text]
            assert places == sorted(places)


def test_shuffles_depend_on_seed_and_number_only() -> None:
    documents = stories()
    one = [order for _, order in shuffled(documents, 0, 1)]
    assert one == [order for _, order in shuffled(documents, 0, 1)]
    assert one[3:4] != [order for _, order in shuffled(documents[3:4], 0, 1)] or one[0] == one[3]
    assert one != [order for _, order in shuffled(documents, 1, 1)] != [order for _, order in shuffled(documents, 0, 2)]
    for document, order in shuffled(documents, 0, 1):
        original = next(story for story in documents if story.id == document.id)
        assert [original.sentences[place] for place in order] == list(document.sentences)


def test_the_same_run_makes_the_same_file(tmp_path: Path) -> None:
    made = [
        Prediction(str(number), 0, tuple(np.random.default_rng(number).permutation(5).tolist())) for number in range(9)
    ]
    write_predictions(tmp_path / "a.gz", made)
    write_predictions(tmp_path / "b.gz", made)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize(
    "line", ["", "{}", '{"id": "a", "shuffle": 0, "order": [0, 0]}', '{"id": "a", "order": [0]}', "[1]"]
)
def test_what_is_no_prediction_is_one_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "made.jsonl"
    file.write_text('{"id": "a", "shuffle": 0, "order": [1, 0]}\n' + line + "\n")
    with pytest.raises(DataError, match=r"made\.jsonl line 2: ") as error:
        list(read_predictions(file))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"\x1f\x8b\x08\0broken", b"\xff\xfe", None])
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "made.orders.jsonl.gz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DataError, match=r"made\.orders\.jsonl\.gz: it cannot be read") as error:
        list(read_predictions(file))
    assert "\n" not in str(error.value)


def test_a_result_says_what_was_run(tmp_path: Path) -> None:
    made = [Prediction("a", shuffle, (0, 2, 1)) for shuffle in range(3)]
    result = Result(
        system="se-grn",
        dataset="tiny",
        seed=4,
        command="unshuffle train",
        config={},
        data_hash="x",
        minutes=0.1,
        parameters=5,
        valid={},
        test=plain(figures(made)),
        notes={},
    )
    path = result.write(tmp_path, made)
    assert path.name == "se-grn-tiny-4.json"
    written = json.loads(path.read_text())
    assert written["test"]["tau"] == pytest.approx(33.333) and written["test"]["sd"]["tau"] == 0
    assert {"commit", "versions", "system", "dataset", "seed", "command", "config", "data_hash"} <= set(written)
    assert replace(result, seed=5).write(tmp_path, made) != path
    test_every_written_figure_follows_from_the_predictions(path)


def test_a_command_is_told_as_it_was_typed(tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()
    code = "from unshuffle.evaluation.results import command_line\nprint(command_line())\n"
    for name in ("__main__", "part"):
        (tmp_path / "tool" / f"{name}.py").write_text(code)
    for typed in (["-m", "tool", "a", "b"], ["-m", "tool.part"], ["tool/part.py", "--x=1"]):
        done = subprocess.run([sys.executable, *typed], cwd=tmp_path, capture_output=True, text=True, check=True)
        typed[0] = typed[0].removeprefix("tool/")  # a script goes by its name
        expected = " ".join(typed) if typed[0] != "-m" else " ".join(["python", *typed])
        assert done.stdout.strip() == expected


def test_documents_of_one_sentence_do_not_count_as_right() -> None:
    made = [Prediction(id, shuffle, (1, 0)) for shuffle in range(2) for id in ("one", "two")]
    alone = [Prediction("alone", shuffle, (0,)) for shuffle in range(2)]
    assert figures([*made, *alone]) == figures(made) and figures(made).mean.tau == -100
    assert intervals([*made, *alone]) == intervals(made)
    assert gains([*made, *alone], [*made, *alone]) == gains(made, made)
    assert figures(alone).mean.tau == 100
