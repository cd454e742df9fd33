"""One beam search over all documents of a batch at once, shared by every decoder that chooses step by step."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from unshuffle.search.contracts import Allowed, Bools, Floats, Found, Ints, Memory, Prefix, Search, State

TINY = np.finfo(np.float64).tiny
FEW = 8
"""Rows of a step up to which one more costs next to nothing."""
TIE = 1e-12
"""Smaller than the gap between any two scores, even times the number of continuations of a document."""


def beam_search(
    memory: Memory[State], sizes: Ints, search: Search, content: Ints, *, normalised: bool = True
) -> list[Found]:
    """The best orders of each document; where only the best is wanted, a narrow pass bounds the search first.

    Log-probabilities only fall, so a partial order below a finished one cannot win and is dropped; where the narrow
    pass has left out only such, no wider one would find a better order. `content`: (documents, longest) ranks by which
    equal continuations are told apart. With `normalised` false, a memory's scores are added up as they are, the last
    sentence's too; they may rise, so nothing is dropped early.
    """
    ask = partial(_search, memory, sizes, search=search, content=content, normalised=normalised)
    if not normalised or search.keep > 1 or search.beam == 1:
        return _best(ask(search.beam), sizes, search)
    # A few rows cost no more than one: what takes time is to read the weights.
    narrow = min(search.beam, max(1, FEW // len(sizes)))
    left_out = np.full(len(sizes), -np.inf)
    first = ask(narrow, left_out=left_out)
    bound = np.full(len(sizes), -np.inf)
    bound[first.document[::-1]] = first.score[::-1]  # each document's best comes last, and stays
    bound = _just_below(bound)
    if narrow == search.beam or (left_out < bound).all():
        return _best(first, sizes, search)
    return _best(ask(search.beam, bound=bound), sizes, search)


def _just_below(scores: Floats) -> Floats:
    """Rounding differs between passes, and must drop no order that is as good."""
    below: Floats = scores - 1e-5 * np.abs(scores) - 1e-3
    return below


def log_softmax(logits: NDArray[np.floating]) -> Floats:
    """Over the last axis; rows of nothing but -inf stay -inf."""
    wide = logits.astype(np.float64)
    largest = wide.max(-1, keepdims=True)
    shifted = wide - np.where(np.isfinite(largest), largest, 0.0)
    total: Floats = shifted - np.log(np.maximum(np.exp(shifted).sum(-1, keepdims=True), TINY))
    return total


def _search(
    memory: Memory[State],
    sizes: Ints,
    beam: int,
    *,
    search: Search,
    content: Ints,
    normalised: bool,
    bound: Floats | None = None,
    left_out: Floats | None = None,
) -> Prefix:
    """`left_out`: (documents,) becomes the score of the best partial order for which the beam had no room."""
    documents, longest = len(sizes), int(sizes.max())
    allowed, copies = search.allowed, search.copies
    due = None if allowed is None else _due(allowed)
    carry = memory.begin()
    prefix = Prefix(
        document=np.arange(documents),
        used=np.arange(longest) >= sizes[:, None],  # absent sentences count as used
        chosen=np.zeros((documents, 0), np.int64),
        score=np.zeros(documents),
    )
    for step in range(longest):
        open_rows = sizes[prefix.document] > step  # finished documents keep their orders as they are
        if step == longest - 1 and allowed is None and normalised:
            return _append_last(prefix, open_rows)
        logits = np.where(prefix.used, -np.inf, memory.logits(carry, prefix))
        total = prefix.score[:, None] + (log_softmax(logits) if normalised else logits)
        if allowed is not None and due is not None:
            total = np.where(_permitted(allowed, due, prefix, step), total, -np.inf)
        if copies is not None:
            # A row stands for all that differ from it in copies alone, and is compared as their sum.
            total += copies.gains(prefix.document, prefix.used)
        if not open_rows.all():
            total[~open_rows] = -np.inf
            total[~open_rows, 0] = prefix.score[~open_rows]
        parent, choice = _select(total, prefix.document, content, beam, bound, left_out)
        document, used = prefix.document[parent], prefix.used[parent]
        used[np.arange(len(parent)), choice] |= open_rows[parent]
        chosen = np.concatenate([prefix.chosen[parent], choice[:, None]], 1)
        prefix = Prefix(document, used, chosen, total[parent, choice])
        if not len(parent):  # scores that are no numbers leave nothing to go on with
            return prefix
        if step < longest - 1:
            carry = memory.advance(carry, parent, document, choice)
    return prefix


def _append_last(prefix: Prefix, open_rows: Bools) -> Prefix:
    """The last sentence is the one that is left: certain, and not worth a step."""
    last = np.where(open_rows, (~prefix.used).argmax(1), 0)
    return Prefix(prefix.document, prefix.used, np.concatenate([prefix.chosen, last[:, None]], 1), prefix.score)


def _due(allowed: Allowed) -> Bools:
    """(documents, longest, longest) whether the column's sentence may stand nowhere after the row's position."""
    here_or_later = allowed.positions[:, ::-1].cumsum(1)[:, ::-1]
    due: Bools = here_or_later <= allowed.positions
    return due


def _permitted(allowed: Allowed, due: Bools, prefix: Prefix, step: int) -> Bools:
    """(rows, longest) which sentences may follow such that all that are left still find a position in time."""
    left = ~prefix.used
    waiting = (allowed.before[prefix.document] & left[:, :, None]).any(1)
    due = due[prefix.document]  # (rows, deadlines, longest)
    open_before = (due & left[:, None]).sum(2, keepdims=True) - due  # after each choice
    deadline = np.arange(due.shape[1])[:, None]
    in_time = (open_before <= np.maximum(deadline - step, 0)).all(1)
    permitted: Bools = ~waiting & in_time & allowed.positions[prefix.document, step]
    return permitted


def _select(
    total: Floats, document: Ints, content: Ints, beam: int, bound: Floats | None, left_out: Floats | None
) -> tuple[Ints, Ints]:
    """Parent row and chosen sentence of the best continuations, document by document, best first."""
    rows, longest = total.shape
    documents = len(content)
    counts = np.bincount(document, minlength=documents)
    widest = int(counts.max())
    first = counts.cumsum() - counts
    position = np.arange(rows) - first[document]  # rows stand document by document, best first
    table = np.full((documents, widest, longest), -np.inf)
    table[document, position] = total - TIE * (longest * position[:, None] + content[document])
    flat = table.reshape(documents, -1)
    width = min(beam, flat.shape[1])
    rows_of = np.arange(documents)[:, None]
    if width < flat.shape[1]:
        parted = np.argpartition(-flat, width - 1, 1)
        best = parted[:, :width]
        if left_out is not None:
            np.maximum(left_out, flat[rows_of, parted[:, width:]].max(1), out=left_out)
    else:
        best = np.broadcast_to(np.arange(width), (documents, width))
    values = flat[rows_of, best]
    order = np.argsort(-values, 1, kind="stable")
    best, values = best[rows_of, order], values[rows_of, order]
    alive = values > -np.inf
    if bound is not None:
        hopeful = values >= bound[:, None]
        hopeful[:, 0] = True  # rounding must not drop everything either
        alive &= hopeful
    where, _ = alive.nonzero()
    chosen = best[alive]
    return first[where] + chosen // longest, chosen % longest


def _best(prefix: Prefix, sizes: Ints, search: Search) -> list[Found]:
    score = prefix.score
    if search.copies is not None:
        score = score - search.copies.log_left.sum(1)[prefix.document]  # of each order alone
    found: list[list[tuple[tuple[int, ...], float]]] = [[] for _ in range(len(sizes))]
    lengths = sizes.tolist()
    rows = zip(prefix.document.tolist(), prefix.chosen.tolist(), score.tolist(), strict=True)
    for document, chosen, value in rows:
        if len(found[document]) < search.keep:
            found[document].append((tuple(chosen[: lengths[document]]), value))
    return [Found(tuple(order for order, _ in some), tuple(value for _, value in some)) for some in found]


GOLDEN = (5**0.5 - 1) / 2


def content_keys(*vectors: NDArray[np.floating]) -> Floats:
    """(sentences, width) each -> (sentences,) a number that depends on a sentence's vectors alone."""
    rows = np.concatenate(vectors, 1).astype(np.float64)
    keys: Floats = rows @ _directions(rows.shape[1])
    return keys


@lru_cache(maxsize=8)
def _directions(width: int) -> Floats:
    numbers: Floats = np.cos(np.arange(1, width + 1) * GOLDEN)
    return numbers


def content_ranks(keys: Floats, sizes: Ints) -> Ints:
    """(sentences,) -> (documents, longest) each sentence's rank among its document's by key; equal ones draw lots.

    The lot mixes the position with the document's keys: input order could be the true order and must not decide.
    """
    documents, longest = len(sizes), int(sizes.max())
    table = np.zeros((documents, longest))
    table[np.arange(longest) < sizes[:, None]] = keys
    position = np.arange(longest)
    lot = 43758.5453 * np.sin(12.9898 * (position + 1) + 78.233 * table.sum(1, keepdims=True))
    drawn = (lot - np.trunc(lot)).argsort(1, kind="stable")
    by_key = np.take_along_axis(table, drawn, 1).argsort(1, kind="stable")
    ranks: Ints = np.take_along_axis(drawn, by_key, 1).argsort(1)
    return ranks
