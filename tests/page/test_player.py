"""The player: how an order came about, with rounds and without."""

from typing import TYPE_CHECKING

import pytest

from tests.page.reader import PROCESS, Open, answering, order_example, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def legend(page: "Page") -> list[str]:
    return [entry.inner_text().strip() for entry in page.locator(".legend li:visible").all()]


def test_the_rounds_and_the_reading_can_be_stepped_slid_and_played(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    opened = page.locator("#graph .pair.open")
    assert opened.count() == 0
    assert page.is_disabled("#step-on")
    assert page.get_attribute("#slider", "max") == "10"
    page.fill("#slider", "0")
    assert opened.count() == 15
    assert page.inner_text("#caption") == "15 pairs of sentences are linked. None is decided yet."
    page.click("#step-on")
    assert page.inner_text("#caption") == "At first sight 3 pairs are decided, 12 stay open."
    assert opened.count() == 12
    dashed = opened.first.locator(".link").evaluate("link => getComputedStyle(link).strokeDasharray")
    assert dashed != "none"
    page.fill("#slider", "9")
    page.click("#play")
    until(lambda: page.input_value("#slider") == "10")
    assert opened.count() == 0
    page.click("#play")
    until(lambda: page.input_value("#slider") == "1")
    page.click("#play")
    assert page.get_attribute("#play", "aria-label") == "Play how the order came about"


def test_the_order_is_read_off_with_its_rivals(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    page.fill("#slider", "4")
    caption = page.inner_text("#caption")
    assert caption.startswith("Reading off, 1 of 6. “The sun warms the surface of the…” opens the text.")
    assert "the nearest rival, “Some of the warm water turns into…”" in caption
    assert page.locator("#graph .node.now").get_attribute("aria-label") == f"1: {PROCESS['sentences'][0]}"
    assert page.locator("#graph .node.rival").count() == 1
    page.click("#step-on")
    assert page.locator("#graph .node.read").count() == 1
    page.fill("#slider", "9")
    assert page.inner_text("#caption").endswith("is the only one left.")


def test_the_legend_lists_what_is_drawn(open_page: Open) -> None:
    page = open_page()
    answering(page, "graph", mentions=[[0, 0, "other"], [0, 1, "other"]])
    order_example(page)
    assert legend(page) == ["comes before", "other role"]
    page.fill("#slider", "0")
    assert legend(page) == ["undecided", "other role"]
    page.fill("#slider", "4")
    assert legend(page) == ["comes before", "other role", "nearest rival"]
    page.locator("#sentences .grip").first.press("End")
    assert "against this order" in legend(page)


def test_a_model_that_decides_everything_at_once_has_a_story_too(open_page: Open) -> None:
    page = open_page()
    weights = [[0, 1, 0.9], [0, 2, 0.9], [1, 2, 0.9]]
    answering(page, "order", rounds=[{"weights": weights, "undecided": []}])
    page.fill("#text", "One is 1. Two is 2. Three is 3.")
    page.click("#order")
    until(lambda: page.get_attribute("#slider", "max") == "5")
    page.fill("#slider", "1")
    assert page.inner_text("#caption").startswith("At first sight the model decides all 3 pairs")
    page.click("#step-on")
    assert "opens the text" in page.inner_text("#caption")


def test_a_model_without_rounds_or_graph_has_a_story_too(open_page: Open) -> None:
    page = open_page()
    answering(page, "order", rounds=[])
    answering(page, "graph", entities=[], mentions=[], links=[])
    order_example(page)
    assert page.get_attribute("#slider", "max") == "6"
    page.fill("#slider", "0")
    assert page.inner_text("#caption").startswith("Reading off, 1 of 6.")
    assert page.locator("#graph .pair").count() == 12
    assert page.locator("#graph .pair.open").count() == 0
    assert "undecided" not in legend(page)
    assert page.locator("#graph .node .start").count() == 6


def test_a_single_sentence_is_no_riddle(open_page: Open) -> None:
    page = open_page()
    page.fill("#text", "Only this one.")
    page.click("#order")
    until(lambda: page.inner_text("#headline") == "There is nothing to order: it is one sentence")
    assert page.inner_text("#detail") == "Is the text split as you meant it?"
