"""The notebooks of the documentation run from start to end, and what they show is kept small.

After a change, `make notebooks` runs them again and writes what they show.
"""

import re
from pathlib import Path

import pytest

pytest.importorskip("nbclient", reason="needs the extra 'dev'")
pytest.importorskip("ipykernel", reason="needs the extra 'dev'")
import nbclient
import nbformat

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NEEDED = {"retrieved-chunks": "langchain_core", "fine-tuning": "torch"}
LARGEST = 40_000
"""Bytes of a notebook with its outputs."""
IMAGES = re.compile("image/|application/(?!json)")


def read(path: Path) -> "nbformat.NotebookNode":
    return nbformat.read(path, as_version=4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_notebook_runs_in_a_folder_of_its_own(path: Path, tmp_path: Path) -> None:
    pytest.importorskip(NEEDED.get(path.stem, "numpy"))
    notebook = read(path)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert shown and not [output for output in shown if output.get("name") == "stderr"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_notebook_is_kept_with_small_outputs_that_name_no_machine(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert path.stat().st_size < LARGEST and [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert outputs and all(output.output_type != "error" for output in outputs)
    assert not any(IMAGES.match(kind) for output in outputs for kind in output.get("data", {}))
    assert not re.search(r"/(home|root|tmp|Users|work)/", path.read_text(encoding="utf-8"))


def test_every_notebook_is_linked_from_the_pages() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["comparing-systems", "fine-tuning", "first-steps", "retrieved-chunks"]
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    assert all(f"(notebooks/{path.name})" in page for path in NOTEBOOKS)
    for linking in ("README.md", "docs/index.md", "zensical.toml"):
        assert "notebooks.md" in (ROOT / linking).read_text(encoding="utf-8")
