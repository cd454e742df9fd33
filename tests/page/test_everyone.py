"""The page is for everyone: colours, phones, keyboards, screen readers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.page.reader import Open, order_example, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
LOOKS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"}, "phone": PHONE}


def faults(page: "Page") -> list[str]:
    """What axe-core calls serious or critical."""
    page.wait_for_timeout(500)  # colours that are still fading in have another contrast
    found: list[dict[str, Any]] = page.evaluate("axe.run(document).then(found => found.violations)")
    return [
        f"{one['id']}: {node['html'][:120]}: {node['failureSummary']}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("look", LOOKS)
def test_no_serious_accessibility_fault_on_any_tab(open_page: Open, look: str) -> None:
    # The page's policy would refuse the checker's script.
    page = open_page(bypass_csp=True, reduced_motion="reduce", **LOOKS[look])
    page.add_script_tag(path=AXE)
    assert faults(page) == []
    order_example(page, "A hard one")
    page.locator("#sentences .grip").first.press("ArrowDown")
    page.fill("#slider", "6")
    page.fill("#text", "Only one.")
    until(lambda: page.is_visible("#advice button"))
    assert faults(page) == []
    page.click("#tab-draft")
    page.click("#draft-examples >> text=A story")
    page.wait_for_selector("#passage .movable")
    page.locator("#passage .movable").first.focus()
    assert faults(page) == []
    page.click("#tab-compare")
    page.click("#compare-examples >> text=A story")
    page.wait_for_selector("#right-list li")
    assert faults(page) == []
    page.click("#tab-exercise")
    page.fill("#paragraph", "One is 1. Two is 2. Three is 3. The ambiguous one is 4. Five is 5.")
    page.click("#make")
    page.wait_for_selector(".proposal")
    assert faults(page) == []


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
    page = open_page(**PHONE)
    order_example(page, "A hard one")
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) == 360
    sentence, card = page.locator("#sentences .sentence").first.bounding_box(), page.locator("#result").bounding_box()
    assert sentence
    assert card
    assert sentence["width"] > card["width"] - 40
    for tab, example in (("draft", "#draft-examples"), ("compare", "#compare-examples"), ("exercise", "")):
        page.click(f"#tab-{tab}")
        if example:
            page.click(f"{example} >> text=A story")
            page.wait_for_selector("#passage .movable" if tab == "draft" else "#right-list li")
        assert page.evaluate(width) == 360


def test_a_tap_opens_a_note_and_does_not_move_yet(open_page: Open) -> None:
    page = open_page("/#draft", **PHONE)
    page.fill("#draft", "One is 1. Four is 4. Two is 2. Three is 3.")
    page.click("#check")
    page.locator("#passage .movable").first.tap()
    page.wait_for_timeout(600)  # longer than a note that the pointer has left lingers
    assert page.is_visible("#passage .tip")
    assert page.input_value("#draft").startswith("One is 1. Four is 4.")
    page.locator("#passage .tip button").tap()
    until(lambda: page.inner_text("#draft-headline") == "Reads well")


def test_everything_can_be_reached_with_the_keyboard(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#tab-order")
    for key, panel in (("ArrowRight", "draft"), ("ArrowLeft", "order"), ("ArrowLeft", "exercise"), ("Home", "order")):
        page.keyboard.press(key)
        assert page.is_visible(f"#panel-{panel}")
    page.locator("#examples button").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#sentences li")
    unnamed = "button:not([aria-label])"
    assert all(text.strip() for text in page.locator(unnamed).all_text_contents())
