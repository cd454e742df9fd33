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


def gold_places(predicted: Sequence[int], gold: Sequence[int]) -> list[int]:
    """The gold place of each sentence, in predicted order."""
    place = {sentence: at for at, sentence in enumerate(gold)}
    if not place:
        raise DataError("order: it has no sentence. Leave empty documents out.")
    if len(place) != len(gold) or len(predicted) != len(gold) or set(predicted) != place.keys():
        raise DataError(
            f"order: {list(predicted)[:20]} is no permutation of {list(gold)[:20]}. Name each sentence exactly once."
        )
    return [place[sentence] for sentence in predicted]


def inverted_pairs(places: Sequence[int]) -> int:
    """How many pairs of a permutation of 0..n-1 stand the wrong way round, in O(n log n)."""
    tree = [0] * (len(places) + 1)  # a Fenwick tree over the places seen so far
    total = 0
    for seen, place in enumerate(places):
        total += seen
        at = place + 1
        while at:  # seen so far and not after this place
            total -= tree[at]
            at &= at - 1
        at = place + 1
        while at < len(tree):
            tree[at] += 1
            at += at & -at
    return total


def longest_rise(places: Sequence[int]) -> int:
    """Length of the longest increasing subsequence, which for permutations is the LCS with the gold order."""
    ends: list[int] = []  # the lowest end of a rise of each length
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(ends)


def inversions(predicted: Sequence[int], gold: Sequence[int]) -> int:
    """How many pairs of sentences the two orders put the other way round."""
    return inverted_pairs(gold_places(predicted, gold))


def tau(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """Kendall's tau, 1 - 4 inversions / (n (n - 1)); 1 for a document of one sentence."""
    sentences = len(gold)
    wrong = inversions(predicted, gold)
    return 1.0 if sentences == 1 else 1.0 - 4.0 * wrong / (sentences * (sentences - 1))


def perfect_match(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """1 where the whole order is right, else 0; 1 for a document of one sentence."""
    return float(all(place == at for at, place in enumerate(gold_places(predicted, gold))))


def accuracy(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """Share of places that hold the right sentence; 1 for a document of one sentence."""
    places = gold_places(predicted, gold)
    return sum(place == at for at, place in enumerate(places)) / len(places)


def head(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """1 where the first sentence is right, else 0."""
    return float(gold_places(predicted, gold)[0] == 0)


def tail(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """1 where the last sentence is right, else 0."""
    places = gold_places(predicted, gold)
    return float(places[-1] == len(places) - 1)


def longest_common(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """Length of the longest common subsequence as a share of the sentences."""
    places = gold_places(predicted, gold)
    return longest_rise(places) / len(places)


def within(predicted: Sequence[int], gold: Sequence[int], distance: int) -> float:
    """Share of sentences at most `distance` places from where they belong."""
    places = gold_places(predicted, gold)
    return sum(abs(place - at) <= distance for at, place in enumerate(places)) / len(places)


def adjacent(predicted: Sequence[int], gold: Sequence[int]) -> float:
    """Share of gold neighbours that are still neighbours in the same order; 1 for a document of one sentence."""
    places = gold_places(predicted, gold)
    kept = sum(later == earlier + 1 for earlier, later in pairwise(places))
    return 1.0 if len(places) == 1 else kept / (len(places) - 1)


def footrule(predicted: Sequence[int], gold: Sequence[int]) -> int:
    """Spearman's footrule: how many places the sentences are off, added up."""
    return sum(abs(place - at) for at, place in enumerate(gold_places(predicted, gold)))


def align_repeats(predicted: Sequence[int], gold: Sequence[int], texts: Sequence[str]) -> tuple[int, ...]:
    """The predicted order, its k-th copy of a text renamed to the gold order's k-th copy of that text.

    Sentences of the same text are interchangeable; of all ways to tell them apart this one has the fewest inversions.
    """
    gold_places(predicted, gold)
    if any(not 0 <= sentence < len(texts) for sentence in gold):
        raise DataError(f"order: it names sentences beyond the {len(texts)} texts. Give the text of every sentence.")
    copies: defaultdict[str, list[int]] = defaultdict(list)
    for sentence in reversed(gold):
        copies[texts[sentence]].append(sentence)
    return tuple(copies[texts[sentence]].pop() for sentence in predicted)
