"""Something moves on a terminal; elsewhere only long trainings leave lines."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from unshuffle.cli import terminal
from unshuffle.cli.terminal import Pace, counted, spinner
from unshuffle.training.loop import Progress


def on_terminal(arguments: list[object], out: Path) -> str:
    """What a command writes to a terminal on stderr, with stdout in a file."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    with out.open("wb") as stdout:
        process = subprocess.Popen(
            [sys.executable, "-c", "from unshuffle.cli import main; main()", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm"},
        )
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # the other end is closed
            pass
        finally:
            os.close(ours)
        assert process.wait(timeout=120) == 0, shown
    return shown.decode()


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    (tmp_path / "d.jsonl").write_text('["One.", "Two."]\n' * 40)
    return tmp_path / "d.jsonl"


def test_a_terminal_sees_loading_and_documents_per_second(model: Path, documents: Path, tmp_path: Path) -> None:
    shown = on_terminal(["order", documents, "-m", model], tmp_path / "out.txt")
    assert "Loading the model" in shown and "documents/s" in shown
    assert (tmp_path / "out.txt").read_text().count("One.") == 40


def test_a_terminal_is_told_how_sure_a_single_order_is(model: Path, tmp_path: Path) -> None:
    line = json.dumps(["One.", "Two.", "Three."])
    (tmp_path / "one.jsonl").write_text(line)
    shown = on_terminal(["order", tmp_path / "one.jsonl", "-m", model, "-f", "json"], tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["headline"]["line"] in shown
    confidence = json.loads((tmp_path / "out.json").read_text())["confidence"]
    assert f"Confidence {confidence:.2f}.)" in shown


def test_a_terminal_is_told_how_sure_many_orders_are(model: Path, documents: Path, tmp_path: Path) -> None:
    shown = on_terminal(["order", documents, "-m", model, "-f", "json"], tmp_path / "out.json")
    found = [json.loads(line) for line in (tmp_path / "out.json").read_text().splitlines()]
    mean = sum(one["confidence"] for one in found) / len(found)
    unsure = sum(one["headline"]["level"] == "unsure" for one in found) or "none"
    assert f"(40 documents, mean confidence {mean:.2f}, unsure of {unsure}.)" in shown
    assert "right way round" not in shown


def test_nothing_moves_in_a_file(run: Run, model: Path, documents: Path) -> None:
    for command in (["order"], ["score", "-f", "json"], ["evaluate", "--shuffles", "1", "-f", "json"]):
        assert run(*command, documents, "-m", model).err == ""


def test_results_pass_unchanged() -> None:
    assert list(counted(iter([1, None, 3]), "Counting")) == [1, None, 3]
    with spinner("Waiting") as status:
        Pace(status).plan(2)
        assert status is None


def test_the_time_left_follows_from_the_parts_done() -> None:
    class Status:
        text = ""

        def update(self, text: str) -> None:
            self.text = text

    status = Status()
    pace = Pace(status)
    pace.plan(2)
    pace.add(1_500)
    assert "1,500 documents" in status.text and status.text.endswith("left")
    pace.add(500)
    assert "2,000 documents" in status.text and "0:00:00 left" in status.text


@pytest.mark.parametrize(("quiet", "lines"), [(0.0, 3), (1e9, 1)])
def test_a_log_hears_of_an_epoch_that_takes_long_before_it_ends(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], quiet: float, lines: int
) -> None:
    monkeypatch.setattr(terminal, "QUIET", quiet)
    with terminal.StageBars() as bars:
        for step in (1, 2):
            bars(Progress("judge", 0, 6, 1000 * step, 2500, 0.5))
        bars(Progress("judge", 0, 6, 2500, 2500, 0.4, 61.25, 61.25))
    told = capfd.readouterr().err.splitlines()
    assert len(told) == lines and told[-1] == "judge epoch 1: loss 0.4000, valid 61.25 (best 61.25)"
    assert told[0] in ("judge epoch 1: step 1,000 of 2,500, loss 0.5000", told[-1])


def test_evaluate_gives_intervals(run: Run, model: Path, documents: Path, tmp_path: Path) -> None:
    found = json.loads(run("evaluate", "-m", model, documents, "-f", "json").out)
    lower, upper = found["interval"]["tau"]
    assert lower <= found["tau"] <= upper
    assert "95% interval" in run("evaluate", "-m", model, documents).out
    (tmp_path / "one.jsonl").write_text('["One.", "Two."]\n')
    assert json.loads(run("evaluate", "-m", model, tmp_path / "one.jsonl", "-f", "json").out)["interval"] == {}


def test_evaluate_leaves_out_documents_of_one_sentence(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "some.jsonl").write_text('["One.", "Two."]\n' * 3 + '["Alone."]\n' * 2)
    (tmp_path / "alone.jsonl").write_text('["Alone."]\n')
    found = json.loads(run("evaluate", "-m", model, tmp_path / "some.jsonl", "-f", "json").out)
    assert (found["documents"], found["left_out"]) == (3, 2)
    assert "left out, of one sentence" in run("evaluate", "-m", model, tmp_path / "some.jsonl").out
    assert "left out, because" in run("compare", model, model, tmp_path / "some.jsonl").err
    assert "nothing to order" in run("evaluate", "-m", model, tmp_path / "alone.jsonl").complaint
