"""The book: Sphinx and MyST; every block of code in it is run when it is built."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
from html import unescape
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

import lacunet
from lacunet.cli.parsing import COMMANDS_BY_AIM

sys.path.insert(0, os.path.dirname(__file__))
from blocks import blocks, notebook

project = "lacunet"
author = copyright = "The lacunet maintainers"  # noqa: A001
version = release = lacunet.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "search",
]
copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .gp, .go"
exclude_patterns = ["_build", "files.md"]  # the list of files is for contributors, beside the book
html_theme = "furo"
html_title = f"lacunet {release}"
html_math_renderer = "mathml"
html_copy_source = False
html_static_path = ["static"]
html_search_scorer = str(Path(__file__).with_name("static") / "search.js")
html_css_files = ["book.css"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
# The kernels talk to this process alone: their warning that they do so in clear is of no use here.
os.environ["IPYTHONDIR"] = quiet = tempfile.mkdtemp(prefix="lacunet-docs-")
profile = Path(quiet, "profile_default")
profile.mkdir()
(profile / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 'ERROR'\n")
# A warning as a reader needs it: without the kernel's temporary file and the line in it.
(profile / "startup").mkdir()
(profile / "startup" / "plain_warnings.py").write_text(
    "import warnings\n"
    "warnings.formatwarning = lambda message, kind, *_, **__: f'{kind.__name__}: {message}\\n'\n"
)
logging.getLogger("traitlets").setLevel(logging.WARNING)
autodoc_typehints = "signature"
napoleon_google_docstring = False
napoleon_use_ivar = True


def first_line(name: str) -> str:
    """What the docstring of a name in ``lacunet`` says first."""
    room, _, last = f"lacunet.{name}".rpartition(".")
    docstring = getattr(import_module(room), last).__doc__ or ""
    return docstring.strip().partition("\n")[0]


class PublicNames(SphinxDirective):
    """The public names of a task, and the types in rooms that they return, with docstrings."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        lines = StringList()
        for name in " ".join(self.content).split():
            room, _, last = f"lacunet.{name}".rpartition(".")
            value = getattr(import_module(room), last)
            kind = "class" if isclass(value) else "function" if isfunction(value) else "data"
            for line in [f".. auto{kind}:: lacunet.{name}"] + ["   :members:"] * isclass(value):
                lines.append(line, "public names")
            lines.append("", "public names")
        holder = nodes.container()
        self.state.nested_parse(lines, 0, holder)
        return holder.children


class NamesByTask(SphinxDirective):
    """The pages of the reference with the names on each, one line for each name."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        lines = StringList()
        for page in self.content:
            text = Path(self.env.srcdir, "reference", f"{page}.rst").read_text()
            names = text.partition(".. public-names::")[2].split()
            names += re.findall(
                r"^\.\. auto(?:class|function):: lacunet\.(\S+)", text, re.MULTILINE
            )
            lines.append(f":doc:`{page}`", "names by task")
            lines.append("", "names by task")
            for name in names:
                idea = first_line(name)
                lines.append(f"- :py:obj:`~lacunet.{name}`: {idea}", "names by task")
            lines.append("", "names by task")
        holder = nodes.container()
        self.state.nested_parse(lines, 0, holder)
        return holder.children


class CommandLines(SphinxDirective):
    """Every command with its help, as the command prints it."""

    def run(self) -> list[nodes.Node]:
        sections = []
        for group, names in COMMANDS_BY_AIM.items():
            section = nodes.section(ids=[f"commands-{nodes.make_id(group)}"], names=[group])
            section += nodes.title("", group.capitalize())
            section += [self.help_of(name) for name in names]
            sections.append(section)
        return sections

    def help_of(self, name: str) -> nodes.section:
        printed = subprocess.run(
            [sys.executable, "-m", "lacunet", name, "--help-all"],
            env={**os.environ, "COLUMNS": "92", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        section = nodes.section(ids=[f"lacunet-{name}"], names=[f"lacunet {name}"])
        section += nodes.title("", f"lacunet {name}")
        section += nodes.literal_block(printed.stdout, printed.stdout, language="text")
        return section


def write_formula(self: HTML5Translator, node: nodes.Element) -> None:
    """A formula as MathML: no script, nothing to fetch."""
    display = "inline" if isinstance(node, nodes.math) else "block"
    self.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


class DescribeFigures(SphinxPostTransform):
    """Figures drawn by code have their own description as alternative text; all know the dark theme.

    An SVG file that asks for the reader's colours is left to itself; any other is drawn on white,
    and its colours are turned by the style sheet.
    """

    default_priority = 5  # before images are copied under other names

    def run(self, **_: Any) -> None:
        for image in self.document.findall(nodes.image):
            path = Path(self.app.srcdir) / image["uri"].lstrip("/")
            if path.suffix in (".png", ".gif"):
                image["classes"].append("on-white")  # a light page
            if path.suffix != ".svg" or not path.exists():
                continue
            drawing = path.read_text()
            label = re.search(r'aria-label="([^"]*)"', drawing)
            if label and not image.get("alt"):
                image["alt"] = unescape(label[1])
            adapts = "prefers-color-scheme" in drawing
            image["classes"].append("adapts" if adapts else "on-white")


WIDEST_TABLE = 100  # characters; a longer line of output is a sentence


def wrap_sentences(_app: Sphinx, doctree: nodes.document) -> None:
    """Output with lines that are longer than tables are is wrapped; other output is scrolled."""
    for block in doctree.findall(nodes.literal_block):
        is_output = block.get("language") in ("text", "myst-ansi", "ipythontb", "none")
        if is_output and max(map(len, block.astext().split("\n"))) > WIDEST_TABLE:
            block["classes"].append("wraps")


def name_options(app: Sphinx, doctree: nodes.document) -> None:
    """Every option in the table of the command line has an address: ``reference/cli.html#--weight``."""
    if app.env.docname != "reference/cli":
        return
    for row in doctree.findall(nodes.row):
        named = list(row[0].findall(lambda node: isinstance(node, nodes.literal)))
        spelled = [node.astext().split()[0] for node in named]
        if not spelled or not spelled[0].startswith("--"):
            continue
        for node, option in zip(named, spelled, strict=True):
            node["ids"].append(option)
        sign = nodes.reference("", "¶", refid=spelled[0], classes=["headerlink"])
        row[0][0] += sign


def link_to_notebook(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _tree: object
) -> None:
    """A page that runs code can be had as a notebook."""
    page = Path(app.srcdir) / f"{pagename}.md"
    if not page.exists() or not any(block.is_run for block in blocks(page.read_text())):
        return
    target = Path(app.outdir) / "notebooks" / f"{pagename.replace('/', '-')}.ipynb"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(notebook(page.read_text()), indent=1))
    up = "../" * pagename.count("/")
    link = f'<a href="{up}notebooks/{target.name}" download>Download this page as a notebook</a>'
    context["body"] += f'<p class="notebook">{link}</p>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Add what the pages use."""
    app.add_directive("public-names", PublicNames)
    app.add_directive("names-by-task", NamesByTask)
    app.add_directive("command-lines", CommandLines)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.add_post_transform(DescribeFigures)
    app.connect("html-page-context", link_to_notebook)
    app.connect("doctree-read", name_options)
    app.connect("doctree-resolved", lambda app, tree, _page: wrap_sentences(app, tree))
    return {"parallel_read_safe": True}
