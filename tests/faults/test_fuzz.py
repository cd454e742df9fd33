"""A little fuzzing with every run of the tests; `python -m tests.faults.fuzz` does more."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.faults.mutation import inputs
from tests.faults.targets import TARGETS, seeds
from unshuffle.errors import ConfigError

EXAMPLES = 60


@pytest.mark.parametrize("name", TARGETS)
def test_only_errors_of_one_line_come_out(name: str, record_property: Callable[[str, object], None]) -> None:
    counted = [0]

    @seed(1)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(inputs(seeds(name)))
    def check(data: bytes) -> None:
        counted[0] += 1
        TARGETS[name](data)

    check()
    record_property("inputs", counted[0])
    assert counted[0] >= EXAMPLES // 2


@pytest.mark.parametrize("name", TARGETS)
def test_the_sound_inputs_pass(name: str) -> None:
    for data in seeds(name):
        TARGETS[name](data)


def test_a_message_is_one_short_line_whatever_it_quotes() -> None:
    message = str(ConfigError("model: its name is '" + "evil\n" * 100_000 + "'. Use another."))
    assert len(message) <= 1_000 and "\n" not in message
    assert message.startswith("model: its name") and message.endswith("Use another.")
