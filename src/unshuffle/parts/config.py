"""What every configuration of a part can be asked."""

from __future__ import annotations

from typing import Self


class PartConfig:
    """Base of the frozen dataclasses that configure parts; the defaults are those of a part without a source."""

    source: str = ""
    """Where pretrained weights come from; empty where there are none, or where the model folder brings them."""

    def resolved(self) -> Self:
        """The same with everything filled in that the source tells; weights still come from the source."""
        return self

    def detached(self) -> Self:
        """The same without its source, as a model folder that holds the weights should keep it."""
        return self
