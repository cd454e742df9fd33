"""Ordering: the list, its headline, its clues, and rearranging it."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.page.reader import PROCESS, Open, answering, at_rest, flags, order_example, shown, until

pytestmark = pytest.mark.browser


def test_an_example_is_put_in_order(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    assert shown(page) == PROCESS["sentences"]
    assert page.locator("#heat tbody tr").count() == 6
    assert page.locator("#orders li").count() == 5
    assert page.locator("#graph .node").count() == 6
    words = page.locator("#graph .entity .word").all_text_contents()
    assert {"water", "vapour", "drops", "cloud", "rain"} <= {word.strip() for word in words}


def test_pasted_text_is_ordered_by_button_and_by_keys(open_page: Open) -> None:
    page = open_page()
    page.fill("#text", "Two is 2. One is 1.")
    page.click("#order")
    page.wait_for_selector("#sentences li")
    assert shown(page) == ["One is 1.", "Two is 2."]
    page.fill("#text", "Nine is 9. Eight is 8. Seven is 7.")
    page.press("#text", "Control+Enter")
    until(lambda: page.locator("#sentences li").count() == 3)
    assert shown(page)[0] == "Seven is 7."


def test_an_empty_field_gets_a_line(open_page: Open) -> None:
    page = open_page()
    for button in ("#order", "#shuffle"):
        page.click(button)
        assert "Paste some sentences" in page.inner_text("#problem")


def test_one_headline_names_the_steps_to_check(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    assert page.inner_text("#headline") == "Fairly sure, but check between sentences 2 and 3, 4 and 5, and 5 and 6"
    assert [flag.split(":")[0] for flag in flags(page)] == ["Between 2 and 3", "Between 4 and 5", "Between 5 and 6"]
    assert "nine in ten" in page.inner_text("#detail")
    assert "%" not in page.inner_text("#result")


def test_the_headline_is_the_service_s_own_and_so_are_its_doubts(open_page: Open) -> None:
    page = open_page()
    said = {"level": "sure", "line": "So it is", "detail": "Believe it.", "doubtful": [1], "doubt_below": 0.2}
    answering(page, "order", headline=said, pairs=[[0, 1, 0.1], [0, 2, 1.0], [1, 2, 0.3]])
    page.fill("#text", "One is 1. Two is 2. Three is 3.")
    page.click("#order")
    until(lambda: page.inner_text("#headline") == "So it is")
    assert page.get_attribute("#headline", "data-level") == "sure" and page.inner_text("#detail") == "Believe it."
    assert [flag.split(":")[0] for flag in flags(page)] == ["Between 1 and 2"]


def test_clues_are_marked_and_told(open_page: Open) -> None:
    page = open_page()
    order_example(page, "A story")
    second = page.locator("#sentences li").nth(1)
    assert second.locator("mark.back").all_inner_texts() == ["She"]
    assert second.locator("mark.shared").all_inner_texts() == ["key"]
    assert "both mention “key”; “She” points back" in second.locator(".tie").inner_text()
    assert page.locator("#sentences mark.time").all_inner_texts() == ["At supper", "The next morning"]
    order_example(page, "A news item")
    assert page.locator("#sentences mark.linking").all_inner_texts() == ["Until then"]


def test_dragging_a_sentence_flags_its_steps_and_can_be_mended(open_page: Open) -> None:
    page = open_page(viewport={"width": 1200, "height": 2000})
    order_example(page)
    at_rest(page, "#sentences li")
    last = page.locator("#sentences li").last
    moved = last.locator(".sentence").inner_text()
    grip, first = last.locator(".grip").bounding_box(), page.locator("#sentences li").first.bounding_box()
    assert grip
    assert first
    page.mouse.move(grip["x"] + 10, grip["y"] + 10)
    page.mouse.down()
    page.mouse.move(grip["x"] + 10, first["y"] + 60, steps=5)
    page.mouse.move(grip["x"] + 10, first["y"] - 20, steps=5)
    page.mouse.up()
    until(lambda: page.inner_text("#headline").startswith("Your arrangement"))
    assert shown(page)[0] == moved
    assert "more than 100 times less likely than its own" in page.inner_text("#headline")
    assert "Between 6 and 1: the model has it the other way round" in flags(page)
    assert page.locator("#graph .pair.against").count() == 5
    page.click("text=Move it")
    until(lambda: page.inner_text("#headline").startswith("Fairly sure"))
    assert shown(page) == PROCESS["sentences"]


def test_arrow_keys_move_a_sentence_and_say_so(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    page.locator("#sentences li").first.locator(".grip").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert shown(page)[2] == PROCESS["sentences"][0]
    assert page.inner_text("#spoken") == "Sentence 1 moved to position 3 of 6."
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == "Sentence 1, position 3 of 6. Arrow keys move it."
    page.click("#reset")
    assert shown(page) == PROCESS["sentences"]


def test_the_best_orders_are_told_by_their_sentences_and_can_be_tried(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    second = page.locator("#orders button").nth(1)
    assert "“When the drops in the cloud become…” later" in second.inner_text()
    second.click()
    assert shown(page) == [*PROCESS["sentences"][:4], PROCESS["sentences"][5], PROCESS["sentences"][4]]
    assert second.get_attribute("aria-pressed") == "true"


def test_results_can_be_copied_and_downloaded(open_page: Open, tmp_path: Path) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    order_example(page)
    files = {}
    for button in ("save-text", "save-json", "save-svg"):
        with page.expect_download() as download:
            page.click(f"#{button}")
        files[button] = download.value
    assert files["save-text"].suggested_filename == "ordered.txt"
    assert Path(files["save-text"].path()).read_text(encoding="utf-8").splitlines() == PROCESS["sentences"]
    answer = json.loads(Path(files["save-json"].path()).read_text(encoding="utf-8"))
    assert answer["arranged"] == answer["order"]
    drawing = ElementTree.parse(files["save-svg"].path()).getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    strokes = {path.get("stroke", "") for path in drawing.iter("{http://www.w3.org/2000/svg}path")}
    assert all(stroke == "none" or stroke.startswith("rgb") for stroke in strokes)
    page.click("#copy")
    page.wait_for_selector("text=Copied")
    assert page.evaluate("navigator.clipboard.readText()").splitlines() == PROCESS["sentences"]


def test_text_that_looks_like_markup_stays_text(open_page: Open) -> None:
    page = open_page()
    attack = '<img src=x onerror="window.broken=1"> 1 <script>window.broken=1</script>.'
    page.fill("#text", f"{attack}\nplain words 2\n{attack} plain 3")
    page.select_option("#split", "lines")
    page.click("#order")
    page.wait_for_selector("#sentences li")
    assert shown(page)[0] == attack
    assert page.locator("main img, #graph script").count() == 0
    assert page.evaluate("window.broken") is None


def test_a_hard_example_says_that_it_is(open_page: Open) -> None:
    page = open_page()
    order_example(page, "A hard one")
    assert page.inner_text("#example-note").startswith("This one is hard")
    order_example(page, "A news item")
    assert page.is_hidden("#example-note")


def test_the_order_is_printed_alone(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    page.emulate_media(media="print")
    assert page.is_visible("#sentences")
    assert page.is_visible("#headline")
    for part in (".top", "#text", "#graph-card", "#others-card", "#copy", ".nudge"):
        assert not page.locator(part).first.is_visible()
