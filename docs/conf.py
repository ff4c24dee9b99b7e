"""The documentation site, which `make docs` builds into build/docs.

Its sources are the pages as they are in the repository, read from its root, so that their links mean on the site what
they mean on a code host. Every page is in one group of PAGES: one that is in none ends the build.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils import new_document
from sphinx.builders.html import StandaloneHTMLBuilder

import farthest

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGES = {
    "Learn": ["start", "recipes", "notebooks/*"],
    "How to": [
        "puzzles",
        "searching",
        "patterns",
        "symmetry",
        "pictures",
        "python",
        "explorer",
        "many-machines",
        "kubernetes",
        "metrics",
    ],
    "Reference": ["commands", "settings", "formats", "api", "records", "glossary"],
    "How it works": [
        "key-layout",
        "permutations",
        "blocks",
        "chunk-format",
        "map-files",
        "scaling",
        "progress",
    ],
    "Project": ["/CHANGELOG", "/CONTRIBUTING", "/SECURITY"],
}
"""The groups of the navigation; pages are below docs/, or begin with a slash."""

project = "farthest"
author = "the authors of farthest"
version = release = importlib.metadata.version("farthest")

extensions = ["myst_nb", "sphinx.ext.autodoc"]
root_doc = "README"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/*.md",
    "docs/notebooks/*.ipynb",
]
exclude_patterns = [".*", "benchmarks", "build", "dist", "kernel", "src", "tests"]

myst_enable_extensions = ["html_image"]
myst_heading_anchors = 6
nb_execution_mode = "off"

default_role = "py:obj"
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_display_short_literal_types = True
maximum_signature_line_length = 100

html_theme = "furo"
html_title = "farthest"
html_search_scorer = str(Path(__file__).with_name("search.js"))
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def setup(app: Sphinx) -> None:
    """Sphinx calls it."""
    app.add_builder(_Site, override=True)
    app.connect("source-read", _with_navigation)
    for name in farthest.__all__:  # they are documented, and linked to, by the names that users import
        if isinstance(getattr(farthest, name), type):
            getattr(farthest, name).__module__ = "farthest"


def _with_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Adds the navigation to the first page, which code hosts show without it."""
    if page != root_doc:
        return
    for caption, names in PAGES.items():
        pages = "\n".join(name if name.startswith("/") else f"/docs/{name}" for name in names)
        source[0] += f"\n```{{toctree}}\n:caption: {caption}\n:hidden:\n:glob:\n\n{pages}\n```\n"


class _Site(StandaloneHTMLBuilder):
    """The pages are long: the search finds sections too, which are indexed as PAGE#SECTION (search.js)."""

    def init(self) -> None:
        super().init()
        self.sections: list[str] = []

    def index_page(self, pagename: str, doctree: nodes.document, title: str) -> None:
        super().index_page(pagename, doctree, title)
        for section in list(doctree.findall(nodes.section))[1:]:
            part = section.copy()
            part += [child.deepcopy() for child in section if not isinstance(child, nodes.section)]
            document = new_document("")
            document += part
            name = f"{pagename}#{section['ids'][0]}"
            self.sections.append(name)
            self.indexer.feed(name, self.env.doc2path(pagename, base=False), section[0].astext(), document)

    def dump_search_index(self) -> None:
        prune = self.indexer.prune  # takes all but the pages out of the index
        self.indexer.prune = lambda pages: prune([*pages, *self.sections])
        super().dump_search_index()
