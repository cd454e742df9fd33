"""Table 5: shuffled multi-document summaries put in order, and how coherent they read then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unshuffle.errors import ConfigError
from unshuffle.evaluation.predict import Prediction, figures, predict, shuffled
from unshuffle.evaluation.results import plain, write_predictions
from unshuffle.metrics.bootstrap import Band, bootstrap_band
from unshuffle.seeds import derived
from unshuffle.storage.files import write_json
from unshuffle.text.document import Document
from unshuffle.text.readers.read import read_documents
from unshuffle.text.tokenizer_file import WORD
from unshuffle.text.vectors import load_vectors
from unshuffle.training.corpus import parsed
from unshuffle_research.experiments.bench import DRAWS, Bench, cut_mark, cut_note, run_of
from unshuffle_research.experiments.coherence import Neighbours, neighbours
from unshuffle_research.experiments.datasets.duc import is_duc, read_duc
from unshuffle_research.experiments.measure import about
from unshuffle_research.experiments.models import Models, Trained
from unshuffle_research.experiments.plan import Dataset
from unshuffle_research.experiments.plots import Panel, dots
from unshuffle_research.experiments.published import printed, shown
from unshuffle_research.experiments.sheet import Plot, Sheet, Table, banded

_WORD = re.compile(WORD)
PARSER = "default"


@dataclass(frozen=True)
class Texts:
    """Summaries to be put in order."""

    name: str
    documents: tuple[Document, ...]
    near: tuple[Neighbours, ...]

    @property
    def paper(self) -> bool:
        """Whether it is the set that the paper uses."""
        return self.name.startswith("duc")


def summaries(bench: Bench) -> Iterator[Sheet]:
    """One sheet a training set and set of summaries."""
    if not bench.texts:
        raise ConfigError("summaries: no set of summaries is given. Say --texts NAME=FILE, or duc2004=FOLDER.")
    sets = [open_texts(given, bench.models) for given in bench.texts]
    for dataset in bench.datasets:
        trained = list(bench.trained(bench.plans(dataset)))
        for texts in sets if trained else ():
            yield _sheet(bench, dataset, texts, trained)


def open_texts(given: str, models: Models) -> Texts:
    """`NAME=FILE` with a summary a record, or `NAME=FOLDER` in DUC's layout."""
    name, equals, place = given.partition("=")
    path = Path(place if equals else given)
    name = name if equals else path.name.split(".")[0]
    documents = read_duc(path) if is_duc(path) else [one for one in read_documents(path) if len(one.sentences) > 1]
    read = parsed(documents, PARSER, models.folder / "parses")
    vectors = load_vectors()
    return Texts(name, read, tuple(neighbours(document, vectors) for document in read))


def as_read(documents: Sequence[Document], split: str) -> tuple[Document, ...]:
    """Text for a model that was trained on words between blanks; others read it as it stands."""
    if split != "spaces":
        return tuple(documents)
    return tuple(
        replace(one, sentences=tuple(" ".join(_WORD.findall(text)).lower() or text for text in one.sentences))
        for one in documents
    )


@dataclass(frozen=True)
class Line:
    """One way to order the summaries."""

    label: str
    paper: tuple[float, ...] | None
    bands: tuple[Band, ...]
    """One a weight."""
    tau: str


def _bands(texts: Texts, orders: Sequence[Sequence[Sequence[int]]], weights: Sequence[float]) -> tuple[Band, ...]:
    """Coherence under each weight; `orders`: one list a shuffle, of one order a summary."""
    found = []
    for weight in weights:
        rows = [
            [100 * near.coherence(order, weight) for near, order in zip(texts.near, some, strict=True)]
            for some in orders
        ]
        generator = np.random.default_rng(derived(1, "coherence", weight))
        found.append(bootstrap_band(np.mean(rows, 0), generator, draws=DRAWS))
    return tuple(found)


def _sheet(bench: Bench, dataset: Dataset, texts: Texts, trained: Sequence[Trained]) -> Sheet:
    weights = bench.settings.weights
    written = [[range(len(one.sentences)) for one in texts.documents]]
    drawn = [[order for _, order in shuffled(texts.documents, number, 1)] for number in range(bench.shuffles)]
    lines = [
        Line("as written", None, _bands(texts, written, weights), "100.00"),
        Line("shuffled", None, _bands(texts, drawn, weights), "–"),
    ]
    for model in trained:
        plan = model.plan
        documents = as_read(texts.documents, plan.config.tokens.split)
        predictions = list(predict(model.orderer, documents, shuffles=bench.shuffles, seed=plan.seed, beam=bench.beam))
        bands = _bands(texts, list(_by_shuffle(predictions).values()), weights)
        test = plain(figures(predictions))
        label = plan.label + cut_mark([model]) + (f", seed {plan.seed}" if len(bench.seeds) > 1 else "")
        lines.append(Line(label, printed("summaries", plan.row), bands, f"{test['tau']:.2f}"))
        path = bench.out / f"{plan.row}-{dataset.name}-{texts.name}-{plan.seed}.json"
        write_predictions(path.with_suffix(".orders.jsonl.gz"), predictions)
        coherence = {f"{weight:g}": band.value for weight, band in zip(weights, bands, strict=True)}
        write_json(path, about(model) | {"texts": texts.name, "coherence": coherence, "test": test})
        bench.written.append(path)
    return _laid_out(bench, dataset, texts, lines, trained)


def _by_shuffle(predictions: Sequence[Prediction]) -> dict[int, list[tuple[int, ...]]]:
    found: dict[int, list[tuple[int, ...]]] = {}
    for prediction in predictions:
        found.setdefault(prediction.shuffle, []).append(prediction.order)
    return found


def _laid_out(bench: Bench, dataset: Dataset, texts: Texts, lines: Sequence[Line], trained: Sequence[Trained]) -> Sheet:
    names = [f"coherence, weight {weight:g}" for weight in bench.settings.weights]
    paper = "paper: 0.8 / 0.5" if texts.paper else "paper, on DUC 2004: 0.8 / 0.5"
    table = Table(
        f"{texts.name}: {len(texts.documents)} summaries, {bench.shuffles} shuffles",
        ("order", paper, *names, "τ to the order as written"),
        tuple((line.label, shown(line.paper), *map(banded, line.bands), line.tau) for line in lines),
        cut_note(trained),
    )
    panels = [
        Panel(
            name, [line.bands[place] for line in lines], [line.paper[place] if line.paper else None for line in lines]
        )
        for place, name in enumerate(names)
    ]
    figure = dots([line.label for line in lines], panels, paper="paper, on DUC 2004 and named entities")
    return Sheet(
        dataset=f"{dataset.name}-{texts.name}",
        subtitle=f"Trained on {dataset.described}; summaries: {texts.name}",
        tables=(table,),
        plots=(Plot("coherence", "Coherence probability of the summaries as ordered by each system.", figure),),
        notes=(
            "Coherence probability (Nayeem and Chali, 2017) is reconstructed from how it is quoted: weight × shared "
            "entities + (1 - weight) × cosine of averaged word vectors, mean over neighbours. Entities are all nouns "
            "here, so that figures compare systems with each other and not with the paper.",
            "The paper trains on Multi-News and orders DUC 2004 (Task 2); DUC needs an agreement with NIST.",
        ),
        figures={line.label: [band.value for band in line.bands] for line in lines},
        runs=tuple(run_of(model) for model in trained),
    )
