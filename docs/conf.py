"""How Sphinx makes the site of these pages: `make docs`.

Belongs here: settings, and what pages of a repository need beside them: links to what lies outside of docs/.
The order of pages is that of the tables of contents in index.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

import warpglass

ROOT = Path(__file__).parent.parent
OUTSIDE = {ROOT / "CONTRIBUTING.md": "contributing", ROOT / "CHANGELOG.md": "changelog"}  # and their pages
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>(?:\.\./)+[^)#]*)(?P<anchor>#[^)]*)?\)")

project = "warpglass"
author = "the warpglass authors"
version = release = warpglass.__version__
copyright = author  # the name that Sphinx reads
html_show_copyright = False
html_show_sphinx = False

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
highlight_language = "none"

# Docstrings are plain text with names in backticks; annotations stay as they are written.
default_role = "literal"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
viewcode_line_numbers = True

html_theme = "furo"
html_title = "warpglass"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_search_summary = False  # it needs a server; the search itself does not
html_copy_source = False
html_theme_options = {"navigation_with_keys": False}


def point_into_the_site(app: Any, name: str, source: list[str]) -> None:
    """Lead links to what is outside of docs/ somewhere: to its page, or, of a folder, to its name alone.

    Links to single files are made downloads by MyST.
    """
    folder = Path(app.srcdir, name).parent

    def lead(link: re.Match[str]) -> str:
        target = (folder / link["target"]).resolve()
        if target.is_dir():
            return link["text"]
        if target in OUTSIDE:
            return f"[{link['text']}](/{OUTSIDE[target]}.md{link['anchor'] or ''})"
        return link[0]

    source[0] = LINK.sub(lead, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", point_into_the_site)
    app.add_lexer("mermaid", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
