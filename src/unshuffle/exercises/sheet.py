"""What stands on a pupil's sheet and in the answer key, whatever the file format."""

from __future__ import annotations

import re
from dataclasses import dataclass

from unshuffle.exercises.exercise import Exercise, label

TITLE = "Put the sentences in order"
INSTRUCTION = (
    "Put the sentences in the order in which they make sense. "
    "Write 1 on the line before the sentence that comes first, 2 before the next, and so on."
)

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Booklet:
    """Exercises with a heading; each sheet is a page of its own, and so is the answer key."""

    exercises: tuple[Exercise, ...]
    title: str = TITLE
    sheets: bool = True
    """Whether the pupils' sheets are written."""
    key: bool = True
    """Whether the answer key is written, after all sheets."""

    def numbered(self, name: str, number: int) -> str:
        """`name`, with the number of the sheet where there are several."""
        return f"{name} {number}" if len(self.exercises) > 1 else name

    @property
    def paragraphs(self) -> tuple[Exercise, ...]:
        """One exercise per paragraph, for programs that shuffle by themselves."""
        return tuple({exercise.paragraph: exercise for exercise in self.exercises}.values())


def answer(exercise: Exercise) -> str:
    """The labels in reading order."""
    return " ".join(label(item) for item in exercise.solution)


def blanks(exercise: Exercise) -> str:
    """The numbers that belong on the lines, from the top of the sheet to its foot."""
    return ", ".join(f"{label(item)} {exercise.solution.index(item) + 1}" for item in range(len(exercise.items)))


def notes(exercise: Exercise) -> list[str]:
    """What the teacher should know, a paragraph each."""
    lines = [f"Difficulty: {exercise.difficulty}."]
    if exercise.unambiguous:
        lines.append(
            f"The right order leads every other by {exercise.margin:.2f} on a scale from 0 (as likely) to 1 (certain)."
        )
    else:
        lines.append(f"Check this exercise before you use it: {exercise.reason}.")
    if exercise.rival is not None:
        lines.append(exercise.rival.why)
    if exercise.changes:
        lines.append("Changed to make the order clear. " + ". ".join(exercise.changes) + ".")
    return lines


def printable(text: str) -> str:
    """Without the control characters and lone surrogates that neither paper nor XML can hold."""
    return _UNPRINTABLE.sub("", text)
