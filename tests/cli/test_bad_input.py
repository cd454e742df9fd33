"""Every bad input of which one line is promised, and every odd one to which an order is."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from unshuffle.storage.files import write_json


def ordered(run: Run, model: Path, sentences: list[str], *options: object) -> dict[str, object]:
    answer = run("order", "-m", model, "-f", "json", "-i", "jsonl", *options, stdin=json.dumps(sentences) + "\n")
    assert answer.code == 0, answer.err
    found: dict[str, object] = json.loads(answer.out)
    assert sorted(found["order"]) == list(range(len(sentences)))  # type: ignore[call-overload]
    return found


@pytest.mark.parametrize("command", ["order", "score"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"sentences": []}', "no sentence"),
        (b'{"sentences": ["One.", ""]}', "sentence 2 is empty"),
        (b'{"sentences": "One."}', "not a list"),
        (b'{"words": "One."}', "'sentences' is missing"),
        (b'["caf\xe9"]', "not UTF-8"),
        (b"", "there are no sentences in it"),
        (b"\n\n", "there are no sentences in it"),
    ],
)
def test_a_broken_document_is_one_line(run: Run, model: Path, command: str, content: bytes, said: str) -> None:
    answer = run(command, "-m", model, "-i", "jsonl", stdin=content)
    assert said in answer.complaint and answer.out == ""


def test_plain_text_that_is_not_utf8_is_one_line(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Käse ist gut.".encode("latin-1"))
    assert "a.txt line 1: byte 2 is not UTF-8" in run("order", "-m", model, tmp_path / "a.txt").complaint


def test_line_41_of_a_million_is_named_at_once(run: Run, model: Path, tmp_path: Path) -> None:
    lines = ['["One.", "Two."]\n'] * 1_000_000
    lines[40] = '["One.", \n'
    (tmp_path / "big.jsonl").write_text("".join(lines))
    assert "big.jsonl line 41: it is not JSON" in run("order", "-m", model, tmp_path / "big.jsonl").complaint


def test_broken_lines_can_be_skipped_and_are_counted(run: Run, model: Path, tmp_path: Path) -> None:
    lines = ['["One."]\n'] * 60
    lines[40] = lines[50] = "oops\n"
    (tmp_path / "some.jsonl").write_text("".join(lines))
    answer = run("order", "-m", model, "--on-error", "skip", "-f", "json", tmp_path / "some.jsonl")
    assert answer.code == 0 and len(answer.out.splitlines()) == 58
    assert "line 41" in answer.err and "2 skipped, 58 read" in answer.err


def test_nothing_is_half_written(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "some.jsonl").write_text('["One.", "Two."]\n' * 300 + "oops\n")
    (tmp_path / "out.txt").write_text("old")
    assert "line 301" in run("order", "-m", model, tmp_path / "some.jsonl", "-o", tmp_path / "out.txt").complaint
    assert (tmp_path / "out.txt").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "some.jsonl"]


def test_a_full_disk_leaves_the_old_file(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "out.txt").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    answer = run("order", "-m", model, "-o", tmp_path / "out.txt", stdin="One.\nTwo.\n")
    assert "No space left" in answer.complaint
    assert (tmp_path / "out.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_missing_file_or_model_is_one_line(run: Run, model: Path, tmp_path: Path) -> None:
    assert "no such file" in run("order", "-m", model, tmp_path / "none.txt").complaint
    assert "a folder" in run("order", "-m", model, tmp_path).complaint
    assert "no such model folder" in run("order", "-m", tmp_path / "none", stdin="One.\n").complaint


@pytest.fixture
def broken(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model, tmp_path / "broken"))


def test_a_foreign_folder_is_one_line(run: Run, broken: Path) -> None:
    (broken / "config.json").write_text('{"model_type": "bert", "hidden_size": 768}')
    assert "not a model of this program" in run("order", "-m", broken, stdin="One.\n").complaint
    (broken / "config.json").unlink()
    assert "missing" in run("order", "-m", broken, stdin="One.\n").complaint


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_folder_is_one_line(run: Run, broken: Path, name: str, share: float) -> None:
    content = (broken / name).read_bytes()
    (broken / name).write_bytes(content[: int(len(content) * share)])
    assert name in run("order", "-m", broken, stdin="One.\nTwo.\n").complaint


@pytest.mark.parametrize(
    ("table", "key", "said"),
    [("paragraph_encoder", "stepz", "Did you mean 'steps'"), ("", "decodr", "Did you mean 'decoder'")],
)
def test_an_unknown_key_of_a_config_gets_a_hint(run: Run, broken: Path, table: str, key: str, said: str) -> None:
    described = json.loads((broken / "config.json").read_text())
    (described["system"][table] if table else described["system"])[key] = 3
    write_json(broken / "config.json", described)
    assert said in run("order", "-m", broken, stdin="One.\n").complaint


def test_a_config_cannot_name_a_parser_of_its_own(run: Run, broken: Path) -> None:
    described = json.loads((broken / "config.json").read_text())
    described["system"]["parser"] = "evil_package"
    write_json(broken / "config.json", described)
    assert "evil_package" in run("order", "-m", broken, stdin="One.\n").complaint


def test_a_broken_calibration_is_one_line(run: Run, broken: Path) -> None:
    (broken / "calibration.json").write_text('{"format": 1}')
    assert "calibration.json" in run("order", "-m", broken, stdin="One.\n").complaint


def test_one_sentence_is_in_order(run: Run, model: Path) -> None:
    assert ordered(run, model, ["Alone."])["order"] == [0]


def test_identical_sentences_are_ties(run: Run, model: Path) -> None:
    assert ordered(run, model, ["Same.", "Other one.", "Same."])["ties"] == [[0, 2]]


def test_500_sentences_are_put_in_order(run: Run, model: Path) -> None:
    ordered(run, model, [f"The {number}th boat left the harbour." for number in range(500)], "--beam", 2, "--n-best", 1)


def test_a_sentence_of_10_000_words_is_read(run: Run, model: Path) -> None:
    ordered(run, model, ["word " * 10_000 + "end.", "A short one."])


@pytest.mark.parametrize(
    "sentences",
    [
        ["🙂🙃", "👩‍👩‍👧‍👦 went home.", "🏳️‍🌈"],
        ["הגשם ירד כל הלילה.", "بحلول الصباح كان النهر مرتفعا.", "\u202eEnglish turned\u202c."],
        ["zero\u200bwidth\u200b.", "\u200b", "\ufeffmark", "\u00ad"],
        ["...", "!!!", "1234"],
        ["a\x00b", "tab\there", "line\u2028separator"],
    ],
)
def test_odd_text_is_answered(run: Run, model: Path, sentences: list[str]) -> None:
    ordered(run, model, sentences)
    answer = run("order", "-m", model, "-i", "jsonl", stdin=json.dumps(sentences) + "\n")
    assert answer.code == 0 and answer.out.strip()
