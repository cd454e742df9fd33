"""The text field: how it is split, when its order is out of date, links, warnings, directions."""

import pytest

from tests.page.reader import PROCESS, Open, order_example, shown, until

pytestmark = pytest.mark.browser

LINES = "\n".join(PROCESS["sentences"])
WRAPPED = (
    "The sun warms the surface of the sea. Some of the warm water turns\n"
    "into vapour and rises. High in the cold air the vapour condenses into\n"
    "tiny drops. The drops gather and form a cloud over the warm water of\n"
    "the sea."
)
LIST = "buy flour 1\nbake bread 2\neat bread 3"
PARAGRAPHS = "One is 1. Two is 2. Three is 3.\nFour is 4. Five is 5. Six is 6."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LINES, "6 sentences, split at line ends (chosen automatically)"),
        (" ".join(PROCESS["sentences"]), "6 sentences, split at full stops (chosen automatically)"),
        (WRAPPED, "4 sentences, split at full stops (chosen automatically)"),
        (LIST, "3 sentences, split at line ends (chosen automatically)"),
        (PARAGRAPHS, "6 sentences, split at full stops (chosen automatically)"),
    ],
)
def test_a_text_is_split_by_itself_and_the_page_says_how(open_page: Open, text: str, found: str) -> None:
    page = open_page()
    page.fill("#text", text)
    until(lambda: page.is_visible("#outcome") and page.inner_text("#outcome summary") == found)
    page.click("#outcome summary")
    assert page.locator("#outcome li").count() == int(found[0])


def test_the_split_can_be_changed_and_does_not_stick(open_page: Open) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.fill("#text", PARAGRAPHS)
    page.select_option("#split", "lines")
    until(lambda: page.is_visible("#outcome") and page.inner_text("#outcome summary").startswith("2 sentences"))
    page.click("#order")
    until(lambda: page.locator("#sentences li").count() == 2)
    page.evaluate("text => navigator.clipboard.writeText(text)", "Nine is 9. Eight is 8.")
    page.focus("#text")
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
    assert page.input_value("#split") == "auto"
    until(lambda: "split at full stops" in page.inner_text("#outcome summary"))


def test_shuffling_keeps_the_sentences(open_page: Open) -> None:
    page = open_page()
    page.fill("#text", " ".join(PROCESS["sentences"]))
    page.click("#shuffle")
    until(lambda: "\n" in page.input_value("#text"))
    assert page.input_value("#split") == "auto"
    assert sorted(page.input_value("#text").splitlines()) == sorted(PROCESS["sentences"])


def test_editing_marks_the_order_as_out_of_date(open_page: Open) -> None:
    page = open_page()
    order_example(page)
    assert page.is_hidden("#old")
    page.fill("#text", "Two is 2. One is 1.")
    assert page.is_visible("#old")
    page.click("#again-order")
    until(lambda: shown(page) == ["One is 1.", "Two is 2."])
    assert page.is_hidden("#old")
    page.select_option("#split", "lines")
    assert page.is_visible("#old")


def test_a_link_carries_the_text_in_its_fragment(open_page: Open) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    text = "Zwei & 2 = two #2.\nOne is 1."
    page.fill("#text", text)
    page.click("#link")
    page.wait_for_selector("text=Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "#order&text=" in link
    asked: list[str] = []
    other = open_page(link.removeprefix(page.url.split("#")[0].rstrip("/")))
    other.on("request", lambda request: asked.append(request.url))
    until(lambda: other.locator("#sentences li").count() == 2)
    assert other.input_value("#text") == text
    assert shown(other) == ["One is 1.", "Zwei & 2 = two #2."]
    other.reload()
    until(lambda: other.locator("#sentences li").count() == 2)
    assert asked
    assert not any("Zwei" in url.split("#")[0] for url in asked)


def test_text_that_is_not_english_gets_a_warning_on_every_tab(open_page: Open) -> None:
    page = open_page()
    german = "Am Abend ging er müde nach Hause 2. Am Morgen kaufte der Mann ein Brot und aß es 1. Dann schlief er 3."
    for tab, field, button, place in (
        ("order", "#text", "#order", "#warnings"),
        ("draft", "#draft", "#check", "#draft-warnings"),
        ("compare", "#compared", "#compare", "#compare-warnings"),
        ("exercise", "#paragraph", "#make", "#exercise-warnings"),
    ):
        page.click(f"#tab-{tab}")
        page.fill(field, german)
        page.click(button)
        page.wait_for_selector(place)
        assert "does not look like English" in page.inner_text(place)
    page.click("#tab-order")
    order_example(page)
    assert page.is_hidden("#warnings")


def test_text_from_right_to_left_is_shown_so(open_page: Open) -> None:
    page = open_page()
    page.fill("#text", "ذهب الولد إلى المدرسة 1.\nعاد الولد إلى البيت 2.")
    page.click("#order")
    until(lambda: page.locator("#sentences li").count() == 2)
    for place in ("#text", "#sentences .sentence"):
        assert page.locator(place).first.evaluate("place => getComputedStyle(place).direction") == "rtl"
    assert page.locator("#graph .start").first.get_attribute("direction") == "rtl"
