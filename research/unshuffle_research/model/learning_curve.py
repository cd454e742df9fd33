"""How much each further everyday text teaches: the shipped system on 600, 1,200, 2,400 and 4,800 of them.

`python -m unshuffle_research.model.learning_curve --data FOLDER --runs FOLDER` goes on where it was cut off. Every
model takes as many steps as the others: it sees few texts often, or many texts once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from unshuffle_research import RESULTS
from unshuffle_research.model.candidates import Candidate, train_and_score

SIZES = (600, 1200, 2400, 4800)


def main() -> None:
    """Trains and scores a model for every number of texts."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    options.add_argument("--runs", type=Path, required=True, help="folder for models and parses")
    options.add_argument("--out", type=Path, default=RESULTS / "learning-curve", help="folder for the figures")
    options.add_argument("--encoder", required=True, help="folder or name of the pretrained encoder")
    options.add_argument("--texts", type=int, nargs="*", default=SIZES, help="numbers of texts to learn from")
    options.add_argument("--documents", type=int, default=max(SIZES), help="training documents seen by each model")
    options.add_argument("--held", type=int, default=100, help="validation documents of each kind")
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    for texts in chosen.texts:
        train_and_score(
            Candidate(
                f"{texts:,} everyday texts",
                (f"mixture.texts={texts}", f"changes.sentence_encoder.source={chosen.encoder}"),
                recipe="everyday",
            ),
            documents=chosen.documents,
            data=chosen.data,
            folder=chosen.runs / f"everyday-{texts}-{chosen.seed}",
            results=chosen.out / str(texts),
            most=chosen.held,
            seed=chosen.seed,
        )


if __name__ == "__main__":
    main()
