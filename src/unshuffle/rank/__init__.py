"""From pair probabilities, scores or position scores to orders; numpy and scipy only, blind to input order."""

from unshuffle.rank.arrange import text_keys
from unshuffle.rank.beam import by_beam
from unshuffle.rank.best import METHODS, Method, rank
from unshuffle.rank.borda import by_borda
from unshuffle.rank.constraints import Constraints, Rules
from unshuffle.rank.eades import by_eades
from unshuffle.rank.kemeny import best_by_kemeny, by_kemeny
from unshuffle.rank.positions import by_positions
from unshuffle.rank.ranking import Ranking, two_sided
from unshuffle.rank.scores import by_scores
from unshuffle.rank.topological import by_topology

__all__ = [
    "METHODS",
    "Constraints",
    "Method",
    "Ranking",
    "Rules",
    "best_by_kemeny",
    "by_beam",
    "by_borda",
    "by_eades",
    "by_kemeny",
    "by_positions",
    "by_scores",
    "by_topology",
    "rank",
    "text_keys",
    "two_sided",
]
