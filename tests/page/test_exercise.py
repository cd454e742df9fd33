"""The teacher's tab: an exercise, its verdict and its sheet."""

import pytest

from tests.page.reader import BY_NAME, Open, until

pytestmark = pytest.mark.browser
STORY = BY_NAME["A story"]["sentences"]


def test_an_exercise_is_made_and_printed(open_page: Open) -> None:
    page = open_page("/#exercise")
    page.click("#make")
    assert "no paragraph yet" in page.inner_text("#exercise-problem")
    page.click("#exercise-examples >> text=A story")
    page.wait_for_selector("#sheet:not([hidden])")
    assert page.inner_text("#verdict").startswith("Yes.")
    items = page.locator("#sheet-page li p").all_inner_texts()
    assert sorted(items) == sorted(STORY)
    assert page.locator("#sheet-key li p").all_inner_texts() == STORY
    assert "Difficulty" not in page.inner_text("#sheet-page")
    page.click("#again")
    until(lambda: page.locator("#sheet-page li p").all_inner_texts() != items)
    page.type("#paragraph", "More.")
    assert page.is_visible("#exercise-old")
    page.emulate_media(media="print")
    assert page.locator("#sheet-page").is_visible()
    assert not page.locator(".top").is_visible()
    assert page.locator("#sheet-key").evaluate("key => getComputedStyle(key).breakBefore") == "page"
    assert page.pdf().count(b"/Type /Page\n") == 2


def test_an_ambiguous_paragraph_gets_proposals_that_can_be_taken(open_page: Open) -> None:
    page = open_page("/#exercise")
    page.fill("#paragraph", "One is 1. Two is 2. Three is 3. The ambiguous one is 4. Five is 5.")
    page.click("#make")
    page.wait_for_selector(".proposal")
    assert page.inner_text("#verdict").startswith("No: another order reads almost as well.")
    page.locator(".proposal", has_text="unambiguous").first.locator("button").click()
    page.wait_for_selector("#verdict.good")
