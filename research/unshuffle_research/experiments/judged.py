"""Tau against questions asked of a judge: the most useful ones, random ones, and a ranker without a model.

`python -m unshuffle_research.experiments.judged --data nips=FOLDER --judge oracle --judge NAME=PLACE` trusts each judge
as far as it helps on the validation file, then measures on the test file. A judge is `oracle`, `oracle:0.8` (right with
that chance), or NAME=PLACE with PLACE a folder, a .gguf file, or URL#MODEL. With `--curve` a model that reads link
weights is also given weights of every reliability.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unshuffle.errors import ConfigError, UnshuffleError
from unshuffle.evaluation.results import command_line, commit, versions, write_packed
from unshuffle.evaluation.trust import Remembering, Unjudged, fitted_trust, unjudged
from unshuffle.graph.batch import collate
from unshuffle.judge.contracts import Judge, Trust
from unshuffle.judge.opening import open_judge
from unshuffle.search.contracts import Search
from unshuffle.seeds import derived
from unshuffle.storage.files import read_json, write_json
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.training.corpus import read_splits
from unshuffle_research import RESULTS
from unshuffle_research.experiments.asking import WAYS, Oracle, Point, measured, share_right, ways_of
from unshuffle_research.experiments.plots import COLOURS, new_figure, save

RELIABILITIES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
ORACLE = "oracle"


def judged_by(name: str, documents: Sequence[Document], seed: int, cache: Path | None) -> Judge:
    """A judge as it is written on the command line."""
    kind, _, rest = name.partition("=")
    if kind.partition(":")[0] == ORACLE and not rest:
        return Oracle(documents, float(kind.partition(":")[2] or 1.0), seed)
    if not rest:
        raise ConfigError(f"--judge {name}: expected oracle, oracle:0.8, or NAME=PLACE.")
    place, _, model = rest.partition("#")
    return open_judge(place, model=model, cache=cache)


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


def drawn(folder: Path, dataset: str) -> None:
    """What is gained over the model alone, by the mean number of questions asked; a line for each judge so far.

    Gains and not tau itself: dear judges are asked about fewer documents than cheap ones.
    """
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    results = [found for file in sorted(folder.glob(f"{dataset}-*.json")) if "points" in (found := read_json(file))]
    asked = [result for result in results if Trust.read(result["trust"]).used]
    for colour, result in zip(COLOURS, asked, strict=False):
        for way, style in {"useful": "-o", "random": ":x"}.items():
            some = [point for point in result["points"] if point["way"] == way]
            label = f"{result['judge']}, {WAYS[way]}, {result['documents']} documents"
            at, gains = [point["asked"] for point in some], [point["gain"][0] for point in some]
            axes.plot(at, gains, style, color=colour, markersize=4, label=label)
    axes.set_xlabel("questions per document")
    axes.set_ylabel("τ gained over the model alone")
    left = ", ".join(result["judge"] for result in results if result not in asked)
    title = f"{dataset}, judges of {results[0]['model']}"
    axes.set_title(f"{title}\nnot trusted, so not asked: {left}" if left else title, fontsize=9)
    if asked:
        axes.legend(fontsize=7)
    save(figure, folder / dataset)


def written(folder: Path, head: Mapping[str, Any], points: Sequence[Point]) -> Path:
    """A JSON, and beside it the figures of each document, by which seeds can be pooled."""
    path = folder / f"{head['dataset']}-{head['judge'].replace(':', '-')}.json"
    rows = [asdict(point) for point in points]
    each = [{name: row[name] for name in ("way", "questions")} | {"tau": row.pop("taus")} for row in rows]
    write_json(path, {**head, "points": rows})
    write_packed(path.with_suffix(".taus.jsonl.gz"), each)
    return path


def run(
    model: str,
    data: Sequence[str],
    judges: Sequence[str],
    out: Path,
    *,
    documents: int,
    fitted_on: int,
    seed: int = 1,
    label: str = "",
    curves: bool = False,
    cache: Path | None = None,
) -> list[Path]:
    """A JSON for each data set and judge and a plot for each data set, in a folder of the model's own."""
    orderer = Orderer.from_pretrained(model)
    folder = out / (label or orderer.name)
    origin = {
        "model": label or orderer.name,
        "seed": seed,
        "command": command_line(),
        "commit": commit(),
        "versions": versions(),
    }
    found = []
    for given in data:
        name, _, place = given.partition("=")
        splits = read_splits(Path(place))
        test, valid = splits.test[:documents], splits.valid[:fitted_on]
        alone = unjudged(orderer, test, seed)
        for named in judges:
            started = time.monotonic()
            judge = Remembering(judged_by(named, [*test, *valid], seed, cache))
            known = named.partition("=")[0]
            if valid and not known.startswith(ORACLE):  # which knows how often it is right
                judge.trust = fitted_trust(orderer, judge, valid, seed=seed).trust
            points = measured(alone, judge, judge.trust, ways_of(orderer))
            head = {"dataset": name, "judge": known, "documents": len(alone), "fitted_on": len(valid)}
            head |= {"trust": judge.trust.write(), "spend": asdict(judge.spend)}
            head |= {"right": share_right(judge, alone), "minutes": round((time.monotonic() - started) / 60, 2)}
            found.append(written(folder, origin | head, points))
            drawn(folder, name)
        if curves:
            path = folder / f"{name}-curve.json"
            values = curve(orderer, test, seed)
            write_json(path, origin | {"dataset": name, "documents": len(alone), "tau_by_reliability": values})
            found.append(path)
    return found


def main() -> None:
    """Reads the command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="default", help="model folder, or the name of a shipped one")
    options.add_argument("--data", action="append", required=True, help="NAME=FOLDER with valid and test files")
    options.add_argument("--judge", action="append", required=True, help="oracle, oracle:0.8 or NAME=PLACE")
    options.add_argument("--out", type=Path, default=RESULTS / "judge")
    options.add_argument("--documents", type=int, default=150, help="test documents of each data set")
    options.add_argument(
        "--fitted-on", type=int, default=100, help="validation documents to fit trust on; 0 leaves a judge its own"
    )
    options.add_argument("--cache", type=Path, help="folder in which an endpoint's answers are kept")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--label", default="", help="folder of the results, such as NAME-SEED; the model's name")
    options.add_argument("--curve", action="store_true", help="link weights of every reliability")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    try:
        paths = run(
            chosen.model,
            chosen.data,
            chosen.judge,
            chosen.out,
            documents=chosen.documents,
            fitted_on=chosen.fitted_on,
            seed=chosen.seed,
            label=chosen.label,
            curves=chosen.curve,
            cache=chosen.cache,
        )
    except UnshuffleError as error:
        sys.exit(str(error))
    for path in paths:
        print(path)


if __name__ == "__main__":
    main()
