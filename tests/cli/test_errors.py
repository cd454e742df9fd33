"""Every command's errors are one line on stderr and exit code 2."""

import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.conftest import ROOT
from unshuffle.cli.commands import LABORATORY, OWN

NONE = "no/such/place"
WRONG: dict[str, list[list[str]]] = {
    "order": [
        [NONE],
        ["--text", "One. Two.", "--model", NONE],
        ["--text", "One. Two.", "--judge", NONE],
        ["--text", "One. Two.", "--judge", "http://localhost:9/v1"],
    ],
    "order-files": [[NONE, "--out", "{folder}"], ["{texts}", "--out", "{folder}", "--model", NONE]],
    "score": [[NONE], ["--text", "One. Two.", "--model", NONE]],
    "graph": [[NONE], ["--text", "One. Two.", "--out", "graph.bmp"]],
    "exercise": [[NONE], ["--text", "One. Two.", "--model", "{model}"], ["--text", "One. Two.", "--count", "99"]],
    "systems": [["--format", "xml"]],
    "train": [
        ["--system", "irse-grn", "--data", NONE, "--out", "{folder}"],
        ["--system", "nothing", "--data", "{folder}", "--out", "{folder}"],
        ["--system", "irse-grn", "--data", "{folder}"],
    ],
    "fine-tune": [[NONE, "--out", "{folder}"], ["{texts}", "--out", "{folder}", "--from", NONE]],
    "export": [[NONE, "--out", "{folder}"], ["{model}", "--out", "{folder}"]],
    "train-judge": [["--data", NONE, "--out", "{folder}"]],
    "trust-judge": [
        [NONE, "--judge", NONE, "--out", "{folder}/trust.json"],
        ["{texts}", "--judge", NONE, "--out", "{folder}/trust.json"],
        ["{texts}", "--judge", "http://localhost:9/v1", "--out", "{folder}/trust.json"],
    ],
    "evaluate": [[NONE], ["{texts}", "--model", NONE], ["--predictions", NONE]],
    "compare": [[NONE, NONE], ["{model}", "{model}"], ["{model}", "{model}", NONE], ["{texts}", "{texts}"]],
    "calibrate": [[NONE, "--model", "{model}"], ["{texts}", "--model", NONE]],
    "serve": [["--limit", "words"], ["--port", "0"], ["--model", NONE], ["--compare", NONE]],
    "mcp": [["--limit", "words"], ["--model", NONE]],
}


def test_every_command_is_tried() -> None:
    assert set(WRONG) == set(OWN)


@pytest.mark.parametrize(("command", "options"), [(command, one) for command in WRONG for one in WRONG[command]])
def test_a_wrong_call_is_one_line_and_code_2(
    run: Run, model: Path, tmp_path: Path, command: str, options: list[str]
) -> None:
    (tmp_path / "texts.jsonl").write_text('["One.", "Two.", "Three."]\n' * 12)
    places = {"folder": tmp_path, "texts": tmp_path / "texts.jsonl", "model": model}
    answer = run(command, *(option.format(**places) for option in options))
    assert answer.complaint.startswith("unshuffle: ") and answer.out == ""


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("torch", "train", ["train", "--system", "se-grn", "--data", "corpus", "--out", "made"]),
        ("torch", "train", ["fine-tune", "my.jsonl", "--out", "made"]),
        ("pyarrow", "parquet", ["order-files", "my.jsonl", "--out", "made"]),
    ],
)
def test_a_command_whose_extra_is_missing_says_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, extra: str, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.jsonl").write_text('{"id": "a", "sentences": ["One.", "Two."]}\n')
    monkeypatch.setitem(sys.modules, package, None)
    assert f"pip install '.[{extra}]'" in run(*arguments).complaint
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["order", "--beam", "0"], "See unshuffle order --help."),
        (["nothing"], "See unshuffle --help."),
        (["order", "--device", "gpu"], "--device gpu: there is no such device. Use cpu, cuda, mps or auto."),
        (["exercise", "--text", "One. Two.", "--out", "sheet.foo"], ".pdf, .docx, .xml, .gift, .json, .jsonl."),
    ],
)
def test_a_usage_error_says_where_to_look(run: Run, arguments: list[str], said: str) -> None:
    assert run(*arguments).complaint.endswith(said)


def test_a_model_of_the_current_folder_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"{tmp_path}/config.json: the file is missing" in run("order", "--text", "One. Two.", "-m", ".").complaint


@pytest.mark.parametrize("command", ["compare", "calibrate"])
def test_a_plot_that_cannot_be_drawn_is_refused_before_any_work(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("unshuffle.evaluation.reliability.find_spec", lambda name: None)
    (tmp_path / "texts.jsonl").write_text('["One.", "Two."]\n')
    models = [model, model] if command == "compare" else ["--model", model]
    said = run(command, *models, tmp_path / "texts.jsonl", "--plot", tmp_path / "plot.svg").complaint
    assert "needs the 'plot' extra" in said


def test_a_row_of_calibrate_is_called_after_its_file() -> None:
    from unshuffle.cli.calibrate import _advice, _name

    assert _name(Path("valid.jsonl"), ()) == "valid" and _name(Path("news/valid.jsonl"), ()) == "news-valid"
    assert _name(Path("news.jsonl"), ()) == "news" and _name(Path("a/news.jsonl"), ("news",)) == "a-news"
    assert _advice(1.0).startswith("No confidence has 80% of its pairs right here") and "0.99" in _advice(0.9999)


@pytest.mark.parametrize("options", [["{texts}"], ["--model", "x"], ["--orders", "x.gz"], ["--seed", "1"]])
def test_what_counts_only_for_a_model_is_refused_beside_predictions(
    run: Run, tmp_path: Path, options: list[str]
) -> None:
    given = (option.format(texts=tmp_path / "texts.jsonl") for option in options)
    said = run("evaluate", *given, "--predictions", tmp_path / "made.orders.jsonl.gz").complaint
    assert said.endswith(": no model is run with --predictions. Give one of the two.")


def test_a_command_of_the_laboratory_says_where_it_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unshuffle.cli.commands.Commands._search", lambda group: None)
    assert run("experiment").complaint == (
        "unshuffle: experiment: this command needs the laboratory. In a checkout: make setup."
    )


def test_the_commands_of_the_laboratory_are_known() -> None:
    described = tomllib.loads((ROOT / "research" / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(LABORATORY) == set(described["project"]["entry-points"]["unshuffle.commands"])
