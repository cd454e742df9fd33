"""The writer's tab: weak steps, suggestions, moves, undo."""

import pytest

from tests.page.reader import Open, answering, until

pytestmark = pytest.mark.browser

GOOD = "One is 1. Two is 2.\n\nThree is 3. Four is 4. Five is 5."
WRONG = "One is 1. Four is 4.\n\nTwo is 2. Three is 3. Five is 5."


def test_a_weak_step_is_underlined_moved_and_the_move_undone(open_page: Open) -> None:
    page = open_page("/#draft")
    page.fill("#draft", WRONG)
    page.click("#check")
    page.wait_for_selector("#passage .movable")
    weak = page.locator("#passage .movable").first
    assert weak.inner_text() == "Four is 4."
    line = weak.evaluate("weak => getComputedStyle(weak).textDecorationStyle")
    assert line == "wavy"
    weak.hover()
    assert page.inner_text("#passage .tip span") == "It would read slightly better after “Three is 3.”."
    page.click("#passage .tip button")
    until(lambda: page.inner_text("#draft-headline") == "Reads well")
    assert page.locator("#passage p").all_inner_texts() == ["One is 1.", "Two is 2. Three is 3. Four is 4. Five is 5."]
    assert page.input_value("#draft") == "One is 1.\n\nTwo is 2. Three is 3. Four is 4. Five is 5."
    page.click("#undo")
    until(lambda: page.locator("#passage .movable").count() > 0)
    assert page.input_value("#draft") == WRONG
    assert page.is_disabled("#undo")


def test_the_keyboard_opens_a_note_moves_and_undoes(open_page: Open) -> None:
    page = open_page("/#draft")
    page.fill("#draft", WRONG)
    page.click("#check")
    page.wait_for_selector("#passage .movable")
    page.locator("#passage .movable").first.focus()
    assert page.is_visible("#passage .tip")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.locator("#passage .tip").count() == 0
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    until(lambda: page.inner_text("#draft-headline") == "Reads well")
    assert page.evaluate("document.activeElement.textContent") == "Four is 4."
    page.keyboard.press("Control+z")
    until(lambda: page.input_value("#draft") == WRONG)


def test_a_good_draft_has_nothing_underlined(open_page: Open) -> None:
    page = open_page("/#draft")
    page.fill("#draft", GOOD)
    page.click("#check")
    until(lambda: page.inner_text("#draft-headline") == "Reads well")
    assert page.locator("#passage .advised").count() == 0
    assert page.locator("#passage p").count() == 2


def test_a_weak_step_that_no_move_mends_is_told_so(open_page: Open) -> None:
    page = open_page("/#draft")
    steps = [
        {"first": 0, "second": 1, "score": 0.1, "weak": True},
        {"first": 1, "second": 2, "score": 0.9, "weak": False},
    ]
    answering(page, "score", transitions=steps, moves=[], verdict="reads well; one step is weak")
    page.fill("#draft", "One is 1. Two is 2. Three is 3.")
    page.click("#check")
    until(lambda: page.inner_text("#draft-headline") == "Reads well; one step is weak")
    page.hover("#passage .advised")
    assert "No single move mends it" in page.inner_text("#passage .tip")
    assert page.locator("#passage .tip button").count() == 0


def test_a_link_carries_the_draft(open_page: Open) -> None:
    page = open_page("/#draft&text=One+is+1.+Three+is+3.+Two+is+2.")
    page.wait_for_selector("#passage .movable")
    assert page.input_value("#draft") == "One is 1. Three is 3. Two is 2."


def test_editing_marks_the_passage_as_out_of_date(open_page: Open) -> None:
    page = open_page("/#draft")
    page.click("#check")
    assert "There is no draft yet" in page.inner_text("#draft-problem")
    page.click("#draft-examples >> text=A story")
    page.wait_for_selector("#passage .movable")
    page.fill("#draft", GOOD)
    assert page.is_visible("#draft-old")
    page.click("#check-again")
    until(lambda: page.inner_text("#draft-headline") == "Reads well")
    assert page.is_hidden("#draft-old")


def test_a_sentence_that_occurs_again_unwrapped_moves_no_paragraph(open_page: Open) -> None:
    page = open_page("/#draft")
    page.fill("#draft", "He went\nhome (late). She sang.\n\nThen rain fell. He went home (late). The end came.")
    page.click("#check")
    page.wait_for_selector("#passage p")
    assert [text.strip() for text in page.locator("#passage p").all_inner_texts()] == [
        "He went home (late). She sang.",
        "Then rain fell. He went home (late). The end came.",
    ]


def test_no_move_drops_what_was_typed_since_the_draft_was_checked(open_page: Open) -> None:
    page = open_page("/#draft")
    page.fill("#draft", WRONG)
    page.click("#check")
    page.wait_for_selector("#passage .movable")
    page.fill("#draft", f"{WRONG} Six is 6.")
    page.locator("#passage .movable").first.hover()
    page.click("#passage .tip button")
    assert "has changed since it was checked" in page.inner_text("#draft-problem")
    assert page.input_value("#draft") == f"{WRONG} Six is 6."
    page.click("#check-again")
    until(lambda: page.is_hidden("#draft-old"))
    page.locator("#passage .movable").first.hover()
    page.click("#passage .tip button")
    until(lambda: page.inner_text("#draft-headline") == "Reads well")
    assert page.input_value("#draft").endswith("Five is 5. Six is 6.")


def test_what_is_typed_while_a_draft_is_checked_marks_it_as_out_of_date(open_page: Open) -> None:
    page = open_page("/#draft")
    page.route("**/v1/score", lambda route: (page.fill("#draft", GOOD), route.continue_()))
    page.fill("#draft", WRONG)
    page.click("#check")
    page.wait_for_selector("#passage .movable")
    assert page.is_visible("#draft-old")
