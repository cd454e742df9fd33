"""One beam search over all documents of a batch at once, shared by every decoder that chooses step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from unshuffle.decode.contracts import Allowed, Found, Search

State = TypeVar("State")

TIE = 1e-12
"""Below the difference of any two scores in single precision, even times the continuations of a document."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """What has been chosen so far, one row per partial order."""

    document: Tensor  # (rows,)
    used: Tensor  # (rows, longest) already chosen, or padding
    chosen: Tensor  # (rows, steps)
    score: Tensor  # (rows,) log-probability


class Memory(Protocol[State]):
    """What a step-by-step decoder knows of a batch, computed once before the search."""

    def begin(self) -> State:
        """The state before the first choice, one row per document."""
        ...

    def advance(self, carry: State, parent: Tensor, document: Tensor, choice: Tensor) -> State:
        """The state after each row's parent has chosen `choice`."""
        ...

    def logits(self, carry: State, prefix: Prefix) -> Tensor:
        """(rows, longest) score of every sentence as the next one."""
        ...


def select_sentences(table: Tensor, document: Tensor, sentence: Tensor) -> Tensor:
    """`table[document, sentence]`, several times faster than indexing where rows are wide."""
    return table.flatten(0, 1).index_select(0, document * table.shape[1] + sentence)


def beam_search(memory: Memory[State], sizes: Tensor, search: Search, content: Tensor) -> list[Found]:
    """The best orders of each document; where only the best is wanted, a greedy pass bounds the search first.

    Log-probabilities only decrease, so a partial order below a finished one cannot win and is dropped. `content`:
    (documents, longest) ranks that break ties between continuations.
    """
    bound = None
    if search.keep == 1 and search.beam > 1:
        greedy = _search(memory, sizes, 1, search.allowed, content, None)
        bound = torch.full((len(sizes),), -torch.inf, device=sizes.device, dtype=greedy.score.dtype)
        bound[greedy.document] = greedy.score
    return _best(_search(memory, sizes, search.beam, search.allowed, content, bound), sizes, search.keep)


def _search(
    memory: Memory[State], sizes: Tensor, beam: int, allowed: Allowed | None, content: Tensor, bound: Tensor | None
) -> Prefix:
    documents, longest = len(sizes), int(sizes.max())
    absent = torch.arange(longest, device=sizes.device) >= sizes[:, None]  # (documents, longest)
    due = None if allowed is None else _due(allowed)
    carry = memory.begin()
    prefix = Prefix(
        document=torch.arange(documents, device=sizes.device),
        used=absent,
        chosen=sizes.new_zeros(documents, 0),
        score=torch.zeros(documents, device=sizes.device),
    )
    for step in range(longest):
        open_rows = sizes[prefix.document] > step  # finished documents keep their orders
        if step == longest - 1 and allowed is None:
            return _append_last(prefix, open_rows)
        logits = memory.logits(carry, prefix).masked_fill(prefix.used, -torch.inf)
        total = prefix.score[:, None] + torch.log_softmax(logits, 1)
        if allowed is not None and due is not None:
            total = total.masked_fill(~_may(allowed, due, prefix, step), -torch.inf)
        stay = torch.full_like(total, -torch.inf)
        stay[:, 0] = prefix.score
        total = torch.where(open_rows[:, None], total, stay)
        parent, choice, score = _select(total, prefix.document, content, beam, bound)
        document = prefix.document[parent]
        used = prefix.used[parent]
        used[torch.arange(len(parent), device=used.device), choice] |= open_rows[parent]
        prefix = Prefix(document, used, torch.cat([prefix.chosen[parent], choice[:, None]], 1), score)
        if step < longest - 1:
            carry = memory.advance(carry, parent, document, choice)
    return prefix


def _append_last(prefix: Prefix, open_rows: Tensor) -> Prefix:
    """The last sentence is certain and needs no step."""
    last = torch.where(open_rows, (~prefix.used).long().argmax(1), 0)
    return Prefix(prefix.document, prefix.used, torch.cat([prefix.chosen, last[:, None]], 1), prefix.score)


def _due(allowed: Allowed) -> Tensor:
    """(documents, longest, longest) whether the column's sentence must stand at the row's place or before."""
    here_or_later = allowed.places.flip(1).cumsum(1).flip(1)
    return here_or_later <= allowed.places.long()


def _may(allowed: Allowed, due: Tensor, prefix: Prefix, step: int) -> Tensor:
    """(rows, longest) which sentences may follow such that the remaining ones still meet their deadlines."""
    left = ~prefix.used
    waiting = (allowed.before[prefix.document] & left[:, :, None]).any(1)
    due = due[prefix.document]  # (rows, deadlines, longest)
    open_before = (due & left[:, None]).sum(2, keepdim=True) - due.long()  # after each choice
    deadline = torch.arange(due.shape[1], device=due.device)[:, None]
    in_time = (open_before <= (deadline - step).clamp_min(0)).all(1)
    return ~waiting & in_time & allowed.places[prefix.document, step]


def _select(
    total: Tensor, document: Tensor, content: Tensor, beam: int, bound: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Parent row, chosen sentence and score of the best continuations, document by document, best first."""
    rows, longest = total.shape
    documents = len(content)
    counts = torch.bincount(document, minlength=documents)
    widest = int(counts.max())
    first = counts.cumsum(0) - counts
    place = torch.arange(rows, device=total.device) - first[document]  # rows are sorted by document, best first
    table = total.new_full((documents, widest, longest), -torch.inf, dtype=torch.float64)
    table[document, place] = total - TIE * (longest * place[:, None] + content[document]).double()
    best = table.flatten(1).topk(min(beam, widest * longest), 1)
    alive = best.values > -torch.inf
    if bound is not None:
        # Rounding differs between the two passes and must not drop the best order, or all orders of a document.
        hopeful = best.values >= bound[:, None] - 1e-5 * bound[:, None].abs() - 1e-3
        hopeful[:, 0] = True
        alive &= hopeful
    where, _ = alive.nonzero(as_tuple=True)
    parent, choice = first[where] + best.indices[alive] // longest, best.indices[alive] % longest
    return parent, choice, total[parent, choice]


def _best(prefix: Prefix, sizes: Tensor, keep: int) -> list[Found]:
    found: list[list[tuple[tuple[int, ...], float]]] = [[] for _ in range(len(sizes))]
    lengths = sizes.tolist()
    rows = zip(prefix.document.tolist(), prefix.chosen.tolist(), prefix.score.tolist(), strict=True)
    for document, chosen, score in rows:
        if len(found[document]) < keep:
            found[document].append((tuple(chosen[: lengths[document]]), score))
    return [Found(tuple(order for order, _ in some), tuple(score for _, score in some)) for some in found]
