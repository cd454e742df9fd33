"""Text is read as what it is, and a wrong guess is noticed."""

import gzip
import lzma
import os
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from unshuffle.cli.reading import CommandInput
from unshuffle.text.readers.formats import recognised
from unshuffle.text.readers.read import read_documents

STORY = ["Then she ate it.", "Mia picked an apple.", "She washed the apple."]
WRAPPED = """Anna wanted to bake a cake for her
brother. She looked in the kitchen
but there were no eggs. So she went
out."""


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("One.\nTwo.\n\nThree.\n", "lines"),
        ("Wash the apple\nEat it\nSmile", "lines"),
        ("He came.\nShe said: 'No. Never.'\nThey left.\n", "lines"),
        ("Only this.", "lines"),
        ("", "lines"),
        ("One came. Two went. Three stayed.", "text"),
        ("First one. Still first.\n\nSecond one. And more.", "text"),
        (WRAPPED, "text"),
        ('{"sentences": ["a"]}\n', "jsonl"),
        ('\n["a", "b"]\n["c"]', "jsonl"),
        ('[{"sentences": ["a"]}]', "json"),
        ('[["a"], ["b"]]', "json"),
        ('{\n  "sentences": ["a"]\n}', "json"),
        ("{a} One sentence in braces.\nAnother one.", "lines"),
    ],
)
def test_content_tells_the_format_packed_or_not(text: str, format: str) -> None:
    for content in (text.encode(), gzip.compress(text.encode()), lzma.compress(text.encode())):
        assert recognised(content) == format


def test_a_long_text_is_told_by_its_beginning() -> None:
    assert recognised(b"One came. Two went.\n" * 20_000) == "text"
    assert recognised(b"One came.\n" * 20_000) == "lines"
    assert recognised(gzip.compress(b"One came. Two went.\n" * 20_000)[:1_000]) == "text"


def test_running_text_and_json_lines_on_stdin_are_put_in_order(run: Run, model: Path, tmp_path: Path) -> None:
    expected = run("order", "-m", model, stdin="\n".join(STORY)).out
    (tmp_path / "noname").write_text(" ".join(STORY))
    (tmp_path / "packed").write_bytes(gzip.compress(" ".join(STORY).encode()))
    for arguments, stdin in (
        ([], " ".join(STORY)),
        ([], '{"sentences": ["' + '", "'.join(STORY) + '"]}'),
        ([tmp_path / "noname"], ""),
        ([tmp_path / "packed"], ""),
    ):
        answer = run("order", "-m", model, *arguments, stdin=stdin)
        assert (answer.out, answer.err) == (expected, "")


def test_all_of_a_long_stream_is_read(run: Run, model: Path) -> None:
    answer = run("order", "-m", model, stdin="One.\nTwo.\n\n" * 9_000)
    assert answer.out.count("One.") == answer.out.count("Two.") == 9_000


def test_one_sentence_gets_a_hint(run: Run, model: Path, tmp_path: Path) -> None:
    said = "unshuffle: only one sentence found. If this is running text, use --input text.\n"
    assert run("order", "-m", model, stdin="One word after the other\n").err.endswith(said)
    (tmp_path / "list.txt").write_text("Wash the apple\nEat the apple\n")
    assert "use --input lines" in run("order", "-m", model, tmp_path / "list.txt").err
    assert run("order", "-m", model, "-i", "lines", tmp_path / "list.txt").err == ""
    assert run("order", "-m", model, stdin='["Alone."]\n').err == ""
    assert "Blank lines" in run("order", "-m", model, "--unit", "paragraph", stdin="One. Two. Three.").err


def test_the_guess_is_said_on_a_terminal_only(run: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("order", "-m", model, stdin=" ".join(STORY)).err == ""
    monkeypatch.setattr("unshuffle.cli.reading.is_watched", lambda: True)
    assert (
        "stdin is read as running text. If that is wrong, use --input."
        in run("order", "-m", model, stdin=" ".join(STORY)).err
    )


def test_a_pipe_with_a_name_is_read(run: Run, model: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("\n".join(STORY),))
    writer.start()
    answer = run("order", "-m", model, tmp_path / "pipe")
    writer.join()
    assert sorted(answer.out.splitlines()) == sorted(STORY) and answer.err == ""


def test_the_everyday_texts_are_read_as_what_they_are() -> None:
    first = next(CommandInput("everyday:test").documents())
    assert first == next(read_documents("everyday:test")) and not first.sentences[0].startswith("{")
