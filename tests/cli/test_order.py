import gzip
import json
import os
from pathlib import Path

import pytest

import unshuffle
from tests.cli.conftest import Run

STORY = ["Then she ate it.", "Mia picked an apple.", "She washed the apple."]
NAMES = {
    "id", "sentences", "order", "input", "warnings", "probability", "log_probability", "confidence", "headline",
    "pairs", "rounds", "n_best", "why", "ties", "kept",
}  # fmt: skip


def test_stdin_is_one_sentence_a_line(run: Run, model: Path) -> None:
    answer = run("order", "-m", model, stdin="\n".join(STORY))
    assert answer.code == 0 and answer.err == ""
    assert sorted(answer.out.splitlines()) == sorted(STORY)
    assert run("order", "-m", model, "-", stdin="\n".join(STORY)).out == answer.out


def test_the_same_answer_from_file_text_and_python(run: Run, model: Path, tmp_path: Path) -> None:
    order = unshuffle.order(STORY, model=str(model)).order
    expected = "".join(f"{STORY[place]}\n" for place in order)
    plain, packed = tmp_path / "story.txt", tmp_path / "story.jsonl.gz"
    plain.write_text(" ".join(STORY))
    packed.write_bytes(gzip.compress(json.dumps({"sentences": STORY}).encode()))
    for source in ([plain], [packed], ["--text", " ".join(STORY)]):
        assert run("order", "-m", model, *source).out == expected


def test_a_blank_line_stands_between_documents(run: Run, model: Path) -> None:
    answer = run("order", "-m", model, stdin="One.\nTwo.\n\nThree.\n\nFour.\nFive.\n")
    parts = [set(part.splitlines()) for part in answer.out.rstrip("\n").split("\n\n")]
    assert parts == [{"One.", "Two."}, {"Three."}, {"Four.", "Five."}]


def test_paragraphs_are_put_in_order_and_read_back(run: Run, model: Path) -> None:
    text = "First one. Still first.\n\nSecond one.\n---\nAnother document.\n\nIts end.\n"
    answer = run("order", "-m", model, "--unit", "paragraph", stdin=text)
    documents = [set(part.strip().split("\n\n")) for part in answer.out.split("\n---\n")]
    assert documents == [{"First one. Still first.", "Second one."}, {"Another document.", "Its end."}]


def test_paragraphs_of_a_table_are_its_units(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "a", "sentences": ["First one. Still first.", "Second one."]}\n')
    answer = run("order", tmp_path / "p.jsonl", "-m", model, "--unit", "paragraph")
    assert set(answer.out.strip().split("\n\n")) == {"First one. Still first.", "Second one."}


def test_json_has_the_names_of_the_python_result(run: Run, model: Path) -> None:
    answer = run("order", "-m", model, "--format", "json", "--n-best", 2, stdin="\n".join(STORY) + "\n\nAlone.\n")
    first, second = map(json.loads, answer.out.splitlines())
    assert set(first) == NAMES
    document = unshuffle.Document.from_sentences(STORY, id=first["id"])
    alone = json.loads(json.dumps(unshuffle.Orderer.from_pretrained(model).order(document, n_best=2).to_json()))
    assert [first[name] for name in ("id", "order", "ties", "kept")] == [
        alone[name] for name in ("id", "order", "ties", "kept")
    ]
    # Another document in the batch may round differently.
    assert [p for _, _, p in first["pairs"]] == pytest.approx([p for _, _, p in alone["pairs"]], abs=1e-5)
    assert first["confidence"] == pytest.approx(alone["confidence"], abs=1e-5)
    assert sorted(first["order"]) == [0, 1, 2] and len(first["n_best"]) == 2
    assert [row[:2] for row in first["pairs"]] == [[0, 1], [0, 2], [1, 2]]
    assert set(first["rounds"][0]) == {"weights", "undecided"}
    assert second["order"] == [0] and second["confidence"] == 1


def test_constraints_hold(run: Run, model: Path) -> None:
    for fixed in range(3):
        answer = run("order", "-m", model, "-f", "json", "--fixed", f"0:{fixed}", stdin="\n".join(STORY))
        assert json.loads(answer.out)["order"][0] == fixed
    for before in ("0,1", "1,0"):
        order = json.loads(run("order", "-m", model, "-f", "json", "--before", before, stdin="\n".join(STORY)).out)[
            "order"
        ]
        first, second = map(int, before.split(","))
        assert order.index(first) < order.index(second)
    for sources, first, second in (("a,,a", 0, 2), ("b,b,c", 0, 1), (",d,d", 1, 2)):
        answer = run("order", "-m", model, "-f", "json", "--sources", sources, stdin="\n".join(STORY))
        order = json.loads(answer.out)["order"]
        assert order.index(first) < order.index(second)
    assert "sources: 1 given for" in run("order", "-m", model, "--sources", "a", stdin="\n".join(STORY)).complaint


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--before", "0-1"], "expected two numbers"),
        (["--fixed", "x:1"], "expected two numbers"),
        (["--before", "0,9"], "3 sentences"),
        (["--before", "0,1", "--before", "1,0"], "cycle"),
        (["--beam", "0"], "--beam"),
        (["--beam", "2", "--n-best", "3"], "n_best is 3, but a beam of 2 finds no more than 2."),
        (["--keep-if-unsure", "2"], "keep_if_unsure is 2.0"),
        (["--keep-if-unsure", "high"], "--keep-if-unsure high"),
        (["--input", "word"], "--input"),
        (["--device", "toaster"], "toaster"),
        (["--parser", "no_such_parser"], "no_such_parser"),
        (["--text", "A.", "also.txt"], "one of the two"),
        (["--judge-model", "x"], "--judge-model: there is no judge to ask. Add --judge."),
        (["--judge-cache", "x"], "--judge-cache: there is no judge"),
        (["--judge-trust", "x.json"], "--judge-trust: there is no judge"),
        (["--questions", "3"], "--questions: there is no judge"),
        (["--unit", "paragraph", "--input", "lines"], "the format 'lines' has sentences only. Use --input text."),
        (["a.txt", "b.txt"], "Give one file at a time, or order-files for many. See unshuffle order --help."),
        (["--out", "."], ".: this is a folder. Give the name of a file."),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_wrong_options_are_one_line(run: Run, model: Path, arguments: list[str], said: str) -> None:
    answer = run("order", "-m", model, *arguments, stdin="\n".join(STORY))
    assert said in answer.complaint and answer.out == ""


def test_an_unsure_order_is_left_alone(run: Run, model: Path) -> None:
    answer = run("order", "-m", model, "--keep-if-unsure", 1, stdin="\n".join(STORY))
    assert answer.out.splitlines() == STORY


def test_the_answer_can_go_to_a_file(run: Run, model: Path, tmp_path: Path) -> None:
    answer = run("order", "-m", model, "-o", tmp_path / "out.txt", stdin="\n".join(STORY))
    assert answer.out == ""
    assert sorted((tmp_path / "out.txt").read_text().splitlines()) == sorted(STORY)


def test_an_answer_makes_no_folders(run: Run, model: Path, tmp_path: Path) -> None:
    said = run("order", "-m", model, "-o", tmp_path / "new" / "out.txt", stdin="\n".join(STORY)).complaint
    assert f"there is no folder {tmp_path / 'new'}" in said and not (tmp_path / "new").exists()


def test_text_in_another_language_gets_an_answer_and_a_warning(
    run: Run, model: Path, recwarn: pytest.WarningsRecorder
) -> None:
    german = "Die Katze sitzt auf dem Dach.\nAm Abend kommt der Nachbar und bringt ihr Milch.\nDann geht er nach Hause."
    answer = run("order", "-m", model, stdin=german)
    assert answer.code == 0 and len(answer.out.splitlines()) == 3
    assert answer.err.count("not look like English") == 1
    assert not [told for told in recwarn if issubclass(told.category, UserWarning)]


def test_results_come_while_input_is_still_read(run: Run, model: Path, tmp_path: Path) -> None:
    from unshuffle.graph.prepare import DOCUMENTS, FIRST

    whole = sum(FIRST) + DOCUMENTS
    broken = tmp_path / "long.jsonl"
    broken.write_text('["One.", "Two."]\n' * (whole + 5) + "oops\n")
    answer = run("order", "-m", model, broken)
    assert answer.code == 2 and answer.out.count("One.") == whole


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(run: Run, model: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    said = run("order", "-m", model, "-o", tmp_path / "out.txt", stdin="\n".join(STORY)).complaint
    assert f"nothing can be written to the folder {tmp_path}" in said


def test_a_file_that_may_not_be_read_is_not_called_full(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(path: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "secret").write_text("One. Two.")
    with monkeypatch.context() as patched:
        patched.setattr("unshuffle.cli.reading.Path.open", forbidden)
        said = run("order", "-m", model, tmp_path / "secret").complaint
    assert said.endswith("secret: it cannot be read (Permission denied). Check the file.")


def test_a_text_of_very_many_sentences_gets_an_answer_and_one_line(run: Run, model: Path) -> None:
    document = json.dumps([f"The {number}th boat left the harbour." for number in range(61)])
    answer = run("order", "-m", model, "-i", "jsonl", "--beam", 1, "--n-best", 1, stdin=f"{document}\n" * 2)
    first, second = answer.err.splitlines()
    assert answer.code == 0 and "The text has 61 sentences" in first and "2 documents" in second
