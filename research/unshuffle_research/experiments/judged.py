"""Tau against questions asked of a judge: the most useful ones, random ones, and a ranker without a model.

`python -m unshuffle_research.experiments.judged --data nips=FOLDER --judge oracle --judge NAME=PLACE` trusts each judge
as far as it helps on the validation file, then measures on the test file. A judge is `oracle`, `oracle:0.8` (right with
that chance), or NAME=PLACE with PLACE a folder, a .gguf file, or URL#MODEL. With `--curve` a model that reads link
weights is also given weights of every reliability.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unshuffle.errors import ConfigError
from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.evaluation.trust import Remembering, Unjudged, fitted_trust, unjudged
from unshuffle.graph.batch import collate
from unshuffle.judge.contracts import Judge, Trust
from unshuffle.judge.opening import open_judge
from unshuffle.judge.ranker import PairRanker
from unshuffle.judge.refinement import Asking, refine
from unshuffle.metrics.bootstrap import paired_bootstrap
from unshuffle.search.contracts import Search
from unshuffle.seeds import derived
from unshuffle.storage.files import write_json, write_text
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.training.corpus import read_splits
from unshuffle_research import RESULTS
from unshuffle_research.experiments.plots import COLOURS, new_figure, save

QUESTIONS = (0, 5, 10, 20, None)
"""None for every pair."""
WAYS = {
    "useful": "most useful pairs",
    "random": "random pairs",
    "ranker": "PairRanker, no model",
    "weights": "most useful pairs, as link weights",
}
RELIABILITIES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
ORACLE = "oracle"


class Oracle:
    """Knows the true order, and is right with a chance that is the same for every shuffle and question."""

    def __init__(self, documents: Sequence[Document], reliability: float, seed: int) -> None:
        self.trust = Trust(reliability=min(max(reliability, 0.501), 0.995), sure=0.99)
        self._right, self._seed = reliability, seed
        self._texts = {frozenset(document.sentences): document.sentences for document in documents}

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
        """1 or 0."""
        true = self._texts[frozenset(sentences)]
        found = []
        for first, second in pairs:
            one, other = sentences[first], sentences[second]
            luck = np.random.default_rng(derived(self._seed, *sorted((one, other)))).random()
            found.append(float((true.index(one) < true.index(other)) == (luck < self._right)))
        return found


@dataclass(frozen=True)
class Point:
    """One number of questions asked in one way."""

    way: str
    questions: int | None
    tau: float
    asked: float
    """Mean over documents; the judge may be asked less often than it could be."""
    share: float
    """The same as a share of all pairs."""
    gain: tuple[float, float, float]
    """Over the model alone, and its 95 % band by paired bootstrap over documents."""


def judged_by(name: str, documents: Sequence[Document], seed: int, cache: Path | None) -> Judge:
    """A judge as it is written on the command line."""
    kind, _, rest = name.partition("=")
    if kind.partition(":")[0] == ORACLE and not rest:
        return Oracle(documents, float(kind.partition(":")[2] or 1.0), seed)
    if not rest:
        raise ConfigError(f"--judge {name}: expected oracle, oracle:0.8, or NAME=PLACE.")
    place, _, model = rest.partition("#")
    return open_judge(place, model=model, cache=cache)


def ordered_usefully(one: Unjudged, judge: Judge, questions: int, trust: Trust) -> tuple[Sequence[int], int]:
    """As `Orderer.order` does for a model that is reranked."""
    found = refine(one.document.sentences, one.chance, judge, questions=questions, trust=trust)
    return (found.order if found.told else one.order), len(found.questions)


def ordered_by_lot(one: Unjudged, judge: Judge, questions: int, trust: Trust) -> tuple[Sequence[int], int]:
    """The same number of pairs, drawn by lot."""
    asking = Asking(one.document.sentences, one.chance, trust, None)
    first, second = np.triu_indices(len(asking.texts), 1)
    drawn = np.random.default_rng(derived(1, *sorted(asking.texts))).permutation(len(first))[:questions]
    pairs = [(int(first[at]), int(second[at])) for at in drawn if asking.texts[first[at]] != asking.texts[second[at]]]
    if not trust.used or not pairs:
        return one.order, 0
    asking.ask(judge, pairs)
    return asking.finished(None).order, len(pairs)


def ordered_without_model(one: Unjudged, judge: Judge, questions: int, trust: Trust) -> tuple[Sequence[int], int]:
    """By the judge alone."""
    found = PairRanker(judge=judge, budget=questions).order(one.document.sentences)
    return found.order, found.calls


Ordered = Callable[[Unjudged, Judge, int, Trust], tuple[Sequence[int], int]]


def ways_of(orderer: Orderer) -> dict[str, Ordered]:
    """By name; the last only for a model that reads link weights."""
    ways: dict[str, Ordered] = {
        "useful": ordered_usefully,
        "random": ordered_by_lot,
        "ranker": ordered_without_model,
    }

    def by_weights(one: Unjudged, judge: Judge, questions: int, trust: Trust) -> tuple[Sequence[int], int]:
        found = orderer.order(one.document, judge=judge, questions=questions)
        return found.order, len(found.judged.questions) if found.judged else 0

    return ways | {"weights": by_weights} if orderer.model.judged else ways


def measured(alone: Sequence[Unjudged], judge: Judge, trust: Trust, ways: Mapping[str, Ordered]) -> list[Point]:
    """Every way at every number of questions."""
    base = np.array([one.tau(one.order) for one in alone])
    points = []
    for way, ordered in ways.items():
        for questions in QUESTIONS:
            pairs = np.array([len(one.order) * (len(one.order) - 1) // 2 for one in alone])
            most = [int(every) if questions is None else min(questions, int(every)) for every in pairs]
            found = [ordered(one, judge, limit, trust) for one, limit in zip(alone, most, strict=True)]
            reached = np.array([one.tau(order) for one, (order, _) in zip(alone, found, strict=True)])
            asked = np.array([count for _, count in found])
            band = paired_bootstrap(reached, base, np.random.default_rng(derived(1, "judge")), draws=2000)
            gain = tuple(round(value, 2) for value in (band.difference, band.lower, band.upper))
            points.append(
                Point(way, questions, round(float(reached.mean()), 2), round(float(asked.mean()), 2),
                      round(float(asked.sum() / pairs.sum()), 3), (gain[0], gain[1], gain[2]))
            )  # fmt: skip
    return points


@torch.inference_mode()
def curve(orderer: Orderer, documents: Sequence[Document], seed: int) -> dict[str, float]:
    """Tau of a model that reads link weights, all of them q or 1 - q and right with chance q."""
    network, found = orderer.model.network, {}
    several = [document for document in documents if len(document.sentences) > 1]
    items = [orderer.model.preparer.item(document) for document in orderer.parser.mentions(several)]
    for reliability in RELIABILITIES:
        values = []
        for number, item in enumerate(items):
            random = np.random.default_rng(derived(seed, "curve", number))  # one luck for all reliabilities
            permutation = random.permutation(len(item.words)).tolist()
            first, second = item.graph.pairs  # in the true order
            says = (random.random(len(first)) < reliability) == (first < second)
            weights = np.where(says, reliability, 1 - reliability).astype(np.float32)
            batch = collate([replace(item, graph=replace(item.graph, weights=weights)).permuted(permutation)])
            best = network.search(network.read(batch), batch, Search(beam=8))[0].orders[0]
            one = Unjudged(several[number].permuted(permutation), tuple(permutation), best, np.zeros((0, 0)))
            values.append(one.tau(best))
        found[f"{reliability:g}"] = round(float(np.mean(values)), 2)
    return found


def table(points: Sequence[Point], dataset: str, judge: str, documents: int) -> str:
    """Markdown: a row a way, a column a number of questions."""
    head = " | ".join("all" if questions is None else str(questions) for questions in QUESTIONS)
    lines = [f"### {dataset}, judge: {judge} ({documents} documents)", "", f"| asked | {head} |"]
    lines.append("|---" * (len(QUESTIONS) + 1) + "|")
    for way, title in WAYS.items():
        some = [point for point in points if point.way == way]
        if some:
            cells = " | ".join(f"{point.tau:.2f} ({100 * point.share:.0f} %)" for point in some)
            lines.append(f"| {title} | {cells} |")
    return "\n".join([*lines, "", "τ, and in brackets the share of all pairs that was asked about.", ""])


def drawn(results: Sequence[dict[str, Any]], dataset: str, path: Path) -> None:
    """Tau against the mean number of questions that were asked, a line a judge."""
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    for colour, result in zip(COLOURS, results, strict=False):
        for way, style in {"useful": "-o", "random": ":x"}.items():
            some = [point for point in result["points"] if point["way"] == way]
            axes.plot([p["asked"] for p in some], [p["tau"] for p in some], style, color=colour, markersize=4,
                      label=f"{result['judge']}, {WAYS[way]}")  # fmt: skip
    axes.set_xlabel("questions a document")
    axes.set_ylabel("τ")
    axes.set_title(dataset)
    axes.legend(fontsize=7)
    save(figure, path)


def run(
    model: str,
    data: Sequence[str],
    judges: Sequence[str],
    out: Path,
    *,
    documents: int,
    fitted_on: int,
    seed: int = 1,
    curves: bool = False,
    cache: Path | None = None,
) -> list[Path]:
    """A JSON for each data set and judge, a table and a plot for each data set; what is there is not done again."""
    orderer = Orderer.from_pretrained(model)
    origin = {
        "model": orderer.name,
        "seed": seed,
        "command": command_line(),
        "commit": commit(),
        "versions": versions(),
    }
    written = []
    for given in data:
        name, _, folder = given.partition("=")
        splits = read_splits(Path(folder))
        test, valid = splits.test[:documents], splits.valid[:fitted_on]
        alone = unjudged(orderer, test, seed)
        results, tables = [], []
        for named in judges:
            started = time.monotonic()
            label = named.partition("=")[0]
            path = out / f"{name}-{label.replace(':', '-')}.json"
            judge = Remembering(judged_by(named, [*test, *valid], seed, cache))
            if not label.startswith(ORACLE):  # which knows how often it is right
                judge.trust = fitted_trust(orderer, judge, valid, seed=seed).trust
            trust = judge.trust
            points = measured(alone, judge, trust, ways_of(orderer))
            result = {"dataset": name, "judge": label, "documents": len(alone), "trust": trust.write()}
            result |= {"points": [asdict(point) for point in points], "spend": asdict(judge.spend)}
            minutes = round((time.monotonic() - started) / 60, 2)
            write_json(path, origin | result | {"minutes": minutes})
            results.append(result)
            tables.append(table(points, name, label, len(alone)))
            written.append(path)
        drawn(results, name, out / name)
        write_text(out / f"{name}.md", "\n".join(tables))
        if curves:
            path = out / f"{name}-curve.json"
            found = curve(orderer, test, seed)
            write_json(path, origin | {"dataset": name, "documents": len(alone), "tau_by_reliability": found})
            written.append(path)
    return written


def main() -> None:
    """Reads the command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="default", help="model folder, or the name of a shipped one")
    options.add_argument("--data", action="append", required=True, help="NAME=FOLDER with valid and test files")
    options.add_argument("--judge", action="append", required=True, help="oracle, oracle:0.8 or NAME=PLACE")
    options.add_argument("--out", type=Path, default=RESULTS / "judge")
    options.add_argument("--documents", type=int, default=150, help="test documents of each data set")
    options.add_argument("--fitted-on", type=int, default=100, help="validation documents that trust is fitted on")
    options.add_argument("--cache", type=Path, help="folder in which an endpoint's answers are kept")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--curve", action="store_true", help="link weights of every reliability")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    for path in run(
        chosen.model,
        chosen.data,
        chosen.judge,
        chosen.out,
        documents=chosen.documents,
        fitted_on=chosen.fitted_on,
        seed=chosen.seed,
        curves=chosen.curve,
        cache=chosen.cache,
    ):
        print(path)


if __name__ == "__main__":
    main()
