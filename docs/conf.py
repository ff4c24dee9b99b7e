"""The documentation site, which `make docs` builds into build/docs.

Its sources are the pages as they are in the repository, read from its root, so that their links mean on the site what
they mean on a code host. Every page is in one group of PAGES: one that is in none ends the build.
"""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_type_hints

from docutils import nodes
from docutils.utils import new_document
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.util.nodes import make_refnode

import farthest
from farthest.stores.folder.journal import LayerFigures

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

PAGES = {
    "Learn": [
        "start",
        "recipes",
        "notebooks/ninety-thousand-boards",
        "notebooks/heuristics-against-the-truth",
        "notebooks/a-network-and-the-truth",
    ],
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
        "cosets",
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
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def setup(app: Sphinx) -> None:
    """Sphinx calls it."""
    app.add_builder(_Site, override=True)
    app.connect("source-read", _with_navigation)
    app.connect("missing-reference", _by_last_name)
    app.connect("autodoc-process-docstring", _with_note)
    for kind in (farthest.JobRecord, farthest.Outcome):
        _read_notes(kind)
    for name in farthest.__all__:  # they are documented, and linked to, by the names that users import
        if isinstance(getattr(farthest, name), type):
            getattr(farthest, name).__module__ = "farthest"


NOTES: dict[str, str] = {}
"""What ``Annotated`` says of the fields of records, by their full names."""


def _read_notes(kind: type) -> None:
    """Takes the notes out of the types of a record's fields, so that the types are shown plainly."""
    names = {"LayerFigures": LayerFigures}
    for field, hint in get_type_hints(kind, localns=names, include_extras=True).items():
        note = get_args(hint)[-1] if hasattr(hint, "__metadata__") else None
        if isinstance(note, str) and " " in note:
            NOTES[f"farthest.{kind.__name__}.{field}"] = re.sub(r"\bnull\b", "None", note)
    plain = get_type_hints(kind, localns=names)
    kind.__annotations__ = plain
    kind.__init__.__annotations__ = plain


def _with_note(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """The note of a record's field is its documentation."""
    if name in NOTES:
        note = NOTES[name]
        lines[:] = [f"{note[0].upper()}{note[1:]}."]


def _by_last_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement
) -> nodes.reference | None:
    """Links the name of a type to its entry: signatures have it without its module."""
    if node.get("refdomain") != "py":
        return None
    known = env.domains.python_domain.objects.items()
    types = [(name, entry) for name, entry in known if entry.objtype in ("class", "type")]
    found = [(name, entry) for name, entry in types if name.rpartition(".")[2] == node["reftarget"]]
    if len(found) != 1 or app.builder is None:
        return None
    name, entry = found[0]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, shown, name)


def _with_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Adds the navigation to the first page, which code hosts show without it."""
    if page != root_doc:
        return
    for caption, names in PAGES.items():
        pages = "\n".join(name if name.startswith("/") else f"/docs/{name}" for name in names)
        source[0] += f"\n```{{toctree}}\n:caption: {caption}\n:hidden:\n\n{pages}\n```\n"


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
