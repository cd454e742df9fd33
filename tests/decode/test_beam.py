"""The search itself, over tables of scores small enough to enumerate."""

from itertools import permutations

import numpy as np
import pytest
import torch

from tests.decode.paragraphs import batch, paragraphs
from tests.oracles.constraints import keeps
from unshuffle.decode.search import (
    TableMemory,
    beam_search,
    content_keys,
    content_ranks,
    order_log_probability,
    with_first,
)
from unshuffle.errors import ConfigError
from unshuffle.rank import Constraints
from unshuffle.search.contracts import Ints, Search, allowed_orders, constraints_of


def tables(sizes: list[int], seed: int = 0) -> tuple[TableMemory, torch.Tensor, Ints]:
    longest = max(sizes)
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(len(sizes), longest, longest, generator=generator, dtype=torch.float64) * 2
    content = torch.stack([torch.randperm(longest, generator=generator) for _ in sizes]).numpy()
    return TableMemory(table), torch.tensor(sizes), content


def test_a_table_search_equals_enumeration() -> None:
    memory, sizes, content = tables([5, 3, 1, 4])
    for document, found in enumerate(beam_search(memory, sizes, Search(beam=120, keep=10), content)):
        size = int(sizes[document])
        table = memory.table[document, :size, :size] if size > 1 else memory.table[document, :1, :1]
        every = sorted((order_log_probability(table, order), order) for order in permutations(range(size)))[::-1]
        assert list(found.orders) == [order for _, order in every[:10]]
        assert list(found.log_probabilities) == pytest.approx([value for value, _ in every[:10]])


def test_the_greedy_bound_loses_nothing() -> None:
    memory, sizes, content = tables([7] * 20 + [3] * 5)
    for beam in (1, 2, 5, 50):
        bounded = beam_search(memory, sizes, Search(beam=beam, keep=1), content)
        free = beam_search(memory, sizes, Search(beam=beam, keep=2), content)
        better = [
            one.log_probabilities[0] >= two.log_probabilities[0] - 1e-9 for one, two in zip(bounded, free, strict=True)
        ]
        assert all(better)


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 5.0])
def test_a_narrow_pass_that_suffices_finds_what_the_wide_one_finds(sharpness: float) -> None:
    memory, sizes, content = tables([7] * 20)
    for document in range(len(sizes)):  # alone, so that the first pass is wider than one
        alone = TableMemory(memory.table[document : document + 1] * sharpness)
        of_it = sizes[document : document + 1], content[document : document + 1]
        for beam in (2, 8, 20, 100):
            (found,) = beam_search(alone, of_it[0], Search(beam=beam, keep=1), of_it[1])
            (free,) = beam_search(alone, of_it[0], Search(beam=beam, keep=2), of_it[1])
            assert found.orders[0] == free.orders[0]


def test_equal_scores_fall_by_content() -> None:
    sizes = torch.tensor([4, 4])
    content = np.array([[2, 0, 3, 1], [0, 1, 2, 3]])
    memory = TableMemory(torch.zeros(2, 1, 4))
    for search in (Search(beam=1), Search(beam=3), Search(beam=24), Search(beam=24, keep=2)):
        first, second = beam_search(memory, sizes, search, content)
        assert first.orders[0] == (1, 3, 0, 2)
        assert second.orders[0] == (0, 1, 2, 3)


def test_content_ranks_move_with_the_sentences() -> None:
    part = paragraphs([6])[0]
    shuffle = [3, 1, 5, 0, 2, 4]
    plain, moved = content_ranks(*batch([part])), content_ranks(*batch([part.permuted(shuffle)]))
    assert plain[0, shuffle].tolist() == moved[0].tolist()
    assert sorted(plain[0].tolist()) == list(range(6))
    keys = content_keys(batch([part.permuted([0, 0, 1, 1, 2, 2])])[0])
    assert keys[0] == keys[1] != keys[2]


RULES = [
    Constraints(before=((0, 1), (1, 2)), fixed=((3, 0),)),
    Constraints(before=((4, 0), (3, 0)), fixed=((2, 0),)),
    Constraints(fixed=((4, 1), (0, 2))),
    Constraints(within_source=(1, 1, 2, 2, 2)),
]


@pytest.mark.parametrize("rules", RULES[1:])
def test_under_constraints_every_allowed_order_is_found_and_no_other(rules: Constraints) -> None:
    memory, sizes, content = tables([5])
    allowed = allowed_orders([rules], sizes.tolist())
    (found,) = beam_search(memory, sizes, Search(beam=200, keep=200, allowed=allowed), content)
    kept = [order for order in permutations(range(5)) if keeps(order, rules)]
    assert sorted(found.orders) == kept


@pytest.mark.parametrize("seed", range(30))
def test_no_beam_is_so_narrow_that_constraints_lead_it_into_a_dead_end(seed: int) -> None:
    generator = np.random.default_rng(seed)
    size = int(generator.integers(3, 9))
    goal = generator.permutation(size)
    places = generator.choice(size, size // 2, replace=False)
    rows = generator.choice(size, (3, 2))
    rules = Constraints(
        before=tuple((int(goal[min(row)]), int(goal[max(row)])) for row in rows if row[0] != row[1]),
        fixed=tuple((int(place), int(goal[place])) for place in places),
    )
    memory, sizes, content = tables([size, 3], seed)
    allowed = allowed_orders([rules, None], sizes.tolist())
    for search in (Search(beam=1, allowed=allowed), Search(beam=4, allowed=allowed), Search(2, 2, allowed)):
        found = beam_search(memory, sizes, search, content)[0]
        assert found.orders
        assert all(keeps(order, rules) for order in found.orders)


def test_constraints_come_back_from_tensors() -> None:
    sizes = [5, 3, 5, 5]
    given = [RULES[1], None, RULES[2], RULES[3]]
    allowed = allowed_orders(given, sizes)
    for document, (rules, size) in enumerate(zip(given, sizes, strict=True)):
        back = constraints_of(allowed, document, size)
        assert back is not None
        for order in permutations(range(size)):
            assert keeps(order, back) == keeps(order, rules or Constraints())


def test_no_constraints_are_no_tensors() -> None:
    assert allowed_orders([None, Constraints()], [3, 4]) is None
    assert constraints_of(None, 0, 3) is None


def test_impossible_constraints_are_named() -> None:
    with pytest.raises(ConfigError, match="constraints"):
        allowed_orders([RULES[0], Constraints(before=((0, 1), (1, 0)))], [4, 4])
    with pytest.raises(ConfigError, match="1 for 2 documents"):
        allowed_orders([None], [3, 4])


def test_a_leading_order_is_not_repeated() -> None:
    memory, sizes, content = tables([3])
    (others,) = beam_search(memory, sizes, Search(beam=6, keep=3), content)
    led = with_first(others.orders[1], -1.0, others, 3)
    assert led.orders == (others.orders[1], others.orders[0], others.orders[2])
    assert with_first((0,), 0.0, None, 3).orders == ((0,),)


@pytest.mark.parametrize("keep", [1, 3])
def test_scores_that_are_no_numbers_end_the_search_without_an_order(keep: int) -> None:
    class Strict(TableMemory):
        def advance(self, *given: Ints) -> object:  # type: ignore[override]
            assert len(given[-1])
            return super().advance(*given)  # type: ignore[arg-type]

    memory, sizes, content = tables([5, 3])
    found = beam_search(Strict(memory.table * float("nan")), sizes, Search(beam=8, keep=keep), content)
    assert [one.orders for one in found] == [(), ()]
