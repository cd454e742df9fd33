"""The commands `serve` and `exercise` read their options and call the library."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import unshuffle.serve.run
from tests.serve.fake import EXAMPLES, FakeOrderer
from unshuffle.cli.exercise import exercise
from unshuffle.cli.serve import read_limits, serve
from unshuffle.errors import ConfigError
from unshuffle.serve.settings import Settings

app = typer.Typer()
app.command()(serve)
app.command()(exercise)
runner = CliRunner()


@pytest.fixture(autouse=True)
def fake_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSHUFFLE_TOKEN", raising=False)
    monkeypatch.setattr("unshuffle.cli.reading.load_orderer", lambda *_, **__: FakeOrderer())


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    seen: list[Any] = []
    monkeypatch.setattr(unshuffle.serve.run, "listen", lambda _: [])
    monkeypatch.setattr(unshuffle.serve.run, "run", lambda _, settings, sockets, others: seen.append(settings))
    return seen


def test_options_become_settings(served: list[Settings]) -> None:
    result = runner.invoke(
        app,
        ["serve", "--port", "9000", "--allow-host", "order.example", "--limit", "sentences=9", "--window", "2"],
    )
    assert result.exit_code == 0, result.output
    (settings,) = served
    assert (settings.port, settings.allowed_hosts, settings.limits.sentences) == (9000, ("order.example",), 9)
    assert settings.batching.window == pytest.approx(0.002)
    assert "http://127.0.0.1:9000/" in result.output


def test_another_address_needs_the_token_of_the_environment(
    served: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = runner.invoke(app, ["serve", "--host", "0.0.0.0"])
    assert isinstance(refused.exception, ConfigError)
    monkeypatch.setenv("UNSHUFFLE_TOKEN", "a-token-of-some-length")
    assert runner.invoke(app, ["serve", "--host", "0.0.0.0"]).exit_code == 0
    assert served[0].token == "a-token-of-some-length"


@pytest.mark.parametrize("wrong", ["sentences", "sentences=", "sentences=x", "nothing=3", "sentences=-1"])
def test_a_wrong_limit_is_named(wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        read_limits([wrong])


def test_an_exercise_is_written_in_three_forms(tmp_path: Path) -> None:
    file = tmp_path / "story.txt"
    file.write_text(" ".join(EXAMPLES[0]["sentences"]), encoding="utf-8")
    text = runner.invoke(app, ["exercise", str(file), "--title", "A key"])
    assert text.exit_code == 0
    assert text.output.startswith("A key\n")
    assert "<h1>A key</h1>" in runner.invoke(app, ["exercise", str(file), "-f", "html", "--title", "A key"]).output
    assert json.loads(runner.invoke(app, ["exercise", str(file), "-f", "json"]).output)["unambiguous"] is True


def test_an_ambiguous_paragraph_is_said_so() -> None:
    text = "One is 1. Two is 2. Three is 3. The ambiguous one is 4. Five is 5."
    result = runner.invoke(app, ["exercise", "--text", text])
    assert result.exit_code == 1
    assert result.output.count("another order reads almost as well") == 1  # in the key, which is printed
    assert "Use --mend to do so, or --accept." in result.stderr
    mended = runner.invoke(app, ["exercise", "--mend", "--text", text])
    assert mended.exit_code == 0 and "Sentence 4" in mended.stdout and "--keep NUMBER" in mended.stderr
    assert runner.invoke(app, ["exercise", "--accept", "--text", text]).exit_code == 0


def test_a_sheet_and_its_key_are_files_of_their_own(tmp_path: Path) -> None:
    sheet, key = tmp_path / "sheet.html", tmp_path / "key.txt"
    options = ["--text", " ".join(EXAMPLES[0]["sentences"]), "--out", str(sheet), "--key", str(key), "--count", "2"]
    assert runner.invoke(app, ["exercise", *options]).exit_code == 0
    assert sheet.read_text().count("Name:") == 2 and "Answer key" not in sheet.read_text()
    assert "Answer key 2" in key.read_text() and "Name:" not in key.read_text()


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (["--accept", "--mend"], "Give one of the two"),
        (["--keep", "1"], "Add --mend"),
        (["--mend", "--keep", "9"], "no sentence 9"),
        (["--out", "sheet.odt"], "does not tell the format"),
        (["--format", "moodle", "--key", "key.txt"], "Leave --key out"),
    ],
)
def test_wrong_options_of_an_exercise_are_named(options: list[str], wrong: str) -> None:
    text = "One is 1. Two is 2. Three is 3. The ambiguous one is 4. Five is 5."
    result = runner.invoke(app, ["exercise", "--text", text, *options])
    assert isinstance(result.exception, ConfigError) and wrong in str(result.exception)
