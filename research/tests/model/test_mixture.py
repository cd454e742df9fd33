"""Documents of several kinds, in shares and excerpts; their figures and their credits."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")

from tests.fixtures.documents import random_documents, stories
from tests.fixtures.systems import tiny_model
from unshuffle.errors import DataError
from unshuffle.evaluation.reliability import reliability_of
from unshuffle.evaluation.results import read_predictions
from unshuffle.system.orderer import Orderer
from unshuffle.system.rows import load_row
from unshuffle.training.config import TrainingConfig
from unshuffle_research.model.credits import write_credits
from unshuffle_research.model.domains import write_domain_figures
from unshuffle_research.model.mixture import MixtureConfig, Source, held_out, training_documents
from unshuffle_research.model.recipe import Pass, Recipe

SHORT = {f"s{number}": [f"Short {number} {place}." for place in range(4)] for number in range(30)}
LONG = {f"l{number}": [f"Long {number} {place}." for place in range(33)] for number in range(5)}


def write(folder: Path, name: str, documents: dict[str, list[str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps({"id": id, "sentences": sentences}) for id, sentences in documents.items()]
    (folder / f"{name}.jsonl").write_text("\n".join(rows) + "\n")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("train", "valid", "test"):
        write(tmp_path / "short", name, SHORT)
    write(tmp_path / "long", "train", {**LONG, "tiny": ["Too", "short"]})
    write(tmp_path / "long", "valid", LONG)
    return tmp_path


def mixture(**options: int) -> MixtureConfig:
    short = Source(
        name="short", train=("short/train.jsonl",), valid=("short/valid.jsonl",), test=("short/test.jsonl",), share=3
    )
    long = Source(name="long", train=("long/train.jsonl",), valid=("long/valid.jsonl",), share=1, excerpts=True)
    return MixtureConfig(sources=(short, long), **{"documents": 80, **options})


def recipe(*mixtures: MixtureConfig) -> Recipe:
    system = load_row("se-grn", []).system
    return Recipe("tiny", tuple(Pass(system, TrainingConfig(), each) for each in mixtures))


def test_thinned_texts_keep_their_order(data: Path) -> None:
    whole = {id: sentences for texts in (SHORT, LONG) for id, sentences in texts.items()}
    found = training_documents(replace(mixture(documents=200), thinned=0.5), data, seed=1)
    shorter = [document for document in found if str(document.id) in whole and len(document.sentences) == 3]
    assert 40 < len(shorter) < 110  # of some 150 short texts
    for document in found:
        true = whole[str(document.id).partition("@")[0]]
        places = [true.index(sentence) for sentence in document.sentences]
        assert places == sorted(places)
        assert len(places) >= 3


def test_sources_have_their_shares_and_long_texts_give_excerpts(data: Path) -> None:
    documents = training_documents(mixture(), data, seed=1)
    kinds = Counter(document.sentences[0].split()[0] for document in documents)
    assert kinds == {"Short": 60, "Long": 20}  # more than there are: texts come again, excerpts drawn anew
    excerpts = [document for document in documents if document.sentences[0].startswith("Long")]
    assert len({document.sentences for document in excerpts}) > 15
    for excerpt in excerpts:
        text, _, start = excerpt.id.partition("@")
        size = len(excerpt.sentences)
        assert 3 <= size <= 30 and list(excerpt.sentences) == LONG[text][int(start) : int(start) + size]
    assert training_documents(mixture(), data, seed=1) == documents != training_documents(mixture(), data, seed=2)


def test_a_larger_number_of_texts_takes_in_those_of_a_smaller_one(data: Path) -> None:
    drawn = {
        texts: {document.id for document in training_documents(mixture(texts=texts), data, 1) if document.id[0] == "s"}
        for texts in (5, 20)
    }
    assert len(drawn[5]) == 5
    assert len(drawn[20]) == 20
    assert drawn[5] < drawn[20]


def test_a_source_of_short_texts_only_is_told(data: Path) -> None:
    with pytest.raises(DataError, match="no text of 90 sentences"):
        training_documents(replace(mixture(), shortest=90, usual=95, longest=99), data, seed=1)


def test_held_out_texts_are_drawn_from_the_whole_source(data: Path) -> None:
    tests, valids = (held_out(mixture(), data, files) for files in ("test", "valid"))
    assert set(tests) == {"short"} and len(tests["short"]) == 30
    assert len(valids["long"]) == 5 and all(3 <= len(excerpt.sentences) <= 30 for excerpt in valids["long"])
    some = held_out(mixture(), data, "valid", 3)
    assert some == held_out(mixture(), data, "valid", 3)
    assert [len(documents) for documents in some.values()] == [3, 3]
    assert set(some["long"]) < set(valids["long"]) and set(some["short"]) < set(valids["short"])
    assert some["short"] != valids["short"][:3]  # not the first texts alone


def test_long_texts_give_several_excerpts_and_short_ones_themselves_once(data: Path) -> None:
    found = held_out(mixture(), data, "valid", excerpts=4)
    assert len(found["short"]) == 30 and 5 < len(found["long"]) <= 20
    assert len(set(found["long"])) == len(found["long"])


def test_credits_name_the_texts_that_were_used(data: Path, tmp_path: Path) -> None:
    for name, texts in (("short", SHORT), ("long", LONG)):
        lines = ["id\tauthor\ttitle\turl\tlicence", *(f"{id}\tA\tT\tU\tCC" for id in [*texts, "unused"])]
        (data / name / "credits.tsv.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    count = write_credits(recipe(mixture()), data, [1], tmp_path / "credits.tsv.gz")
    rows = gzip.decompress((tmp_path / "credits.tsv.gz").read_bytes()).decode().splitlines()[1:]
    named = {(row.split("\t")[0], row.split("\t")[1]) for row in rows}
    more = replace(mixture(), sources=mixture().sources[:1])
    assert write_credits(recipe(more), data, [2], tmp_path / "again.tsv.gz") == 30
    assert write_credits(recipe(more, mixture()), data, [1], tmp_path / "again.tsv.gz") == count  # none twice
    earlier = [tmp_path / "credits.tsv.gz"]
    assert write_credits(recipe(more), data, [2], tmp_path / "all.tsv.gz", before=earlier) == count
    assert len(rows) == count == len(named) == 35
    assert named == {("short", id) for id in SHORT} | {("long", id) for id in LONG}


@pytest.mark.parametrize("choosing", [False, True])
def test_figures_by_kind_of_text_stand_beside_orders_without_training(
    data: Path, tmp_path: Path, choosing: bool
) -> None:
    write(data / "short", "test", {document.id: list(document.sentences) for document in stories()})
    orderer = Orderer(tiny_model("se-grn", tmp_path, random_documents(5)))
    paths = list(
        write_domain_figures(
            orderer,
            recipe(mixture()),
            data,
            tmp_path / "out",
            seed=1,
            cache=tmp_path,
            shuffles=2,
            most=4,
            choosing=choosing,
        )
    )
    found = {path.name: json.loads(path.read_text()) for path in paths}
    assert list(found) == ["tiny-short-1.json", "tiny-long-1.json"]
    splits = [run["split"] for run in found.values()]
    assert splits == (["valid", "valid"] if choosing else ["test", "valid"])
    for run in found.values():
        assert run["test"]["documents"] == 4 and run["test"]["shuffles"] == 2
        assert set(run["baselines"]) == {"random", "input", "nearest chain"}
        assert -100 <= run["baselines"]["random"]["tau"] <= 100
    for path in paths:  # what the model said of its orders lies beside them
        again = reliability_of(read_predictions(path.with_suffix(".orders.jsonl.gz")))
        assert again.error == pytest.approx(found[path.name]["calibration_error"], abs=1e-3)
