"""The comparing tab: two orders side by side."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.page.reader import Open, until
from tests.serve.conftest import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a service with two models answers."""
    server = Server(tmp_path_factory.mktemp("compared"), {"compare": True})
    yield server.url
    server.stop()


def test_the_text_as_given_is_held_against_its_order(open_page: Open) -> None:
    page = open_page("/#compare")
    until(lambda: "one model (fake)" in page.inner_text("#compare-model"))  # once the service has named its models
    page.fill("#compared", "One is 1. Three is 3. Four is 4. Two is 2.")
    page.click("#compare")
    page.wait_for_selector("#right-list li")
    assert page.inner_text("#compare-summary").startswith("1 move turns one into the other; 4 of 6 pairs")
    assert page.locator("#left-list p").all_inner_texts() == ["One is 1.", "Three is 3.", "Four is 4.", "Two is 2."]
    assert page.locator("#right-list .elsewhere").all_inner_texts() == ["Two is 2.\n\nposition 4 on the other side"]


def test_two_searches_are_compared_by_their_width(open_page: Open) -> None:
    page = open_page("/#compare")
    asked: list[object] = []
    page.on("request", lambda request: asked.append((request.post_data_json or {}).get("beam")))
    page.click("#compare")
    assert "nothing to compare" in page.inner_text("#compare-problem")
    page.select_option("#left-kind", "1")
    page.select_option("#right-kind", "64")
    page.click("#compare-examples >> text=A speech")
    until(lambda: page.inner_text("#compare-summary") == "Both give the same order.")
    assert [beam for beam in asked if beam] == [1, 64]
    page.select_option("#left-kind", "8")
    assert page.is_visible("#compare-old")


def test_two_models_are_held_against_each_other(compared: str, browser: "Browser") -> None:
    page = browser.new_page()
    asked: list[object] = []
    page.on("request", lambda request: asked.append((request.post_data_json or {}).get("model")))
    page.goto(f"{compared}/#compare")
    until(lambda: page.input_value("#left-kind") == "model:fake")
    assert "2 models" in page.inner_text("#compare-model") and page.input_value("#right-kind") == "model:reversed"
    page.fill("#compared", "One is 1. Two is 2. Three is 3.")
    page.click("#compare")
    page.wait_for_selector("#right-list li")
    assert [one for one in asked if one] == ["fake", "reversed"]
    assert page.locator("#left-list p").all_inner_texts() == ["One is 1.", "Two is 2.", "Three is 3."]
    assert page.locator("#right-list p").all_inner_texts() == ["Three is 3.", "Two is 2.", "One is 1."]
    assert (page.inner_text("#left-name"), page.inner_text("#right-name")) == ("fake", "reversed")
    summary = page.inner_text("#compare-summary")
    assert "0 of 3 pairs" in summary and "To the model" not in summary  # two models' chances cannot be compared
    page.close()
