"""What a reader does on the page, in Chromium."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from tests.serve.fake import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Open = Callable[..., "Page"]
PROCESS: dict[str, Any] = EXAMPLES[3]


def order_example(page: "Page", name: str = "A process") -> None:
    page.click(f"#examples >> text={name}")
    page.wait_for_selector("#sentences li .step.named")


def shown(page: "Page") -> list[str]:
    return page.locator("#sentences li p").all_inner_texts()


def until(true: Callable[[], object]) -> None:
    """Waits from outside: the page's policy forbids Playwright's own way, which evaluates a string within."""
    for _ in range(200):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def coherence(page: "Page") -> int:
    return int(page.inner_text("#coherence-value").split()[0])


def test_an_example_is_put_in_order(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    assert shown(page) == PROCESS["sentences"]
    assert page.inner_text("#confidence-value") == "87 %"
    assert coherence(page) == 100
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


def test_an_empty_field_is_answered_with_a_word(open_page: Open) -> None:
    page = open_page()
    for button, place in (("#order", "#problem"), ("#shuffle", "#problem")):
        page.click(button)
        assert "Paste some sentences" in page.inner_text(place)
    page.click("#tab-exercise")
    page.click("#make")
    assert "no paragraph yet" in page.inner_text("#exercise-problem")


def test_shuffling_keeps_the_sentences(open_page: Open) -> None:
    page = open_page()
    page.fill("#text", " ".join(PROCESS["sentences"]))
    page.click("#shuffle")
    until(lambda: page.input_value("#split") == "lines")
    assert sorted(page.input_value("#text").splitlines()) == sorted(PROCESS["sentences"])


def test_the_rounds_can_be_stepped_slid_and_played(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    opened = page.locator("#graph .pair.open")
    assert opened.count() == 0
    assert page.is_disabled("#step-on")
    page.fill("#slider", "0")
    assert opened.count() == 15
    assert page.inner_text("#caption").startswith("Start. 15 links, none decided")
    page.click("#step-on")
    assert page.inner_text("#caption") == "Round 0. At first sight 3 links are decided, 12 stay open."
    assert opened.count() == 12
    dashed = opened.first.locator(".link").evaluate("link => getComputedStyle(link).strokeDasharray")
    assert dashed != "none"
    page.click("#play")
    until(lambda: page.input_value("#slider") == "3")
    assert opened.count() == 0
    page.click("#play")
    until(lambda: page.input_value("#slider") == "1")
    page.click("#play")
    assert page.get_attribute("#play", "aria-label") == "Play the rounds"


def test_dragging_a_sentence_changes_coherence_and_names_the_worst_step(open_page: Open) -> None:
    page = open_page(viewport={"width": 1200, "height": 1400})
    order_example(page)
    last = page.locator("#sentences li").last
    moved = last.locator("p").inner_text()
    grip, first = last.locator(".grip").bounding_box(), page.locator("#sentences li").first.bounding_box()
    assert grip
    assert first
    page.mouse.move(grip["x"] + 10, grip["y"] + 10)
    page.mouse.down()
    page.mouse.move(grip["x"] + 10, first["y"] + 60, steps=5)
    page.mouse.move(grip["x"] + 10, first["y"] - 20, steps=5)
    page.mouse.up()
    until(lambda: coherence(page) < 100)
    assert shown(page)[0] == moved
    assert coherence(page) == 67
    assert page.locator(".step.worst").count() == 1
    assert "8 %" in page.inner_text(".step.worst")
    assert page.locator("#graph .pair.against").count() == 5
    page.click("text=Move it")
    until(lambda: coherence(page) == 100)
    assert shown(page) == PROCESS["sentences"]


def test_arrow_keys_move_a_sentence_and_say_so(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    grip = page.locator("#sentences li").first.locator(".grip")
    grip.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert shown(page)[2] == PROCESS["sentences"][0]
    assert page.inner_text("#spoken").endswith("moved to place 3 of 6.")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").endswith(
        "place 3 of 6. Arrow keys move it."
    )
    page.click("#reset")
    assert shown(page) == PROCESS["sentences"]


def test_another_of_the_best_orders_can_be_tried(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    page.locator("#orders button").nth(1).click()
    assert shown(page) != PROCESS["sentences"]
    assert page.locator("#orders button").nth(1).get_attribute("aria-pressed") == "true"


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
    page.wait_for_selector("#sentences li .step.named")
    assert shown(page)[0] == attack
    assert page.locator("main img, #graph script").count() == 0
    assert page.evaluate("window.broken") is None


def test_an_exercise_is_made_and_printed(open_page: Open) -> None:
    page = open_page("/#exercise")
    page.click("#exercise-examples >> text=A story")
    page.wait_for_selector("#sheet:not([hidden])")
    assert page.inner_text("#verdict").startswith("Yes.")
    items = page.locator("#sheet-page li p").all_inner_texts()
    assert sorted(items) == sorted(EXAMPLES[0]["sentences"])
    assert page.locator("#sheet-key li p").all_inner_texts() == EXAMPLES[0]["sentences"]
    page.click("#again")
    until(lambda: page.locator("#sheet-page li p").all_inner_texts() != items)
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_the_button(open_page: Open, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(paper)
    page.click("#theme")
    assert page.evaluate(paper) != before
    page.reload()
    assert page.evaluate(paper) != before


def test_a_phone_shows_everything_without_sideways_scrolling(open_page: Open) -> None:
    page = open_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    order_example(page, "A hard one")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.click("#tab-exercise")
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_everything_can_be_reached_with_the_keyboard(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#tab-order")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#panel-exercise")
    page.keyboard.press("ArrowLeft")
    page.locator("#examples button").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#sentences li")
    unnamed = "button:not([aria-label])"
    assert all(text.strip() for text in page.locator(unnamed).all_text_contents())
