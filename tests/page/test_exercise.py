"""The teacher's tab: an exercise, its verdict and its sheet."""

import pytest

from tests.page.reader import BY_NAME, Open, answering, until

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


def test_an_exercise_is_downloaded_as_the_files_that_the_service_can_write(open_page: Open) -> None:
    for package in ("fpdf", "docx"):
        pytest.importorskip(package)
    page = open_page("/#exercise")
    page.click("#exercise-examples >> text=A story")
    page.wait_for_selector("#sheet:not([hidden])")
    for format, begins in (("pdf", b"%PDF-"), ("docx", b"PK")):
        with page.expect_download() as started:
            page.click(f"#exercise-{format}")
        assert started.value.suggested_filename == f"exercise.{format}"
        assert started.value.path().read_bytes().startswith(begins)


def test_an_ambiguous_paragraph_gets_proposals_that_can_be_taken(open_page: Open) -> None:
    page = open_page("/#exercise")
    page.fill("#paragraph", "One is 1. Two is 2. Three is 3. The ambiguous one is 4. Five is 5.")
    page.click("#make")
    page.wait_for_selector(".proposal")
    assert page.inner_text("#verdict").startswith("No: another order reads almost as well.")
    page.locator(".proposal", has_text="unambiguous").first.locator("button").click()
    page.wait_for_selector("#verdict.good")


def test_proposals_taken_one_after_the_other_all_stay(open_page: Open) -> None:
    page = open_page("/#exercise")
    sent: list[dict[str, object]] = []
    page.on("request", lambda one: sent.append(one.post_data_json) if one.url.endswith("/v1/exercise") else None)
    merged = ["One is 1. Two is 2. Three is 3.", "Four is 4.", "Five is 5."]
    proposal = {"change": "merge", "sentences": [0, 1], "margin": 0.5, "solves": False, "result": merged}
    answering(page, "exercise", proposals=[proposal])
    page.fill("#paragraph", "One is 1. Two is 2. Three is 3. Four is 4. Five is 5.")
    page.click("#make")
    page.click(".proposal button")
    until(lambda: sorted(page.locator("#sheet-page li p").all_inner_texts()) == sorted(merged))
    with page.expect_response("**/v1/exercise"):
        page.click("#again")
    assert [one["split"] for one in sent] == ["sentences", "lines", "lines"]
    page.fill("#paragraph", "Ann is 1. Ben is 2. Cem is 3.\nDan is 4. Eve is 5. Fay is 6.")
    with page.expect_response("**/v1/exercise"):  # a page that closes with an answer under way fails
        page.click("#make")
    assert sent[3]["split"] == "sentences"  # nothing is left of what was taken
