from unshuffle.text.document import Document
from unshuffle_research.gallery import Exhibit, kind, page, pick


def text(id: str) -> Document:
    return Document.from_sentences(["A | a.", "B.", "C."], id=id)


def test_kinds_differ_while_there_are_other_kinds_left() -> None:
    texts = [text(f"everyday-mail-private-{number}") for number in range(20)]
    texts += [text("everyday-mail1-work-1"), text("everyday-news-local-1"), text("everyday-five-1")]
    assert [kind(one).split()[0] for one in pick(texts, 3, seed=1)] == ["five", "mail", "news"]
    assert pick(texts, 3, seed=1) == pick(texts, 3, seed=1)


def test_a_page_marks_what_is_wrong_and_nothing_else() -> None:
    right = Exhibit(text("everyday-five-1"), (0, 1, 2), (2, 0, 1), 0.9)
    wrong = Exhibit(text("everyday-news-local-2"), (1, 0, 2), (2, 0, 1), 0.6)
    shown = page([right, wrong], seed=1)
    assert "1 of 2 are right as a whole" in shown
    first, second = shown.split("## ")[1:]
    assert "**" not in first and "| 1 | 1 | 2 | A \\| a. |" in first
    assert "| 1 | **2** | 3 | B. |" in second and "| 3 | 3 | 1 | C. |" in second
