"""A dozen everyday texts, shuffled, as the shipped model orders them, right or wrong.

`python -m unshuffle_research.gallery --out docs/gallery.md` picks them by a fixed seed; none is picked by its result.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unshuffle.evaluation.predict import shuffled
from unshuffle.metrics.orders import align_repeats, tau
from unshuffle.seeds import derived
from unshuffle.storage.files import write_text
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.text.readers.read import read_documents


@dataclass(frozen=True)
class Exhibit:
    """One text as the model ordered it."""

    document: Document
    """In its true order."""
    order: tuple[int, ...]
    """True positions in the order that the model gave."""
    given: tuple[int, ...]
    """True positions in the order in which the model got the sentences."""
    confidence: float

    @property
    def tau(self) -> float:
        """Of the model's order, from -1 to 1."""
        return tau(self.order, range(len(self.order)))


def kind(document: Document) -> str:
    """`everyday-mail-private-37` -> `mail private`."""
    words = re.sub(r"^everyday-|-[a-z]*\d+$", "", document.id).split("-")
    return " ".join([words[0].rstrip("0123456789"), *words[1:]])


def pick(documents: Sequence[Document], count: int, seed: int) -> list[Document]:
    """Texts of as many kinds as possible: at random, the first word of a kind no second time while others are left."""
    drawn = np.random.default_rng(derived(seed, "gallery")).permutation(len(documents)).tolist()
    first: list[Document] = []
    rest: list[Document] = []
    seen: set[str] = set()
    for number in drawn:
        family = kind(documents[number]).split()[0]
        (rest if family in seen else first).append(documents[number])
        seen.add(family)
    return sorted([*first, *rest][:count], key=kind)


def exhibits(orderer: Orderer, documents: Sequence[Document], seed: int) -> list[Exhibit]:
    """Each text shuffled once and ordered."""
    found = []
    for document, (given, permutation) in zip(documents, shuffled(documents, 0, seed), strict=True):
        ordering = orderer.order(given)
        order = [permutation[position] for position in ordering.order]
        aligned = align_repeats(order, range(len(order)), document.sentences)
        found.append(Exhibit(document, aligned, tuple(permutation), ordering.confidence))
    return found


def page(found: Sequence[Exhibit], seed: int) -> str:
    """The gallery as Markdown."""
    right = sum(one.tau == 1 for one in found)
    mean = 100 * float(np.mean([one.tau for one in found]))
    lines = [
        "# Gallery",
        "",
        f"{len(found)} test texts of different kinds as the shipped model orders them, drawn with seed {seed} and not",
        "chosen by result. The model has seen none of them. Sentences stand in the model's order, with their true",
        "position and the one in the shuffled input. True positions are bold where the model's differs.",
        "",
        f"{right} of {len(found)} are right as a whole; mean τ is {mean:.1f}. Made by",
        "`python -m unshuffle_research.gallery --out docs/gallery.md`.",
        "",
    ]
    for one in found:
        verdict = "Right" if one.tau == 1 else f"τ {100 * one.tau:.0f}"
        lines += [f"## {kind(one.document).capitalize()}", "", f"{verdict}; confidence {one.confidence:.2f}.", ""]
        lines += ["| model | true | shuffled | sentence |", "|---|---|---|---|"]
        for position, true in enumerate(one.order):
            shown = f"{true + 1}" if true == position else f"**{true + 1}**"
            sentence = one.document.sentences[true].replace("|", "\\|").replace("\n", " ")
            lines.append(f"| {position + 1} | {shown} | {one.given.index(true) + 1} | {sentence} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Writes the page."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True, help="Markdown file to write")
    options.add_argument("--texts", default="everyday:test", help="documents in their true order")
    options.add_argument("--model", default="default", help="model folder or name")
    options.add_argument("--count", type=int, default=12, help="how many texts")
    options.add_argument("--seed", type=int, default=1, help="seed of choice and shuffles")
    given = options.parse_args()
    documents = pick(list(read_documents(given.texts)), given.count, given.seed)
    found = exhibits(Orderer.from_pretrained(given.model), documents, given.seed)
    write_text(given.out, page(found, given.seed))


if __name__ == "__main__":
    main()
