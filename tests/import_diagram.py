"""Writes docs/architecture/imports.md: the table of test_import_direction.py, as a diagram and as it is.

`python -m tests.import_diagram` writes the page.
"""

from __future__ import annotations

from pathlib import Path

from tests.test_import_direction import EVERYONE, MAY_IMPORT, ROOT

PAGE = Path(__file__).parent.parent / "docs" / "architecture" / "imports.md"

_INTRODUCTION = """# Who imports whom

`python -m tests.import_diagram` writes this page from the table that `tests/test_import_direction.py`
enforces. An arrow leads from what is imported to who may import it, which is the way that a kernel takes
through the package; arrows that follow from others are left out. All may import what the box holds.
"""

Graph = dict[str, set[str]]


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page's text: a flowchart in mermaid, and the table as it is."""
    graph = _reduced(_imports())
    names = sorted(graph.keys() | {target for targets in graph.values() for target in targets})
    chart = [
        *("flowchart LR", "    subgraph everyone [for everyone]"),
        *(f"        {_node(name)}" for name in EVERYONE),
        "    end",
        *(f"    {_node(name)}" for name in names if name not in EVERYONE),
        *(f"    {_id(target)} --> {_id(name)}" for name in names for target in sorted(graph.get(name, ()))),
    ]
    rows = [
        f"| `{_path(name)}` | {', '.join(_words(target) for target in targets) or 'only those'} |"
        for name, targets in MAY_IMPORT.items()
    ]
    table = ["| | may import, beside itself and what all may import |", "|---|---|", *rows]
    return "\n".join([_INTRODUCTION, "```mermaid", *chart, "```", "", *table, ""])


def _imports() -> Graph:
    """For every name of the table, the others that it may import; no cycles."""
    named = {target for targets in MAY_IMPORT.values() for target in targets} - {"*"}
    names = {*MAY_IMPORT} | named
    graph = {name: {target for target in MAY_IMPORT.get(name, ()) if target != "*"} for name in names}
    for name in names:  # a folder, its parts that are named apart; but some of these stand in front of it
        graph[name] |= {part for part in _parts(name, names) if name not in graph[part]}
    anything = {name for name, targets in MAY_IMPORT.items() if "*" in targets}
    in_front = {name for name in names if anything & {name, *_reached(graph, name)}}
    in_front |= {part for name in in_front - anything for part in _parts(name, names)}
    # Programs that nobody imports.
    in_front |= {name for name in names - named if any(name.startswith(f"{t}.") for t in MAY_IMPORT[name])}
    for name in anything:
        graph[name] |= names - in_front
    everyone = set(EVERYONE)
    return {name: targets - everyone - {name} for name, targets in graph.items() if name not in EVERYONE}


def _parts(name: str, names: set[str]) -> set[str]:
    return {part for part in names if name and part.startswith(f"{name}.")}


def _reached(graph: Graph, start: str) -> set[str]:
    """What a name may import, or what that may, and so on."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        ahead += (new := graph.get(ahead.pop(), set()) - found)
        found |= new
    return found


def _reduced(graph: Graph) -> Graph:
    """The same relation without what follows from others."""
    return {
        name: {
            target
            for target in targets
            if not any(target in _reached(graph, other) for other in targets - {target})
        }
        for name, targets in graph.items()
    }


def _path(name: str) -> str:
    folder = name.replace(".", "/")
    return f"{folder}/" if name and (ROOT / folder).is_dir() else f"{folder or '__init__'}.py"


def _words(target: str) -> str:
    return "everything" if target == "*" else f"`{_path(target)}`"


def _id(name: str) -> str:
    return name.strip("_").replace(".", "_") or "package"


def _node(name: str) -> str:
    return f'{_id(name)}["{_path(name)}"]'


if __name__ == "__main__":
    main()
