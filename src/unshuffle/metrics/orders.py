"""How near one order is to another (Lai et al., 5.1; B-TSort's further measures).

Both orders list the same sentence numbers in reading order. A document of one sentence has tau 1, PMR 1, Acc 1,
as in the released evaluations of SE-GRN, IRSE-GRN and BERSON.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from unshuffle.errors import DataError


def gold_positions(predicted: Sequence[int], gold: Sequence[int]) -> list[int]:
    """The gold position of each sentence, in predicted order."""
    position = {sentence: at for at, sentence in enumerate(gold)}
    if not position:
        raise DataError("order: it has no sentence. Leave empty documents out.")
    if len(position) != len(gold) or len(predicted) != len(gold) or set(predicted) != position.keys():
        raise DataError(
            f"order: {list(predicted)[:20]} is no permutation of {list(gold)[:20]}. Name each sentence exactly once."
        )
    return [position[sentence] for sentence in predicted]


def inverted_pairs(positions: Sequence[int]) -> int:
    """How many pairs of a permutation of 0..n-1 stand the wrong way round, in O(n log n)."""
    tree = [0] * (len(positions) + 1)  # a Fenwick tree over the positions seen so far
    total = 0
    for seen, position in enumerate(positions):
        total += seen
        at = position + 1
        while at:  # seen so far and not after this position
            total -= tree[at]
            at &= at - 1
        at = position + 1
        while at < len(tree):
            tree[at] += 1
            at += at & -at
    return total


def longest_rise(positions: Sequence[int]) -> int:
    """Length of the longest increasing subsequence, which for permutations is the LCS with the gold order."""
    ends: list[int] = []  # the lowest end of a rise of each length
    for position in positions:
        at = bisect_left(ends, position)
        ends[at : at + 1] = [position]
    return len(ends)


def inversions(predicted: Sequence[int], gold: Sequence[int]) -> int:
    """How many pairs of sentences the two orders put the other way round."""
    return inverted_pairs(gold_positions(predicted, gold))


def tau(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """Kendall's tau, 1 - 4 inversions / (n (n - 1)); 1 for a document of one sentence."""
    sentences = len(gold)
    wrong = inversions(predicted, gold)
    return 1.0 if sentences == 1 else 1.0 - 4.0 * wrong / (sentences * (sentences - 1))


def perfect_match(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """1 where the whole order is right, else 0; 1 for a document of one sentence."""
    return float(all(position == at for at, position in enumerate(gold_positions(predicted, gold))))


def accuracy(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """Share of positions that hold the right sentence; 1 for a document of one sentence."""
    positions = gold_positions(predicted, gold)
    return sum(position == at for at, position in enumerate(positions)) / len(positions)


def head(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """1 where the first sentence is right, else 0."""
    return float(gold_positions(predicted, gold)[0] == 0)


def tail(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """1 where the last sentence is right, else 0."""
    positions = gold_positions(predicted, gold)
    return float(positions[-1] == len(positions) - 1)


def longest_common(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """Length of the longest common subsequence as a share of the sentences."""
    positions = gold_positions(predicted, gold)
    return longest_rise(positions) / len(positions)


def within(predicted: Sequence[int], gold: Sequence[int], distance: int) -> float:
    """Share of sentences at most `distance` positions from where they belong."""
    positions = gold_positions(predicted, gold)
    return sum(abs(position - at) <= distance for at, position in enumerate(positions)) / len(positions)


def adjacent(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """Share of gold neighbours that are still neighbours in the same order; 1 for a document of one sentence."""
    positions = gold_positions(predicted, gold)
    kept = sum(later == earlier + 1 for earlier, later in pairwise(positions))
    return 1.0 if len(positions) == 1 else kept / (len(positions) - 1)


def footrule(predicted: Sequence[int], gold: Sequence[int]) -> int:
    """Spearman's footrule: how many positions the sentences are off, added up."""
    return sum(abs(position - at) for at, position in enumerate(gold_positions(predicted, gold)))


def align_repeats(predicted: Sequence[int], gold: Sequence[int], texts: Sequence[str]) -> tuple[int, ...]:
    """The predicted order, its k-th copy of a text renamed to the gold order's k-th copy of that text.

    Sentences of the same text are interchangeable; of all ways to tell them apart this one has the fewest inversions.
    """
    gold_positions(predicted, gold)
    if any(not 0 <= sentence < len(texts) for sentence in gold):
        raise DataError(f"order: it names sentences beyond the {len(texts)} texts. Give the text of every sentence.")
    copies: defaultdict[str, list[int]] = defaultdict(list)
    for sentence in reversed(gold):
        copies[texts[sentence]].append(sentence)
    return tuple(copies[texts[sentence]].pop() for sentence in predicted)
