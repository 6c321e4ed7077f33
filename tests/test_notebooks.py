"""The notebooks of examples/notebooks run from above to below; their cells hold what they say to be true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.sampled(quick=6, ci=3)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, monkeypatch: pytest.MonkeyPatch):
    nbformat = pytest.importorskip("nbformat", reason="no Jupyter: pip install '.[notebook]'")
    client = pytest.importorskip("nbclient", reason="no Jupyter: pip install '.[notebook]'")
    pytest.importorskip("ipykernel", reason="no Jupyter: pip install '.[notebook]'")
    monkeypatch.setenv("WARPGLASS_DEVICE", "cpu")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    client.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(FOLDER)}}).execute()


def test_notebooks_are_kept_without_outputs():
    assert len(NOTEBOOKS) == 6
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), path.name
