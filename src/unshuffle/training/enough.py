"""What a fine-tuning needs before it can begin, found out without torch, which takes seconds to be imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unshuffle.errors import ConfigError, DataError
from unshuffle.system.loading import find_folder
from unshuffle.text.document import Document

FEWEST = 10
"""Documents of two sentences or more, below which there is nothing to learn from."""


def check_documents(documents: Sequence[Document], valid: Sequence[Document] | None) -> None:
    """Refuses documents that teach too little."""
    teaching = sum(len(document.sentences) > 1 for document in documents)
    if teaching < FEWEST:
        found = "only 1 document has" if teaching == 1 else f"only {teaching} documents have"
        raise DataError(f"fine-tune: {found} two sentences or more. Give at least {FEWEST}.")
    if valid is not None and not any(len(document.sentences) > 1 for document in valid):
        raise DataError("fine-tune: no document of --valid has two sentences. Give some that have an order.")


def check_folder(out: Path, source: str, *, resume: bool) -> None:
    """Refuses to overwrite a model, and to mix one training with another."""
    if (out / "config.json").exists():
        raise ConfigError(f"{out}: there is already a model. Choose another --out.")
    if out.resolve() == find_folder(source).resolve():
        raise ConfigError(f"{out}: this is the model to start from. Choose another --out.")
    stages = out / "stages"
    if stages.exists() and any(stages.iterdir()) and not resume:
        raise ConfigError(f"{out}: there is already a training. Use --resume to continue it, or choose another --out.")
