"""Tables that compare: one system with another, the shipped model with simpler ways, thresholds with each other."""

from __future__ import annotations

import gzip
import json
import statistics
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.evaluation.results import read_predictions
from unshuffle.metrics.bootstrap import Comparison, paired_bootstrap
from unshuffle.metrics.orders import tau
from unshuffle.seeds import derived
from unshuffle.system.rows import load_row
from unshuffle.text.readers.read import EVERYDAY, EVERYDAY_SPLITS
from unshuffle_research import CONFIGS, RESULTS
from unshuffle_research.experiments.sheet import spread
from unshuffle_research.tables.measured import table
from unshuffle_research.tables.shipped import runs

MAIN, CONTROLS = RESULTS / "main", RESULTS / "controls"
Floats = NDArray[np.float64]
OTHER_SETS = {"acl": "ACL", "arxiv": "arXiv", "roc": "ROCStories", "sind": "SIND"}
USES = {
    "results are used unseen (indexing, training data)": 0.9,
    'chunks handed to a language model (what `"auto"` aims at)': 0.8,
    "suggestions that a person accepts or rejects": 0.7,
}
"""How many pairs should be right on average for each use."""


CONTRASTS = (
    ("encoder", "a transformer in place of word vectors and a BiLSTM", "irse-grn-bert-fh", "irse-grn-fh"),
    ("encoder", "109 M parameters in place of 22 M, scores", "ranktxnet-base", "ranktxnet"),
    ("encoder", "109 M parameters in place of 22 M, graph and FHDecoder", "irse-grn-bert-fh-base", "irse-grn-bert-fh"),
    ("pairs", "every pair read together, in place of every sentence alone", "berson", "ranktxnet"),
    ("graph", "entities and links in place of self-attention", "se-grn", "attordernet-narrow"),
    ("graph", "relations between entities", "se-grn-relations", "se-grn"),
    ("graph", "gated messages in place of sums", "irse-grn-unrefined", "se-grn-relations"),
    ("refinement", "as the paper has it", "irse-grn", "irse-grn-unrefined"),
    ("refinement", "trained for a judge's weights, none given", "irse-grn-judge", "irse-grn-unjudged"),
    ("refinement", "temperature and rounds chosen on validation", "irse-grn-tuned", "irse-grn-unrefined"),
    ("refinement", "under FHDecoder, chosen on validation", "irse-grn-fh-tuned", "irse-grn-unrefined-fh"),
    ("decoder", "FHDecoder on a graph", "se-grn-fh", "se-grn"),
    ("decoder", "FHDecoder on a refined graph", "irse-grn-fh", "irse-grn"),
    ("decoder", "FHDecoder on self-attention, equal widths", "attordernet-fh", "attordernet-narrow"),
    ("decoder", "a verifier that re-ranks partial orders", "cover", "berson"),
)
"""What is asked of, by what, and the two rows that differ in it."""


def helps() -> str:
    """What each component is worth on NIPS: the seeds both rows have, whole documents resampled."""
    rows = []
    for of, what, system, baseline in CONTRASTS:
        pair = [of, what, f"`{system}`", f"`{baseline}`"]
        sides = [trained(name) for name in (system, baseline)]
        seeds = sorted(set(sides[0]) & set(sides[1]))
        if not seeds:
            rows.append([*pair, "–", "0", "not trained yet"])
            continue
        found = _compared(*([side[seed][0] for seed in seeds] for side in sides))
        cut = any(side[seed][1] for side in sides for seed in seeds)
        verdict = "helps" if found.lower > 0 else "costs" if found.upper < 0 else "no difference shown"
        difference = f"{found.difference:+.2f} [{found.lower:+.2f}, {found.upper:+.2f}]"
        rows.append([*pair, difference, str(len(seeds)), "unfinished\\*" if cut else verdict])
    return table(["component", "what", "row", "against", "Δτ, 95 % interval", "seeds", ""], rows)


def lead(system: str, *baselines: str) -> str:
    """How far a system is ahead of each baseline on NIPS: the seeds both have, whole documents resampled."""
    rows = []
    for baseline in baselines:
        ours, theirs = trained(system), trained(baseline)
        seeds = sorted(set(ours) & set(theirs))
        if not seeds:
            rows.append([f"`{system}`", f"`{baseline}`", "*not trained yet*", "–", "0"])
            continue
        found = _compared([ours[seed][0] for seed in seeds], [theirs[seed][0] for seed in seeds])
        difference = f"{found.difference:+.2f} [{found.lower:+.2f}, {found.upper:+.2f}]"
        rows.append([f"`{system}`", f"`{baseline}`", difference, f"{found.p_value:.2f}", str(len(seeds))])
    return table(["system", "against", "Δτ, 95 % interval", "p", "seeds"], rows)


def level_with_best(systems: Iterable[str]) -> frozenset[str]:
    """The best finished system on NIPS, and those behind it by no more than chance explains, on the seeds both have."""
    runs_of = {system: trained(system) for system in systems}
    taus = {system: {seed: values for seed, (values, _) in runs.items()} for system, runs in runs_of.items()
            if runs and not any(cut for _, cut in runs.values())}  # fmt: skip
    if len(taus) < 2:
        return frozenset()
    best = max(taus, key=lambda system: float(np.mean([values.mean() for values in taus[system].values()])))
    level = {best}
    for system, values in taus.items():
        seeds = sorted(set(values) & set(taus[best]))
        if seeds and _compared([taus[best][seed] for seed in seeds], [values[seed] for seed in seeds]).lower <= 0:
            level.add(system)
    return frozenset(level)


def _compared(ours: Sequence[Floats], theirs: Sequence[Floats]) -> Comparison:
    return paired_bootstrap(np.mean(ours, 0), np.mean(theirs, 0), np.random.default_rng(derived(1, "lead", "tau")))


def trained(system: str) -> dict[int, tuple[Floats, bool]]:
    """By seed: τ of every NIPS test document, the mean of its shuffles, and whether a time limit ended the training."""
    found = {}
    for file in sorted(file for folder in (MAIN, CONTROLS) for file in folder.glob(f"{system}-nips-*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        if run["system"] == system and run["comparable"]:
            predictions = list(read_predictions(file.with_suffix(".orders.jsonl.gz")))
            values = [100 * tau(one.order, range(len(one.order))) for one in predictions]
            by_document = np.reshape(values, (run["test"]["shuffles"], -1)).mean(0)
            found[int(run["seed"])] = (by_document, bool(run["cut_by_time"]))
    return found


def other_sets() -> str:
    """τ on the data sets that are not the paper's own; a star where a time limit ended the training."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for file in sorted(MAIN.glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        if "system" in run and run["dataset"] in OTHER_SETS:
            found.setdefault(run["system"], {}).setdefault(run["dataset"], []).append(run)
    rows = []
    for system, by_set in sorted(found.items()):
        rows.append([load_row(system).about.title, *(_starred(by_set.get(name, [])) for name in OTHER_SETS)])
    return table(["system", *OTHER_SETS.values()], rows)


def _starred(trained: Sequence[dict[str, Any]]) -> str:
    if not trained:
        return "–"
    return spread([run["test"]["tau"] for run in trained]) + "\\*" * any(run["cut_by_time"] for run in trained)


def simple_ways() -> str:
    """τ of the shipped model beside orders that need no training, a language model's and the first shipped model's."""
    rivals = {"a language model's likelihood": "language-model", "first shipped model": "default-before"}
    found = {title: {run["dataset"]: run for run in runs(RESULTS / folder)} for title, folder in rivals.items()}
    found = {title: others for title, others in found.items() if others}
    rows = []
    for run in runs(RESULTS / "default"):
        kind, documents = run["dataset"], run["test"]["documents"]
        figures = [f"{run['baselines'][name]['tau']:.1f}" for name in ("random", "nearest chain")]
        for others in found.values():
            test = others[kind]["test"] if kind in others else None
            few = f" ({test['documents']})" if test and test["documents"] != documents else ""
            figures.append(f"{test['tau']:.1f}{few}" if test else "–")
        rows.append([kind, str(documents), *figures, f"{run['test']['tau']:.1f}"])
    return table(["text", "documents", "random", "nearest chain", *found, "shipped model"], rows)


def thresholds() -> str:
    """What each threshold of `keep_if_unsure` lets through, and how much of that is right."""
    measured = _calibration("default").get("thresholds", [])
    if not measured:
        return "*Not measured for this model yet: `unshuffle calibrate --results` writes it.*\n"
    rows = [
        [f"{row['confidence']:.2f}", f"{row['taken']:.0%}", "–" if row["right"] is None else f"{row['right']:.1%}"]
        for row in measured
    ]
    return table(["threshold", "orders at or above it", "of their pairs right"], rows)


def uses() -> str:
    """For each use the lowest threshold whose orders have enough pairs right."""
    measured = [row for row in _calibration("default").get("thresholds", []) if row["right"] is not None]
    rows = []
    for use, wanted in USES.items():
        fit = next((row for row in measured if row["right"] >= wanted), None)
        figures = [f"{fit['confidence']:.2f}", f"{fit['taken']:.0%}", f"{fit['right']:.1%}"] if fit else ["–"] * 3
        rows.append([use, f"{wanted:.0%}", *figures])
    return table(["use", "pairs that should be right", "threshold", "orders taken", "of their pairs right"], rows)


def calibration_errors() -> str:
    """Expected calibration error on held-out texts of each kind."""
    rows = [
        [name, str(found["documents"]), f"{found['error_as_found']:.3f}", f"{found['error_calibrated']:.3f}"]
        for name, found in sorted(_calibration("default").get("texts", {}).items())
    ]
    return table(["text", "documents", "error as found", "error calibrated"], rows)


def _calibration(model: str) -> dict[str, Any]:
    file = RESULTS / "calibration" / f"{model}.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def sources() -> str:
    """What the recipe of the shipped model draws its documents from."""
    recipe = tomllib.loads((CONFIGS / "recipes" / "default.toml").read_text(encoding="utf-8"))
    rows = []
    total = sum(source["share"] for source in recipe["mixture"]["sources"])
    for source in recipe["mixture"]["sources"]:
        sets = ", ".join(dict.fromkeys(_data_set(file) for file in source["train"]))
        rows.append([source["name"], sets, f"{source['share'] / total:.0%}"])
    return table(["kind", "data sets", "share of documents"], rows)


def everyday_splits() -> str:
    """How many texts, kinds and sentences each split of the everyday texts has."""
    rows = []
    for split in EVERYDAY_SPLITS:
        with gzip.open(EVERYDAY / f"{split}.jsonl.gz", "rt", encoding="utf-8") as file:
            texts = [json.loads(line) for line in file]
        lengths = [len(text["sentences"]) for text in texts]
        spread_of = f"{min(lengths)}-{max(lengths)}, median {statistics.median(lengths):g}"
        kinds = len({text["kind"] for text in texts})
        rows.append([split, f"{len(texts):,}", str(kinds), f"{sum(lengths):,}", spread_of])
    return table(["split", "texts", "kinds", "sentences in all", "sentences per text"], rows)


def _data_set(file: str) -> str:
    return Path(file).parent.name
