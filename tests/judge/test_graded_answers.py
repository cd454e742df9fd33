"""Endpoints that tell how likely each letter was (`logprobs`), and those that do not know."""

from __future__ import annotations

import numpy as np
import pytest

from tests.judge.stand_in import PAIRS, RIGHT, judge_of, numbered, standing_in
from unshuffle.judge.chat import remembered


def test_a_liking_for_one_letter_cancels_out_where_the_endpoint_tells_how_sure_it_is() -> None:
    with standing_in({"biased": 1.0}) as server:
        answers = judge_of(server).answers(numbered(4), PAIRS)
        letters = judge_of(server, options={"logprobs": None}).answers(numbered(4), PAIRS)
    odds = (np.log(0.99 / 0.01) - np.log(0.9 / 0.1)) / 2
    assert answers == pytest.approx([1 / (1 + np.exp(way * odds)) for way in (-1, 1, -1)], abs=1e-3)
    assert all(("logprobs" in body) == (number < 6) for number, body in enumerate(server.requests))
    assert letters == pytest.approx(answers)  # this one tells it unasked


def test_an_endpoint_that_does_not_know_how_sure_it_is_is_asked_for_letters() -> None:
    with standing_in({"plain": 1.0}) as server:
        judge = judge_of(server, at_once=1)
        assert judge.answers(numbered(4), PAIRS) == RIGHT
        assert len(server.requests) == 7
        assert judge.answers(numbered(5), PAIRS) == RIGHT
    assert ["logprobs" in body for body in server.requests] == [True] + 12 * [False]


def test_a_request_that_is_refused_either_way_is_not_asked_again() -> None:
    with standing_in({"400": 1.0}) as server:
        answers = judge_of(server, at_once=1).answers(numbered(4), PAIRS)
    assert answers == (None, None, None) and answers.failed == "it answered 400"
    assert answers.spend.requests == len(server.requests) == 7


def test_nonsense_about_how_sure_it_is_leaves_the_letter() -> None:
    with standing_in({"misgraded": 1.0}) as server:
        assert judge_of(server).answers(numbered(4), PAIRS) == RIGHT


def test_what_is_kept_is_a_chance_or_a_letter() -> None:
    assert [remembered(kept) for kept in (b"A", b"B", b"0.2500", b"nan", b"2", b"")] == [
        1.0,
        0.0,
        0.25,
        None,
        None,
        None,
    ]
