"""Sheets and keys in every file format."""

import html
import io
import json
import re
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.exercises.conftest import Unsure
from tests.serve.fake import EXAMPLES, FakeOrderer
from unshuffle.errors import DataError, MissingExtra
from unshuffle.exercises.exercise import Exercise
from unshuffle.exercises.formats.write import written
from unshuffle.exercises.make import make_exercise, make_exercises
from unshuffle.exercises.sheet import Booklet, answer, blanks

STORY: list[str] = [*EXAMPLES[0]["sentences"][:-1], "And <b>1 & 2</b> {9}."]


@pytest.fixture
def exercise() -> Exercise:
    return make_exercise(FakeOrderer(), STORY)


def test_the_numbers_on_the_lines_are_the_places_of_the_items(exercise: Exercise) -> None:
    numbers = [int(number) for number in re.findall(r"\d+", blanks(exercise))]
    assert [exercise.paragraph[number - 1] for number in numbers] == list(exercise.items)


def test_a_text_sheet_has_a_name_line_aligned_items_and_nothing_of_the_key(exercise: Exercise) -> None:
    page, key = written(Booklet((exercise,), "Keys"), "text").decode().split("\f")
    assert page.startswith("Keys\n\nName: ____") and "Date: ____" in page
    assert "ifficult" not in page and answer(exercise) not in page and "certain" not in page
    assert answer(exercise) in key and "Difficulty: " in key
    items = page.split("and so on.")[1]
    starts = {re.match(r"(_+ +[A-Z]\. )?( *)", line).end() for line in items.splitlines() if line}  # type: ignore[union-attr]
    assert len(starts) == 1
    flowing = " ".join(items.split())
    assert all(" ".join(item.split()) in flowing for item in exercise.items)


def test_sheets_and_key_can_be_written_apart(exercise: Exercise) -> None:
    sheets = written(Booklet((exercise,), key=False), "text").decode()
    key = written(Booklet((exercise,), sheets=False), "text").decode()
    assert "\f" not in sheets + key and "Answer key" not in sheets and "Name:" not in key


def test_the_key_tells_the_rival_and_the_changes(unsure: Unsure) -> None:
    doubtful = make_exercise(unsure, ["s1", "s2", "s3", "s4", "s5"])
    key = " ".join(written(Booklet((doubtful,), sheets=False), "text").decode().split())
    assert "another order reads almost as well" in key and doubtful.rival is not None and doubtful.rival.why in key
    mended = make_exercise(unsure, ["s1", "s2", "s3", "s4", "s5"], mend=True)
    assert mended.changes[0] in " ".join(written(Booklet((mended,), sheets=False), "text").decode().split())


def test_a_page_escapes_text_and_breaks_before_the_key(exercise: Exercise) -> None:
    page = written(Booklet((exercise,), "<x>"), "html").decode()
    assert "&lt;b&gt;1 &amp; 2&lt;/b&gt;" in page and "<b>1 " not in page and "<h1>&lt;x&gt;</h1>" in page
    assert "break-before: page" in page and "Name:" in page


def test_moodle_gets_the_right_order_once_however_many_sheets_there_are() -> None:
    exercises = make_exercises(FakeOrderer(), STORY, count=3)
    quiz = ElementTree.fromstring(written(Booklet(exercises, "Keys"), "moodle"))
    (question,) = quiz.findall("question")
    assert question.get("type") == "ordering" and question.findtext("name/text") == "Keys"
    sentences = [found.text for found in question.findall("answer/text")]
    assert sentences == [*STORY[:-1], "And &lt;b&gt;1 &amp; 2&lt;/b&gt; {9}."]
    assert question.findtext("selectcount") == str(len(STORY))


def test_gift_keeps_its_braces_to_itself(exercise: Exercise) -> None:
    text = written(Booklet((exercise,), "Keys: {one}"), "gift").decode()
    assert text.startswith("::Keys\\: (one)::") and f"{{>{len(STORY)} ALL VERTICAL" in text
    assert text.count("{") == text.count("}") == 1 and "\n\n" not in text
    assert text.splitlines()[1:-1] == [*STORY[:-1], "And &lt;b&gt;1 &amp; 2&lt;/b&gt; (9)."]


def imported(text: str) -> tuple[str, list[str]]:
    """Name and items of a question as Moodle reads them: names with GIFT's escapes, items of ordering without."""
    marked = text.replace("\\\\", "&&092;")
    for code, mark in enumerate((":", "#", "=", "{", "}", "~", "n")):
        marked = marked.replace(f"\\{mark}", f"&&{code};")
    marked = marked.replace("&&092;", "\\")
    name, rest = marked.removeprefix("::").split("::", 1)
    for code, mark in enumerate((":", "#", "=", "{", "}", "~", "\n")):
        name = name.replace(f"&&{code};", mark)
    inner = rest[rest.index("{") + 1 : rest.index("}")].rpartition("####")
    return html.unescape(name), [html.unescape(line) for line in (inner[0] or inner[2]).strip().splitlines()[1:]]


def test_gift_keeps_backslashes_and_hashes(exercise: Exercise) -> None:
    texts = (r"Save it in C:\new\~tmp and C:\\x.", "Then #### write &#35; # and &&035;.", "The end \\")
    made = replace(exercise, items=texts, solution=(0, 1, 2))
    title = r"a\:b #1 ~ = \n" + "\\"
    assert imported(written(Booklet((made,), title), "gift").decode()) == (title, list(texts))


def test_json_is_a_line_per_exercise() -> None:
    exercises = make_exercises(FakeOrderer(), STORY, count=2)
    rows = [json.loads(line) for line in written(Booklet(exercises), "json").decode().splitlines()]
    assert [tuple(row["solution"]) for row in rows] == [exercise.solution for exercise in exercises]
    assert set(rows[0]["rival"]) == {"order", "probability", "why"}


def test_a_word_document_holds_sheets_and_key(exercise: Exercise) -> None:
    pytest.importorskip("docx")
    strange = replace(exercise, items=(exercise.items[0] + "\x00\ud800", *exercise.items[1:]))
    content = written(Booklet((strange, strange), "Keys"), "docx")
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        root = ElementTree.fromstring(packed.read("word/document.xml"))
    space = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    paragraphs = ["".join(one.itertext()) for one in root.iter(f"{space}p")]
    assert "Keys 1" in paragraphs and "Keys 2" in paragraphs
    assert f"Answer key 2: {answer(exercise)}" in paragraphs
    assert all(any(line.endswith(item) for line in paragraphs) for item in exercise.items)
    breaks = [one for one in root.iter(f"{space}pageBreakBefore") if one.get(f"{space}val") != "0"]
    assert len(breaks) == 2  # the second sheet and the key
    assert {one.get(f"{space}leader") for one in root.iter(f"{space}tab")} >= {"underscore"}


def test_a_pdf_has_a_page_per_sheet_and_one_for_the_key(exercise: Exercise) -> None:
    pytest.importorskip("fpdf")
    content = written(Booklet((exercise, exercise), "“Keys” – one"), "pdf")
    assert content.startswith(b"%PDF") and len(re.findall(rb"/Type /Page\b(?!s)", content)) == 3


def test_a_letter_that_a_pdf_cannot_show_is_named(exercise: Exercise) -> None:
    pytest.importorskip("fpdf")
    with pytest.raises(DataError, match=r"no 'ł' \(U\+0142\). Write docx"):
        written(Booklet((exercise,), "Złoty"), "pdf")


@pytest.mark.parametrize(("format", "package"), [("pdf", "fpdf"), ("docx", "docx")])
def test_a_missing_package_is_said_in_one_line(
    exercise: Exercise, format: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    monkeypatch.delitem(__import__("sys").modules, f"unshuffle.exercises.formats.{format}", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[exercises\]'"):
        written(Booklet((exercise,)), format)  # type: ignore[arg-type]
