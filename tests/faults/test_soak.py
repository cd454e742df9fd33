"""Ten thousand mixed requests to one model: answers stay right and the same, memory stays flat."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.targets import orderer
from tests.fixtures.documents import random_documents
from unshuffle.errors import UnshuffleError

REQUESTS = 10_000
GROWTH = 60 * 2**20
"""Bytes over the second half."""


def resident() -> int:
    """Bytes of memory that this process holds."""
    status = Path("/proc/self/status")
    if not status.is_file():
        pytest.skip("needs /proc to see the memory of a process")
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def request(draw: random.Random, texts: list[list[str]]) -> list[str] | str | None:
    kind = draw.random()
    if kind < 0.05:
        return draw.choice([[], " ", None])  # type: ignore[list-item]
    chosen = list(draw.choice(texts))
    draw.shuffle(chosen)
    if kind < 0.15:
        chosen += draw.sample(chosen, 1)
    if kind < 0.25:
        chosen[0] = "".join(chr(draw.choice([32, 97, 0x301, 0x1F600, 0x5D0, 0x2028])) for _ in range(9)) + "x"
    return chosen


@pytest.mark.slow
def test_ten_thousand_mixed_requests(record_property: Callable[[str, object], None]) -> None:
    draw = random.Random(11)
    texts = [list(document.sentences) for document in random_documents(60, sentences=(1, 7), seed=8)]
    fixed, first, half = texts[3], orderer().order(texts[3]), 0
    answered = refused = 0
    for number in range(REQUESTS):
        if number == REQUESTS // 2:
            half = resident()
        given = request(draw, texts)
        try:
            found = orderer().order(given, beam=draw.choice([None, 1, 8]), n_best=draw.choice([None, 1]))  # type: ignore[arg-type]
        except (UnshuffleError, TypeError):
            refused += 1
            assert not isinstance(given, list) or not given
            continue
        answered += 1
        assert sorted(found.order) == list(range(len(given or ())))
        if number % 1_000 == 0:
            assert orderer().order(fixed) == first
    assert answered + refused == REQUESTS and refused > 100
    assert resident() - half < GROWTH
    record_property("inputs", REQUESTS)
