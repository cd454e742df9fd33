"""Parts of other installed packages, found through the entry-point group `unshuffle.parts`."""

from __future__ import annotations

import logging
from importlib.metadata import entry_points

GROUP = "unshuffle.parts"
"""Each entry point names a module whose import registers parts."""

log = logging.getLogger(__name__)


def load_installed_parts() -> None:
    """Imports every such module; one that fails is a warning, because another may hold the part that is wanted."""
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist is not None else point.value
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            log.warning(
                "unshuffle: parts '%s' of %s are left out: they cannot be loaded (%s).", point.name, package, reason
            )
