"""Scrambled-sentence exercises whose solution the model finds unambiguous."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

from unshuffle.errors import ConfigError, DataError
from unshuffle.exercises.exercise import Difficulty, Exercise, ExerciseKeywords, ExerciseOptions
from unshuffle.exercises.mend import FEWEST, Paragraph, Piece, changed, in_words
from unshuffle.exercises.scramble import arrangements, scrambles
from unshuffle.exercises.verdict import OrdersMany, Verdict, rival_shown, verdicts
from unshuffle.steps import Steps, finish

PROPOSALS = 3


def make_exercise(
    orderer: OrdersMany,
    sentences: Sequence[str],
    options: ExerciseOptions | None = None,
    **changes: Unpack[ExerciseKeywords],
) -> Exercise:
    """One exercise from a paragraph in its right order; see `make_exercises`."""
    wanted = replace(replace(options or ExerciseOptions(), **changes), count=1)
    return make_exercises(orderer, sentences, wanted)[0]


def make_exercises(
    orderer: OrdersMany,
    sentences: Sequence[str],
    options: ExerciseOptions | None = None,
    **changes: Unpack[ExerciseKeywords],
) -> tuple[Exercise, ...]:
    """Exercises from a paragraph in its right order, each in another arrangement.

    Where mending is wanted and nothing makes the order unambiguous, the paragraph stays as it is; so it does where
    nothing would leave sentences enough for as many arrangements.
    """
    return finish(exercise_steps(orderer, sentences, replace(options or ExerciseOptions(), **changes)))


def exercise_steps(
    orderer: OrdersMany, sentences: Sequence[str], options: ExerciseOptions
) -> Steps[tuple[Exercise, ...]]:
    """The same in steps, in each of which the model orders one paragraph or some short ones."""
    seed, margin, keep, count = options.seed, options.margin, options.keep, options.count
    if len(sentences) < FEWEST:
        raise DataError(f"exercise: {_count(len(sentences))} too few. Give at least {FEWEST}.")
    if outside := [position for position in keep if not 0 <= position < len(sentences)]:
        raise ConfigError(f"exercise: there is no sentence {outside[0] + 1} to keep. Count from 1 to {len(sentences)}.")
    paragraph = tuple(Piece(text, (position,)) for position, text in enumerate(sentences))
    verdict = yield from _judged(orderer, paragraph, seed, margin)
    if verdict.unambiguous:
        return _exercises(paragraph, verdict, seed, count)
    yield
    tried = yield from changed(orderer, paragraph, seed, margin, keep)
    helpful = [one.proposal for one in tried if one.solves or one.margin > verdict.margin]
    done: list[str] = []
    while options.mend and tried and count <= arrangements(len(tried[0].result)):
        best = tried[0]
        done.append(in_words(best.change, best.proposal.sentences, tuple(one.text for one in best.pieces), done=True))
        yield
        mended = yield from _judged(orderer, best.result, seed, margin)
        if mended.unambiguous:
            return tuple(replace(one, changes=tuple(done)) for one in _exercises(best.result, mended, seed, count))
        yield
        tried = yield from changed(orderer, best.result, seed, margin, keep)
    return tuple(
        replace(one, proposals=tuple(helpful[:PROPOSALS])) for one in _exercises(paragraph, verdict, seed, count)
    )


def paragraphs_tried(size: int, *, mend: bool) -> Iterator[tuple[int, int]]:
    """Rows (sentences, paragraphs) of what has to be put in order for an exercise, at worst."""
    yield size, 1
    for length in range(size, FEWEST, -1):
        yield length - 1, 2 * length - 1
        if not mend:
            return
        yield length - 1, 1


def difficulty_of(margin: float, size: int) -> Difficulty:
    """Longer exercises are harder, and so are those where another order nearly reads as well."""
    hardness = (1 - margin) + 0.1 * (size - FEWEST)
    return "easy" if hardness < 0.35 else "medium" if hardness < 0.75 else "hard"


def _judged(orderer: OrdersMany, paragraph: Paragraph, seed: int, margin: float) -> Steps[Verdict]:
    (shown,) = scrambles(len(paragraph), seed)
    (verdict,) = yield from verdicts(orderer, [tuple(piece.text for piece in paragraph)], shown, margin)
    return verdict


def _exercises(paragraph: Paragraph, verdict: Verdict, seed: int, count: int) -> tuple[Exercise, ...]:
    return tuple(
        Exercise(
            items=tuple(paragraph[position].text for position in shown),
            solution=tuple(shown.index(position) for position in range(len(paragraph))),
            unambiguous=verdict.unambiguous,
            margin=verdict.margin,
            difficulty=difficulty_of(verdict.margin, len(paragraph)),
            seed=seed,
            reason=verdict.reason,
            rival=rival_shown(verdict, shown),
        )
        for shown in scrambles(len(paragraph), seed, count)
    )


def _count(sentences: int) -> str:
    return "1 sentence is" if sentences == 1 else f"{sentences} sentences are"
