"""What a reader skipped."""

from __future__ import annotations

from dataclasses import dataclass, field

SHOWN = 5
"""How many messages are kept."""


@dataclass(slots=True)
class ReadReport:
    """Counts what was read and what was skipped; readers add to it as they go."""

    documents: int = 0
    skipped: int = 0
    messages: list[str] = field(default_factory=list)
    """The first few reasons."""

    def skip(self, message: str) -> None:
        """Count a record that was skipped."""
        self.skipped += 1
        if len(self.messages) < SHOWN:
            self.messages.append(message)
