"""Pages for readers name what there is: paths, links, every folder of the package, who may import whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import warpglass
from tests import import_diagram, reference_pages
from tests.test_import_direction import ROOT as PACKAGE

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
WRITTEN = [page for page in PAGES if DOCS / "reference" not in page.parents]  # not from tables
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^ {4}.*$", re.MULTILINE)
_QUOTED = re.compile(r"`([\w.*/-]+)`")
_LINK = re.compile(r"\]\(([\w./-]*[a-z/][\w./-]*)(?:#[\w-]*)?\)")
# What stands for a user's or a ladder's own files.
_EXAMPLES = frozenset("script.py name.py two_rows.py".split())


def prose(page: Path) -> str:
    """A page without what is shown of programs."""
    return _INDENTED.sub("", _CODE.sub("", page.read_text("utf-8")))


def paths(page: Path) -> Iterator[str]:
    """The paths that a page names: what has a slash within or ends like a file of Python."""
    for name in _QUOTED.findall(prose(page)):
        if re.search(r"[\w*](\.py|/)$", name) or re.search(r"\w/.*\.\w+$", name):
            yield name


def exists(name: str, folder: Path) -> bool:
    return any(folder.glob(name))


def test_paths_exist() -> None:
    """A path is one of the project, of the package, or of a folder that the page names."""
    missing: list[str] = []
    for page in WRITTEN:
        named = [name for name in dict.fromkeys(paths(page)) if name not in _EXAMPLES]
        folders = [ROOT, PACKAGE, DOCS, page.parent]
        folders += [base / name for base in folders for name in named if name.endswith("/")]
        absent = [name for name in named if not any(exists(name, folder) for folder in folders)]
        missing += [f"{page.relative_to(ROOT)}: {name}" for name in absent]
    assert not missing, "\n".join(missing)


def test_links_lead_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        for link in _LINK.findall(prose(page))
        if not (page.parent / link).exists()
    ]
    assert not broken, "\n".join(broken)


def test_the_architecture_has_every_folder() -> None:
    table = set(re.findall(r"^\| \[?`(\w+)/`", prose(DOCS / "architecture" / "README.md"), re.MULTILINE))
    assert table == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_the_diagram_is_that_of_the_table() -> None:
    assert import_diagram.PAGE.read_text("utf-8") == import_diagram.page(), (
        "run python -m tests.import_diagram"
    )


@pytest.mark.parametrize("name", ["metrics.md", "findings.md", "devices.md", "ladders.md", "commands.md"])
def test_pages_of_tables_are_those_of_the_package(name: str) -> None:
    shown = (reference_pages.FOLDER / name).read_text("utf-8")
    assert shown == reference_pages.pages()[name], "run python -m tests.reference_pages"


def test_the_page_of_python_has_all_public_names() -> None:
    page = (reference_pages.FOLDER / "python.md").read_text("utf-8")
    listed = re.findall(r"^\.\. auto\w+:: warpglass\.(\w+)", page, re.MULTILINE)
    assert sorted(listed) == sorted(set(warpglass.__all__) - {"__version__"})


def test_the_site_has_a_place_for_every_page() -> None:
    """What no table of contents names, readers of the site do not find."""
    index = (DOCS / "index.md").read_text("utf-8")
    tables = [(DOCS, index), *((page.parent, page.read_text("utf-8")) for page in DOCS.glob("*/README.md"))]
    placed = {
        (folder / f"{name}.md").resolve()
        for folder, text in tables
        for table in re.findall(r"```{toctree}\n(.*?)```", text, re.DOTALL)
        for name in re.findall(r"^([a-z\d][\w/-]*)$", table, re.MULTILINE)
    }
    assert placed == {page for page in DOCS.rglob("*.md") if page != DOCS / "index.md"}
