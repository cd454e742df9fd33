"""Figures that are quoted are the figures that were measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_table_of_readme_and_docs_says_what_the_result_files_say() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "unshuffle_research.tables.figures", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
