"""Every notebook runs from top to bottom in a fresh kernel."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

if NOTEBOOKS:  # an empty parameter list would count as a skipped test

    @pytest.mark.wall_clock  # the client waits for its kernel
    @pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
    def test_notebook_runs(path: Path) -> None:
        import nbformat
        from nbclient import NotebookClient

        notebook = nbformat.read(path, as_version=4)
        resources = {"metadata": {"path": str(path.parent)}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
