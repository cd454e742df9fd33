"""Ctrl-C ends a command with one line and, where the work is kept, with how to go on."""

import pytest

from tests.cli.conftest import Run
from unshuffle.cli.commands import GO_ON, LABORATORY, OWN, RESUME, SAME


@pytest.mark.parametrize(
    ("arguments", "where", "said"),
    [
        (["order", "--text", "One. Two."], "unshuffle.cli.reading.load_orderer", "Stopped."),
        (["order-files", "x.jsonl", "-o", "made"], "unshuffle.bulk.order_files.order_files", f"Stopped. {SAME}"),
        (
            ["train", "--system", "se-grn", "--data", "x", "--out", "made"],
            "unshuffle.training.corpus.check_splits",
            f"Stopped. {RESUME}",
        ),
    ],
)
def test_a_command_that_is_stopped_says_so_and_how_to_go_on(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], where: str, said: str
) -> None:
    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, pressed)
    answer = run(*arguments)
    assert (answer.code, answer.out, answer.err) == (130, "", f"{said}\n")


def test_resume_is_said_of_commands_that_have_it() -> None:
    for name in GO_ON:
        assert name in OWN or name in LABORATORY
    for name in set(GO_ON) & set(OWN):
        has_it = "resume" in OWN[name].load().__annotations__
        assert GO_ON[name] == (RESUME if has_it else SAME)
