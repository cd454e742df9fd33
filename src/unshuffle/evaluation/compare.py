"""Two systems on the same documents: how much one is ahead of the other, and whether that could be chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unshuffle.errors import DataError
from unshuffle.evaluation.predict import Prediction, gains, intervals
from unshuffle.evaluation.reliability import check_picture, save_picture
from unshuffle.metrics.bootstrap import Comparison

GROUPS = 6
"""Groups of like length, at most."""
FEWEST = 10
"""Documents below which a group is joined to its neighbour."""
DIGITS = 4


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure, in percent, of both systems; `gain` is the second less the first."""

    first: float
    second: float
    gain: Comparison

    @property
    def certain(self) -> bool:
        """Whether the interval of the gain leaves out zero."""
        return self.gain.lower > 0 or self.gain.upper < 0


@dataclass(frozen=True, slots=True)
class LengthGroup:
    """Documents of like length, and how the systems differ in tau on them."""

    shortest: int
    longest: int
    documents: int
    tau: Difference

    @property
    def name(self) -> str:
        """Numbers of sentences, such as "4 to 6"."""
        return str(self.shortest) if self.shortest == self.longest else f"{self.shortest} to {self.longest}"


@dataclass(frozen=True, slots=True)
class Compared:
    """Two systems on the same documents and shuffles."""

    first: str
    second: str
    documents: int
    shuffles: int
    measures: dict[str, Difference]
    lengths: tuple[LengthGroup, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON object, figures rounded."""
        found: dict[str, Any] = _rounded(asdict(self))
        return found


def compare(
    first: Sequence[Prediction], second: Sequence[Prediction], names: tuple[str, str] = ("first", "second")
) -> Compared:
    """Every measure of both sets of predictions, the difference with its 95% interval, and tau by length."""
    if not first:
        raise DataError("compare: there is no prediction. Give at least two documents.")
    one, other = _by_document(first), _by_document(second)
    if one.keys() != other.keys():
        raise DataError(
            f"compare: {names[0]} and {names[1]} were not measured on the same documents and shuffles. "
            "Give two models and a file, or predictions of the same ones."
        )
    measures = _differences(first, [other[key] for key in one])
    if not measures:
        raise DataError("compare: one document says nothing about the rest. Give at least two.")
    groups = []
    for lengths in _groups([len(each.order) for each in first if each.shuffle == first[0].shuffle]):
        keys = [key for key in one if key[2] in lengths]
        tau = _differences([one[key] for key in keys], [other[key] for key in keys])["tau"]
        documents = sum(key[1] == first[0].shuffle for key in keys)
        groups.append(LengthGroup(min(lengths), max(lengths), documents, tau))
    shuffles = len({each.shuffle for each in first})
    return Compared(*names, len(first) // shuffles, shuffles, measures, tuple(groups))


def write_comparison(found: Compared, path: Path) -> None:
    """A picture: the gain in each measure with its interval, and tau by length."""
    check_picture(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    gain, length = figure.subplots(1, 2, width_ratios=(1, 1.1))
    for row, one in enumerate(found.measures.values()):
        color = "#1b6ca8" if one.certain else "#8b97a3"
        gain.plot([one.gain.lower, one.gain.upper], [row, row], color=color, lw=2)
        gain.plot(one.gain.difference, row, "o", color=color, ms=5)
    gain.axvline(0, color="#a9b3bd", lw=1, ls="--")
    gain.set_yticks(range(len(found.measures)), list(found.measures), fontsize=9)
    gain.invert_yaxis()
    gain.set_xlabel(f"{found.second} less {found.first}, with 95% interval (grey: could be none)", fontsize=9)
    columns = range(len(found.lengths))
    for color, name, values in (
        ("#d1495b", found.first, [group.tau.first for group in found.lengths]),
        ("#1b6ca8", found.second, [group.tau.second for group in found.lengths]),
    ):
        length.plot(columns, values, "o-", color=color, lw=1.4, ms=5, label=name)
    length.set_xticks(columns, [f"{group.name}\n({group.documents})" for group in found.lengths], fontsize=9)
    length.set_xlabel("sentences (documents)", fontsize=9)
    length.set_ylabel("tau", fontsize=9)
    length.legend(fontsize=9, frameon=False)
    for axes in (gain, length):
        axes.tick_params(labelsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    save_picture(figure, path)


def _by_document(predictions: Sequence[Prediction]) -> dict[tuple[str, int, int, int], Prediction]:
    """By id, shuffle and length, those that share all three numbered as they come."""
    times: Counter[tuple[str, int, int]] = Counter()
    found = {}
    for one in predictions:
        alike = one.id, one.shuffle, len(one.order)
        found[*alike, times[alike]] = one
        times[alike] += 1
    return found


def _differences(first: Sequence[Prediction], second: Sequence[Prediction]) -> dict[str, Difference]:
    one, other = intervals(first), intervals(second)
    return {name: Difference(one[name].value, other[name].value, gain) for name, gain in gains(first, second).items()}


def _groups(lengths: Sequence[int]) -> list[list[int]]:
    """Neighbouring lengths of documents that have an order, gathered until a group is large enough."""
    least = max(FEWEST, -(-len(lengths) // GROUPS))
    groups: list[list[int]] = []
    held = 0
    for length in sorted(set(lengths) - {1}):
        if not groups or held >= least:
            groups.append([])
            held = 0
        groups[-1].append(length)
        held += lengths.count(length)
    if len(groups) > 1 and held < FEWEST:
        groups[-2:] = [groups[-2] + groups[-1]]
    return groups if sum(length > 1 for length in lengths) > 1 else []


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {name: _rounded(entry) for name, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return [_rounded(entry) for entry in value]
    return value
