"""A judge's part in an ordering: documents asked about side by side, and what its answers change in the result."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from unshuffle.graph.prepare import Item
from unshuffle.judge.contracts import Judge
from unshuffle.judge.refinement import Refinement, refine
from unshuffle.rank.ranking import BoolArray, FloatArray, IntArray
from unshuffle.result import Judgement, Ordering, PairProbability
from unshuffle.system.assemble import agreement, listed
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document


def asked(
    judge: Judge, orderings: Sequence[Ordering], documents: Sequence[Document], options: OrderOptions
) -> list[Refinement]:
    """What the judge says of each document."""

    def one(ordering: Ordering, document: Document) -> Refinement:
        return refine(
            document.sentences,
            chances(ordering.pairs, len(ordering.order)),
            judge,
            questions=options.questions,
            constraints=options.constraints,
        )

    at_once = min(int(getattr(judge, "at_once", 1)), len(orderings))
    if at_once <= 1:
        return [one(ordering, document) for ordering, document in zip(orderings, documents, strict=True)]
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="judge")
    try:
        return list(pool.map(one, orderings, documents))
    finally:
        pool.shutdown(cancel_futures=True)  # whoever stops here waits for no document that was not begun


def reranked(ordering: Ordering, refinement: Refinement) -> Ordering:
    """The result by the model's and the judge's pair probabilities; the model's own where the answers say nothing."""
    if not refinement.told:
        return judged(ordering, ordering, refinement)
    changed = replace(
        ordering,
        order=refinement.order,
        pairs=listed(refinement.chance),
        confidence=agreement(refinement.order, refinement.chance),
    )
    without = _positions(refinement.unanswered, refinement)
    # Ranking by pairs has turned some already, which are none of the judge's doing unless it says so itself.
    return judged(changed, ordering, refinement, (without[:, None] > without) | (refinement.answered > 0.5))


def with_weights(item: Item, refinement: Refinement) -> Item | None:
    """The document with the answers as link weights, for a model that reads them; None where they say nothing."""
    if not refinement.told:
        return None
    first, second = item.graph.pairs
    weights = refinement.answered[first, second].astype(np.float32)
    return replace(item, graph=replace(item.graph, weights=weights))


def judged(
    ordering: Ordering, unjudged: Ordering, refinement: Refinement, by_answers: BoolArray | None = None
) -> Ordering:
    """With what was asked, what it cost and what it changed.

    `by_answers`: (sentences, sentences) where the answers have put the row's sentence first; None: wherever it now is.
    """
    before, after = (_positions(one.order, refinement) for one in (unjudged, ordering))
    turned = (before[:, None] > before) & (after[:, None] < after)
    if by_answers is not None:
        turned &= by_answers
    return replace(
        ordering,
        judged=Judgement(
            questions=refinement.questions,
            spend=refinement.spend,
            unjudged=tuple(np.argsort(before).tolist()),
            turned=tuple((first, second) for first, second in np.argwhere(turned).tolist()),
            failed=refinement.failed,
        ),
    )


def chances(pairs: Sequence[PairProbability], sentences: int) -> FloatArray:
    """(sentences, sentences) chance that the row's sentence comes before the column's."""
    found: FloatArray = np.full((sentences, sentences), 0.5)
    for pair in pairs:
        found[pair.first, pair.second], found[pair.second, pair.first] = pair.probability, 1 - pair.probability
    return found


def _positions(order: Sequence[int], refinement: Refinement) -> IntArray:
    """(sentences,) where each stands; of equal sentences the one that was given first comes first."""
    numbers = np.asarray(order, np.intp)
    copies = refinement.copies
    in_turn = np.empty_like(numbers)
    in_turn[np.argsort(copies[numbers], kind="stable")] = np.argsort(copies, kind="stable")
    return np.argsort(in_turn)
