"""A chat endpoint as a judge: whatever it does, every document is answered and no budget is exceeded."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.fixtures.documents import stories
from tests.fixtures.systems import tiny_model
from tests.judge.stand_in import PAIRS, RIGHT, judge_of, numbered, standing_in
from unshuffle.errors import ConfigError
from unshuffle.judge.chat import ChatJudge, both_ways, letter_of
from unshuffle.judge.endpoint import LONGEST_WAIT, Endpoint, Reply, chat_url, retry_after
from unshuffle.judge.opening import open_judge
from unshuffle.result import Spend
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document


@pytest.fixture(scope="module")
def orderer(tmp_path_factory: pytest.TempPathFactory) -> Orderer:
    return Orderer(tiny_model("se-grn", tmp_path_factory.mktemp("model"), stories()))


def document(number: int, sentences: int) -> Document:
    """Sentences that name their true place, shuffled."""
    random = np.random.default_rng(number)
    texts = [numbered(sentences, f"text {number}")[place] for place in random.permutation(sentences)]
    return Document(tuple(texts), (), f"document {number}")


def test_both_directions_are_asked_and_what_it_cost_is_told() -> None:
    with standing_in() as server:
        answers = judge_of(server).answers(numbered(4), PAIRS)
    assert answers == RIGHT
    assert answers.spend == Spend(requests=6, tokens_read=600, tokens_written=6)
    contents = [body["messages"][1]["content"] for body in server.requests]
    assert len(set(contents)) == 6
    assert all(sentence in content for content in contents for sentence in numbered(4))
    assert {(body["model"], body["temperature"]) for body in server.requests} == {("stand-in", 0)}


def test_a_model_that_always_says_a_knows_nothing() -> None:
    with standing_in({"always_a": 1.0}) as server:
        assert judge_of(server).answers(numbered(4), PAIRS) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("fault", ["busy", "500", "503", "broken", "closed", "cut", "deep"])
def test_what_may_pass_is_tried_again(fault: str) -> None:
    with standing_in({fault: 0.3}) as server:
        answers = judge_of(server, attempts=12).answers(numbered(4), PAIRS * 4)
    assert answers == RIGHT * 4
    assert answers.spend.requests == len(server.requests) > 24 - 18  # equal questions are asked once
    assert server.drawn[fault] == len(server.requests) - 6 > 0


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("chatty", ""),
        ("strange", ""),
        ("listed", "no chat completion"),
        ("huge", "longer than"),
    ],
)
def test_what_is_no_letter_is_no_answer_and_not_asked_again(fault: str, reason: str) -> None:
    with standing_in({fault: 1.0}) as server:
        answers = judge_of(server).answers(numbered(4), PAIRS)
    assert answers == (None, None, None) and reason in answers.failed and bool(answers.failed) == bool(reason)
    assert answers.spend.requests == len(server.requests) == 6
    assert answers.spend.tokens_written in (0, 6)


def test_thoughts_before_the_letter_are_left_out() -> None:
    with standing_in({"thoughtful": 1.0}) as server:
        assert judge_of(server).answers(numbered(4), PAIRS) == RIGHT


def test_an_endpoint_that_is_too_slow_is_not_waited_for() -> None:
    with standing_in({"slow": 1.0}, slow=1.0) as server:
        answers = judge_of(server, timeout=0.05, attempts=2).answers(numbered(4), PAIRS)
    assert answers == (None, None, None) and answers.failed


@pytest.mark.parametrize("fault", ["401", "404", "moved"])
def test_an_endpoint_that_refuses_everyone_is_given_up_with_one_warning(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    with standing_in({fault: 1.0}) as server, caplog.at_level(logging.WARNING):
        judge = judge_of(server, at_once=1)
        answers = [judge.answers(numbered(4), PAIRS) for _ in range(3)]
        assert len(server.requests) == 1
    assert all(given == (None, None, None) and given.failed for given in answers)
    assert len(caplog.records) == 1 and "not asked any more" in caplog.text


def test_failures_in_a_row_end_in_giving_up() -> None:
    with standing_in({"500": 1.0}) as server:
        judge = judge_of(server, attempts=2, at_once=1)
        assert judge.answers(numbered(4), PAIRS).failed == "it answered 500"
        assert len(server.requests) == 10  # five requests, two attempts each
        assert judge.answers(numbered(4), PAIRS).spend == Spend()


def test_the_key_is_sent_but_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSHUFFLE_JUDGE_KEY", "secret-word\n")
    with standing_in() as server:
        judge = judge_of(server)
        judge.answers(numbered(4), PAIRS)
    assert {headers["Authorization"] for headers in server.headers} == {"Bearer secret-word"}
    assert "secret-word" not in repr(judge) + repr(judge.endpoint)
    with pytest.raises(ConfigError, match="no key has"):
        Endpoint("http://localhost/v1", "secret\r\nHost: elsewhere")


def test_answers_are_kept_by_content_and_no_text_is(tmp_path: Path) -> None:
    with standing_in() as server:
        first = judge_of(server, cache=tmp_path).answers(numbered(4), PAIRS)
        again = judge_of(server, cache=tmp_path).answers(numbered(4), PAIRS)
        other = judge_of(server, cache=tmp_path).answers(numbered(5), PAIRS)
    assert first == again == other == RIGHT
    assert again.spend == Spend(cached=6)
    assert other.spend.requests == 6  # another text, another question
    assert all(b"This is number" not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize(
    "url", ["ftp://host/v1", "localhost:8080", "http://", "https://me:password@host/v1", "file:///x"]
)
def test_addresses_that_are_none_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="expected an address"):
        chat_url(url)


@pytest.mark.parametrize(
    ("given", "full"),
    [
        ("http://localhost:8080", "http://localhost:8080/v1/chat/completions"),
        ("https://host/v1/", "https://host/v1/chat/completions"),
        ("https://host/x/chat/completions?a=1", "https://host/x/chat/completions?a=1"),
    ],
)
def test_addresses_are_completed(given: str, full: str) -> None:
    assert chat_url(given) == full


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (None, None),
        ("2", 2.0),
        ("1e9", LONGEST_WAIT),
        ("-3", 0.0),
        ("nan", None),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_the_wait_that_an_endpoint_asks_for_has_a_limit(given: str | None, seconds: float | None) -> None:
    assert retry_after(given) == seconds


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("A", "A"),
        (" B.\n", "B"),
        ('"A"', "A"),
        ("(B)", "B"),
        ("a", ""),
        ("AB", ""),
        ("A or B", ""),
        ("", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_only_a_lone_letter_counts(said: object, letter: str) -> None:
    assert letter_of(Reply({"choices": [{"message": {"content": said}}]}, Spend())) == letter


def test_a_missing_direction_leaves_a_question_open() -> None:
    assert both_ways(1.0, 0.0) == 1.0 and both_ways(0.0, 1.0) == 0.0 and both_ways(1.0, 1.0) == 0.5
    assert both_ways(1.0, None) is None and both_ways(None, 0.0) is None


def test_an_endpoint_needs_the_name_of_a_model() -> None:
    with pytest.raises(ConfigError, match="--judge-model"):
        open_judge("http://localhost:8080/v1")
    with pytest.raises(ConfigError, match="no such folder"):
        open_judge("nowhere/at/all")


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_all_documents_are_answered_whatever_the_endpoint_does(
    orderer: Orderer, count: int, record_property: Callable[[str, object], None]
) -> None:
    shares = {"busy": 0.03, "500": 0.02, "broken": 0.02, "chatty": 0.02, "wrong": 0.03, "closed": 0.02, "cut": 0.01}
    shares |= {"huge": 0.004, "slow": 0.004, "strange": 0.01, "listed": 0.01}
    documents = [document(number, 3 + number % 3) for number in range(count)]
    with standing_in(shares, slow=0.3) as server:
        judge = judge_of(server, timeout=0.2, at_once=8, attempts=3)
        found = list(orderer.order_many(documents, judge=judge, questions=2))
    assert [ordering.index for ordering in found] == list(range(count))
    assert all(sorted(ordering.order) == list(range(len(ordering.given))) for ordering in found)
    judged = [ordering.judged for ordering in found if ordering.judged is not None]
    assert len(judged) == count and all(len(one.questions) <= 2 for one in judged)
    assert all(len({(asked.first, asked.second) for asked in one.questions}) == len(one.questions) for one in judged)
    total = sum((one.spend for one in judged), Spend())
    assert total.requests == len(server.requests) <= count * 2 * 2 * 3
    assert total.tokens_read >= 100 * server.drawn["right"]
    assert count < 1000 or all(server.drawn[fault] for fault in shares)
    right, all_pairs = 0, 0
    for ordering in found:
        places = [int(sentence.split()[3]) for sentence in ordering]
        right += sum(one < two for at, one in enumerate(places) for two in places[at + 1 :])
        all_pairs += len(places) * (len(places) - 1) // 2
    assert right / all_pairs > 0.6  # the model alone knows nothing
    record_property("inputs", count)


def test_an_endpoint_that_is_down_leaves_the_model_s_own_order(
    orderer: Orderer, caplog: pytest.LogCaptureFixture
) -> None:
    with standing_in() as server:
        url = server.url
    documents = [document(number, 5) for number in range(20)]
    judge = ChatJudge(url, "gone", first_wait=0.001)
    with caplog.at_level(logging.WARNING):
        found = list(orderer.order_many(documents, judge=judge, questions=5))
    alone = list(orderer.order_many(documents))
    assert [one.order for one in found] == [one.order for one in alone]
    assert [one.confidence for one in found] == [one.confidence for one in alone]
    assert all(one.judged is not None and one.judged.failed and not one.judged.turned for one in found)
    assert len(caplog.records) == 1


def test_a_single_text_is_enough_to_learn_that_the_endpoint_is_down(
    orderer: Orderer, caplog: pytest.LogCaptureFixture
) -> None:
    with standing_in() as server:
        url = server.url
    with caplog.at_level(logging.WARNING):
        judge = ChatJudge(url, "gone", first_wait=0.001, attempts=1)
        found = orderer.order(document(0, 2), judge=judge, questions=1)
    assert found.judged is not None and "refused" in found.judged.failed
    (told,) = caplog.messages
    assert told.startswith(f"unshuffle: judge {judge.endpoint.url}: ") and "goes unanswered" in told


def test_some_requests_that_fail_are_told_and_the_others_count() -> None:
    with standing_in({"500": 0.3}) as server:
        answers = judge_of(server, attempts=1, at_once=1).answers(numbered(6), [(0, 1), (2, 3), (4, 5), (0, 5)])
    assert None in answers and set(answers) - {None} and answers.failed == "it answered 500" and not answers.stopped


def test_answers_from_the_cache_have_not_failed_though_the_endpoint_has(tmp_path: Path) -> None:
    with standing_in() as server:
        judge = judge_of(server, cache=tmp_path)
        assert judge.answers(numbered(4), PAIRS) == RIGHT
        server.faults = {"401": 1.0}
        assert judge.answers(numbered(5), PAIRS).failed
        answers = judge.answers(numbered(4), PAIRS)
        assert answers == RIGHT and not answers.failed and answers.spend == Spend(cached=6)
        assert judge.answers(numbered(4), [*PAIRS, (0, 3)]).failed
