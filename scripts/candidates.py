"""Compare candidates for the model inside the package: each is trained on the same texts and scored on validation.

`python scripts/candidates.py --data FOLDER --runs FOLDER --out results/candidates` goes on where it was cut off. A
candidate is a recipe; `unshuffle domains` writes its figures beside the documents it orders in a second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

from unshuffle.files import read_json, write_json
from unshuffle.training.results import command_line, commit, versions

CANDIDATES = {
    "candidate-bilstm": "IRSE-GRN on a BiLSTM",
    "candidate-bilstm-fh": "IRSE-GRN + FHDecoder on a BiLSTM",
    "candidate-frozen": "IRSE-GRN + FHDecoder on a BiLSTM on a frozen transformer",
    "candidate-transformer": "IRSE-GRN on a fine-tuned transformer",
    "default": "IRSE-GRN + FHDecoder on a fine-tuned transformer",
    "candidate-set": "the same, sentences read in each other's sight",
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
        print(CANDIDATES[name], flush=True)
        folder = chosen.runs / f"{name}-{chosen.documents}-{chosen.seed}"
        shared = [f"--data={chosen.data}", f"--cache={chosen.runs / 'parses'}", f"--seed={chosen.seed}"]
        train = ["unshuffle", "recipe", name, f"--out={folder}", "--resume", *shared]
        score = ["unshuffle", "domains", name, "--choosing", f"--model={folder}", f"--results={chosen.out}", *shared]
        score += [f"--most={chosen.held}", "--shuffles=1"]
        for command in ([*train, f"--set=mixture.documents={chosen.documents}"], score):
            subprocess.run(command, env=environment, check=True)
        write_json(
            chosen.out / f"{name}-training-{chosen.seed}.json",
            {
                "candidate": name,
                "title": CANDIDATES[name],
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
