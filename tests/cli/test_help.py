"""What the help shows, and that every way to ask for it works."""

import re

import pytest

from tests.cli.conftest import Run
from unshuffle.cli.commands import EXAMPLES, OWN, PANELS


def test_the_commands_are_grouped_by_what_they_are_for(run: Run) -> None:
    shown = run("-h").out
    assert shown == run("--help").out
    places = [shown.index(f"─ {panel} ") for panel in PANELS]
    assert places == sorted(places) and list(PANELS) == ["Use", "Train", "Measure", "Serve"]
    for panel, commands in PANELS.items():
        rest = shown[shown.index(f"─ {panel} ") :]
        inside = rest[: rest.index("╰")]
        assert all(f"│ {name} " in inside for name in commands)


@pytest.mark.parametrize("command", OWN)
def test_every_command_has_two_examples_and_names_no_python_types(run: Run, command: str) -> None:
    shown = run(command, "-h").out
    flowing = " ".join(shown.split())
    assert len(EXAMPLES[command]) == 2
    for example in EXAMPLES[command]:
        assert f"unshuffle {command}" in example and " ".join(example.split()) in flowing
    assert not re.search(r"<(str|int|float|bool|path|list|choice)", shown) and "list[" not in shown


@pytest.mark.parametrize("command", OWN)
def test_examples_use_options_that_exist(run: Run, command: str) -> None:
    shown = run(command, "--help").out.split("Examples:")[0]
    for example in EXAMPLES[command]:
        assert all(option in shown for option in re.findall(r"--[a-z-]+", example))


def test_the_shell_can_complete_commands_and_options(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_UNSHUFFLE_COMPLETE", "complete_bash")
    for words, place, found in (
        ("unshuffle ord", 1, ["order", "order-files"]),
        ("unshuffle order --keep", 2, ["--keep-if-unsure"]),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(place))
        assert run().out.split() == found
    monkeypatch.delenv("_UNSHUFFLE_COMPLETE")
    assert "--install-completion" in run("--help").out
