import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.fixtures.documents import STORIES
from tests.fixtures.systems import tiny_transformer
from unshuffle.errors import DataError
from unshuffle.system.rows import system_names

STORY = "\n".join(STORIES[0])


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [json.dumps({"id": str(number), "sentences": STORIES[number % 8]}) for number in range(48)]
    (tmp_path / "my.jsonl").write_text("\n".join(rows))
    return tmp_path / "my.jsonl"


def test_score_speaks_to_people_and_to_programs(run: Run, model: Path) -> None:
    text = run("score", "-m", model, stdin=STORY).out
    assert "% of other orders" in text and re.search(r"3 → 4\s+[01]\.\d\d", text)
    found = json.loads(run("score", "-m", model, "-f", "json", stdin=STORY).out)
    assert {"id", "probability", "log_probability", "percentile", "verdict", "transitions", "moves"} == set(found)
    assert len(found["transitions"]) == 3
    assert "no other order" in run("score", "-m", model, stdin=STORIES[0][0]).out
    paragraphs = run("score", "-m", model, "--unit", "paragraph", stdin="\n\n".join(reversed(STORIES[0]))).out
    assert "position" in paragraphs or "no single move" in paragraphs
    assert "sentence" not in paragraphs


def test_systems_lists_every_row(run: Run) -> None:
    rows = json.loads(run("systems", "--format", "json").out)
    assert [row["name"] for row in rows] == system_names()
    assert all({"name", "title", "paper", "year", "parts"} <= set(row) for row in rows)
    assert set(rows[0]["parts"]) == {"sentence_encoder", "paragraph_encoder", "refiner", "decoder"}
    table = run("systems").out
    assert all(name in table for name in system_names())


def test_graph_draws_svg_dot_json_and_png(run: Run, model: Path, tmp_path: Path) -> None:
    svg = run("graph", "-m", model, stdin=STORY).out
    assert ElementTree.fromstring(svg).tag.endswith("svg") and "After refinement" in svg
    for kind, start in {"svg": b"<svg", "dot": b"digraph", "json": b"{", "png": b"\x89PNG"}.items():
        if kind == "png":
            pytest.importorskip("matplotlib")
        assert run("graph", "-m", model, "-o", tmp_path / f"a.{kind}", stdin=STORY).code == 0
        assert (tmp_path / f"a.{kind}").read_bytes().startswith(start)
    assert ".gif" in run("graph", "-m", model, "-o", "a.gif", stdin=STORY).complaint
    assert "fewer documents" in run("graph", "-m", model, "--number", 3, stdin=STORY).complaint


def test_evaluate_gives_figures_in_percent(run: Run, model: Path, corpus: Path) -> None:
    found = json.loads(run("evaluate", "-m", model, "--shuffles", 2, "--format", "json", corpus).out)
    assert {"tau", "pmr", "acc_micro", "acc_macro", "head", "tail", "documents"} <= set(found)
    assert found["documents"] == 48 and found["shuffles"] == 2 and -100 <= found["tau"] <= 100
    assert "tau" in run("evaluate", "-m", model, "--shuffles", 1, corpus).out


def test_evaluate_needs_something_to_score(run: Run, tmp_path: Path) -> None:
    assert "nothing to score" in run("evaluate").complaint
    assert "no such file" in run("evaluate", "--predictions", tmp_path / "none.jsonl").complaint
    (tmp_path / "empty.jsonl").write_text("")
    assert "no document" in run("evaluate", tmp_path / "empty.jsonl").complaint


def test_calibrate_writes_into_the_model_folder(run: Run, model: Path, corpus: Path, tmp_path: Path) -> None:
    import shutil

    pytest.importorskip("matplotlib")
    folder = Path(shutil.copytree(model, tmp_path / "model"))
    answer = run("calibrate", corpus, "-m", folder, "--plot", tmp_path / "reliability.svg")
    assert answer.code == 0 and "my" in answer.out
    assert json.loads((folder / "calibration.json").read_text())["format"] == 1
    assert "<svg" in (tmp_path / "reliability.svg").read_text()
    calibrated = json.loads(run("order", "-m", folder, "-f", "json", stdin=STORY).out)
    assert 0 < calibrated["confidence"] < 1


def test_calibrate_finds_precisions_that_lose_nothing(run: Run, model: Path, corpus: Path, tmp_path: Path) -> None:
    import shutil

    folder = Path(shutil.copytree(model, tmp_path / "model"))
    results = tmp_path / "errors.json"
    answer = run("calibrate", corpus, "-m", folder, "--fewer-bits", "--results", results)
    assert answer.code == 0, answer.err
    measured = json.loads(results.read_text())["fewer_bits"]
    harmless = [bits for bits, kinds in measured.items() if all(each["tau"] >= -0.2 for each in kinds.values())]
    assert json.loads((folder / "calibration.json").read_text())["harmless"] == harmless
    assert "bf16" in measured and "bf16: " in answer.out


def test_calibrate_refuses_too_few_documents(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "few.jsonl").write_text(json.dumps(STORIES[0]) + "\n")
    assert "too few" in run("calibrate", tmp_path / "few.jsonl", "-m", model).complaint
    assert not (model / "calibration.json").exists()


def test_fine_tune_makes_a_model_and_says_what_it_gained(run: Run, model: Path, corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("lightning_fabric")
    out = tmp_path / "mine"
    options = ("--from", model, "--out", out, "--set", "epochs=2", "--format", "json")
    tested = ("--test", corpus, "--results", tmp_path / "figures")
    answer = run("fine-tune", corpus, *options, *tested)
    assert answer.code == 0, answer.err
    found = json.loads(answer.out.splitlines()[-1])
    assert found["documents"] == 43 and found["held_out"] == 5
    assert {"tau", "pmr", "acc_micro"} <= set(found["before"]) & set(found["after"])
    for part in (found, found["test"]):
        gain, lower, upper = part["gain"]["tau"]
        assert gain == pytest.approx(part["after"]["tau"] - part["before"]["tau"], abs=0.01) and lower <= gain <= upper
    (written,) = (tmp_path / "figures").glob("*.json")
    result = json.loads(written.read_text())
    assert result["test"] == found["test"]["after"] and result["notes"]["before"] == found["test"]["before"]
    orders = written.with_suffix(".orders.jsonl.gz")
    again = json.loads(run("evaluate", "--predictions", orders, "--format", "json").out)
    assert again["tau"] == pytest.approx(result["test"]["tau"], abs=0.01)
    assert run("order", "-m", out, stdin=STORY).code == 0
    card = (out / "README.md").read_text()
    assert card.startswith("# mine\n\nThe model `tiny`, fine-tuned") and "| test |" in card and "## Licence" in card
    assert "there is already a model" in run("fine-tune", corpus, *options).err
    assert not (out / "stages").exists()


def test_fine_tune_shows_before_after_and_the_interval_of_the_gain(
    run: Run, model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lightning_fabric")
    from unshuffle.evaluation.predict import Prediction, figures, gains
    from unshuffle.training.adaptation import FineTuned

    old, new = (tuple(Prediction(str(one), 0, order) for one in range(9)) for order in ((1, 0, 2), (0, 1, 2)))
    report = FineTuned(figures(old), figures(new), 40, 9, True, None, gains(old, new))
    monkeypatch.setattr("unshuffle.training.finetune.fine_tuned", lambda *given: report)
    shown = run("fine-tune", corpus, "--from", model, "--out", tmp_path / "x").out
    assert re.search(r"pmr +0\.00 +100\.00 +\+100\.00 +100\.00 to 100\.00", shown)


def test_a_resumed_fine_tuning_counts_the_minutes_of_all_its_calls(
    run: Run, model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lightning_fabric")
    options = (corpus, "--from", model, "--out", tmp_path / "mine", "--set", "epochs=2", "--format", "json")
    tested = ("--test", corpus, "--results", tmp_path / "figures")

    def cut_off(*arguments: object) -> None:
        raise DataError("cut off")

    with monkeypatch.context() as patch:
        patch.setattr("unshuffle.training.finetune.save_model", cut_off)
        assert "cut off" in run("fine-tune", *options, *tested).err
    assert run("fine-tune", *options, *tested, "--resume").code == 0
    (written,) = (tmp_path / "figures").glob("*.json")
    assert json.loads(written.read_text())["minutes"] > 0


def test_fine_tune_refuses_what_cannot_be(run: Run, model: Path, corpus: Path, tmp_path: Path) -> None:
    assert "already" in run("fine-tune", corpus, "--from", model, "--out", model).complaint
    (tmp_path / "few.jsonl").write_text(json.dumps(STORIES[0]) + "\n")
    said = run("fine-tune", tmp_path / "few.jsonl", "--from", model, "--out", tmp_path / "x").complaint
    assert "only 1 document has two sentences or more" in said
    said = run("fine-tune", corpus, "--from", model, "--out", tmp_path / "x", "--results", tmp_path).complaint
    assert "Add --test FILE" in said
    (tmp_path / "short.jsonl").write_text(json.dumps(["Alone."]) + "\n")
    said = run(
        "fine-tune", corpus, "--from", model, "--out", tmp_path / "x", "--valid", tmp_path / "short.jsonl"
    ).complaint
    assert "no document of --valid" in said
    wrong = run("fine-tune", corpus, "--from", model, "--out", tmp_path / "x", "--set", "epoch=2").err
    assert "Did you mean 'epochs'" in wrong
    assert not (tmp_path / "x" / "config.json").exists()


def test_train_takes_a_transformer_from_a_folder(run: Run, corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("lightning_fabric")
    pytest.importorskip("transformers")
    data, encoder = tmp_path / "data", tiny_transformer(tmp_path / "encoder")
    data.mkdir()
    for split in ("train", "valid", "test"):
        (data / f"{split}.jsonl").write_text("\n".join(corpus.read_text().splitlines()[:8]))
    options = ("train", "--system", "ranktxnet", "--data", data, "--set", "training.epochs=1")
    trained = run(*options, "--out", tmp_path / "model", "--encoder", encoder)
    assert trained.code == 0 and re.search(r"tau +-?\d+\.\d\d +-?\d+\.\d\d to -?\d+\.\d\d", trained.out)
    kept = json.loads((tmp_path / "model" / "config.json").read_text())
    assert str(encoder) not in json.dumps(kept)  # the folder holds the weights
    own = json.loads((encoder / "config.json").read_text())["hidden_size"]
    assert kept["system"]["sentence_encoder"]["architecture"]["hidden_size"] == own
    missing = run(*options, "--out", tmp_path / "other", "--encoder", tmp_path / "none")
    assert missing.code == 2 and "there is no folder" in missing.complaint


def test_compare_takes_models_and_predictions(run: Run, model: Path, corpus: Path, tmp_path: Path) -> None:
    orders = tmp_path / "narrow.orders.jsonl.gz"
    assert run("evaluate", "-m", model, "--shuffles", 2, "--beam", 1, "--orders", orders, corpus).code == 0
    found = json.loads(run("compare", orders, model, corpus, "--shuffles", 2, "--format", "json").out)
    assert (found["first"], found["second"], found["documents"]) == ("narrow", "tiny", 48)
    earlier = json.loads(run("evaluate", "--predictions", orders, "--format", "json").out)
    assert found["measures"]["tau"]["first"] == pytest.approx(earlier["tau"], abs=1e-3)
    shown = run("compare", orders, orders).out
    assert re.search(r"tau_pooled\s+\S+\s+\S+\s+\+0\.00\s+0\.00 to 0\.00\s+1\.000", shown) and "sentences" in shown
    assert "not measured on the same" in run("compare", orders, model, corpus, "--shuffles", 1).complaint
    assert "Name a file of documents" in run("compare", model, orders).complaint
    assert "nowhere" in run("compare", model, "nowhere", corpus).complaint
    assert "kind of picture" in run("compare", orders, orders, "--plot", tmp_path / "a.gif").complaint


def test_the_verdict_on_an_exercise_is_printed_once(run: Run, model: Path, tmp_path: Path) -> None:
    text = "Mia picked an apple. She washed the apple. Then she ate it. It was sweet. She smiled."
    shown = run("exercise", "-m", model, "--text", text, "--margin", "1")
    assert shown.code == 1 and "Check this exercise before you use it" in shown.out
    assert "The order is ambiguous" not in shown.err and "--accept" in shown.err
    filed = run("exercise", "-m", model, "--text", text, "--margin", "1", "--out", tmp_path / "sheet.txt")
    assert "The order is ambiguous" in filed.err


def test_sheets_and_key_of_an_exercise_are_written_both_or_not_at_all(run: Run, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("fpdf")
    text = "Mia picked an apple. She washed the apple. Then she paid ten złoty. It was sweet. She smiled."
    ask = ("exercise", "-m", model, "--text", text, "--accept", "--out", tmp_path / "sheet.txt", "--key")
    (tmp_path / "link.txt").symlink_to(tmp_path / "sheet.txt")
    for same in ("sheet.txt", "link.txt"):
        assert "--out writes to that file too" in run(*ask, tmp_path / same).complaint
    assert "U+0142" in run(*ask, tmp_path / "key.pdf", "--title", "Złoty").complaint
    assert not (tmp_path / "sheet.txt").exists()
    assert run(*ask, tmp_path / "key.txt").code == 0
    assert "Name:" in (tmp_path / "sheet.txt").read_text() and "Name:" not in (tmp_path / "key.txt").read_text()
