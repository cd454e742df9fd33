"""One object says how documents are ordered, and refuses what cannot be meant."""

from dataclasses import fields

import pytest

from unshuffle.errors import ConfigError
from unshuffle.rank.constraints import Constraints
from unshuffle.system.options import OrderKeywords, OrderOptions, read_threshold


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"beam": 0}, "beam is 0"),
        ({"n_best": -1}, "n_best is -1"),
        ({"beam": "8"}, r"beam is '8'\. Give a whole number, 1 or more\.$"),
        ({"beam": 8.0}, "beam is 8.0"),
        ({"beam": True}, "beam is True"),
        ({"n_best": False}, "n_best is False"),
        (
            {"beam": 2, "n_best": 3},
            r"n_best is 3, but a beam of 2 finds no more than 2\. Widen the beam, or leave it out",
        ),
        ({"questions": "3"}, r"questions is '3'\. Give a whole number, 0 or more\.$"),
        ({"constraints": {"before": [(0, 1)]}}, r"constraints is of type dict\. Give unshuffle\.Constraints"),
        ({"keep_if_unsure": True}, "keep_if_unsure is True"),
        ({"keep_if_unsure": [0.5]}, "from 0 to 1"),
        ({"keep_if_unsure": 70}, "keep_if_unsure is 70"),
        ({"keep_if_unsure": -0.1}, "from 0 to 1"),
        ({"keep_if_unsure": float("nan")}, "from 0 to 1"),
        ({"keep_if_unsure": "always"}, "or 'auto'"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        OrderOptions(**wrong)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "width", "orders"),
    [
        ({}, 8, 5),
        ({"n_best": 1}, 8, 1),
        ({"n_best": 20}, 20, 20),
        ({"beam": 2}, 2, 2),
        ({"beam": 64}, 64, 5),
        ({"beam": 2, "n_best": 2}, 2, 2),
    ],
)
def test_the_search_is_as_wide_as_asked_for_and_wide_enough_for_the_orders_that_are_wanted(
    given: dict[str, int], width: int, orders: int
) -> None:
    options = OrderOptions(**given)  # type: ignore[arg-type]
    assert (options.width, options.orders) == (width, orders)


def test_keywords_and_fields_are_the_same() -> None:
    assert [field.name for field in fields(OrderOptions)] == list(OrderKeywords.__annotations__)


def test_equal_options_can_share_a_call() -> None:
    one, other = (OrderOptions(beam=4, constraints=Constraints(before=((0, 1),))) for _ in range(2))
    assert one == other and hash(one) == hash(other)


def test_thresholds_are_read_from_a_command_line() -> None:
    assert [read_threshold(text) for text in (None, "auto", "0.7")] == [None, "auto", 0.7]
    with pytest.raises(ConfigError, match="--keep-if-unsure high"):
        read_threshold("high")
