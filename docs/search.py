"""The search of the book looks through its sections, where Sphinx's own looks through whole pages.

``sections.js`` has the address and title of every section and of every documented name, and for each
word the sections that have it, with a weight; ``static/search.js`` ranks them in the browser.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

IN_TITLE, IN_TITLE_OF_PAGE = 6, 2  # a word of a title counts as so many in the text


def units(tree: nodes.document) -> Iterator[tuple[str, str, list[str]]]:
    """Title, anchor and texts of every section and documented name, each without those within it."""
    for node in tree.findall(lambda node: isinstance(node, nodes.section | addnodes.desc)):
        if isinstance(node, nodes.section):
            anchor = "" if node.parent is tree else "#" + node["ids"][0]
            yield node[0].astext(), anchor, list(_own_texts(node, skip=node[0]))
        else:
            signature = node[0]
            if signature.get("ids"):
                anchor = "#" + signature["ids"][0]
                yield signature["ids"][0], anchor, list(_own_texts(node, skip=None))


def _own_texts(node: nodes.Element, skip: nodes.Node | None) -> Iterator[str]:
    for child in node.children:
        if child is skip or isinstance(child, nodes.section | addnodes.desc | nodes.comment):
            continue
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif isinstance(child, nodes.Element):
            yield from _own_texts(child, skip)


def index(trees: dict[str, nodes.document], language: Any) -> dict[str, Any]:
    """What the browser needs: sections with their lengths, and for each word where it stands.

    Words are stemmed in the browser alone: Sphinx's two stemmers, here and there, may differ.
    """

    def words(text: str) -> Iterator[str]:
        for word in language.split(text.lower()):
            yield from filter(language.word_filter, {word, *word.split("_")} - {""})

    sections: list[tuple[str, str, str, int]] = []
    places: dict[str, list[int]] = defaultdict(list)
    for page, tree in sorted(trees.items()):
        title_of_page = None
        for title, anchor, texts in units(tree):
            title_of_page = title_of_page or title
            weights = Counter(word for text in texts for word in words(text))
            length = weights.total()
            for word in set(words(title)):
                weights[word] += IN_TITLE
            for word in set(words(title_of_page)):
                weights[word] += IN_TITLE_OF_PAGE
            for word, weight in weights.items():
                places[word] += [len(sections), weight]
            shown = title if title == title_of_page else f"{title_of_page} > {title}"
            sections.append((page, shown, anchor, length))
    return {"sections": sections, "places": places}


def write_index(app: Sphinx, error: Exception | None) -> None:
    """Beside the index of Sphinx."""
    if error is None and isinstance(app.builder, StandaloneHTMLBuilder):
        trees = {page: app.env.get_doctree(page) for page in app.env.found_docs}
        assert app.builder.indexer is not None
        made = json.dumps(index(trees, app.builder.indexer.lang), separators=(",", ":"))
        Path(app.outdir, "_static", "sections.js").write_text(f"var SECTIONS = {made};\n")


def load_index(app: Sphinx, page: str, *_: Any) -> None:
    """On the page of results only."""
    if page == "search":
        app.add_js_file("sections.js", priority=200)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the index when all pages are there."""
    app.connect("html-page-context", load_index)
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True}
