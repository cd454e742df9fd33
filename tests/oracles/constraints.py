"""Whether an order meets constraints, straight from their definition."""

from unshuffle.rank import Constraints


def keeps(order: tuple[int, ...], constraints: Constraints) -> bool:
    """The definition, read off the order."""
    sources = constraints.within_source
    kept = all(order.index(first) < order.index(second) for first, second in constraints.before)
    kept &= all(order[place] == sentence for place, sentence in constraints.fixed)
    for source in set(sources) - {None}:
        own = [sentence for sentence in order if sources[sentence] == source]
        kept &= own == sorted(own)
    return kept
