"""One entry point to all rankers of pair probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from numpy.typing import ArrayLike

from unshuffle.errors import ConfigError
from unshuffle.rank.beam import by_beam
from unshuffle.rank.borda import by_borda
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.eades import by_eades
from unshuffle.rank.kemeny import LARGEST, by_kemeny
from unshuffle.rank.ranking import Ranking, checked
from unshuffle.rank.topological import by_topology

Method = Literal["kemeny", "eades", "borda", "topological", "beam"]

METHODS: tuple[Method, ...] = get_args(Method)

_RANKERS: dict[str, Callable[..., Ranking]] = {
    "kemeny": by_kemeny,
    "eades": by_eades,
    "borda": by_borda,
    "topological": by_topology,
    "beam": by_beam,
}


def rank(
    probability: ArrayLike,
    method: Method = "kemeny",
    *,
    constraints: Constraints | None = None,
    tie_key: ArrayLike | None = None,
) -> Ranking:
    """An order from the chances that row comes before column; above 14 sentences "kemeny" falls back to "eades".

    Ties are broken by `tie_key`, one number per sentence that depends on its content, or else by the probabilities.
    """
    if method not in _RANKERS:
        raise ConfigError(f"rank has no method '{method}'. Known: {', '.join(METHODS)}.")
    matrix = checked(probability)
    chosen = "eades" if method == "kemeny" and len(matrix) > LARGEST else method
    return _RANKERS[chosen](matrix, constraints=constraints, tie_key=tie_key)
