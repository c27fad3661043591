"""Signposts: what docs, docstrings and comments name in backticks is there."""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

import pytest

import lacunet as lc
from scripts.map_files import HEADING, ROOMS, file_map

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "lacunet"
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}

NAMED = re.compile(r"(?<![`:\w])`([A-Za-z_]\w*(?:\.\w+)*)`(?!`)")  # not code in double backticks
SCRIPTS = re.compile(r"(?:benchmarks|scripts|fuzz|docs)/\w+\.py")
IN_DOCS = re.compile(r"`([\w.*-]+(?:/[\w.*-]*)+|[\w-]+\.(?:py|md|toml|cff))`")
OF_OTHER_PROGRAMS = {"mice", "svychisq"}  # of R


def names_in(tree: ast.AST) -> Iterator[str]:
    """The names that a module defines, imports or uses."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Name():
                yield node.id
            case ast.arg():
                yield node.arg
            case ast.alias():
                yield (node.asname or node.name).split(".")[0]
            case ast.Attribute():
                yield node.attr
            case ast.keyword():
                yield node.arg or ""


NAMES_IN = {path: {*names_in(tree)} for path, tree in TREES.items()}
MODULES = [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in TREES]
MODULES += [".".join(path.relative_to(SOURCE).parts) for path in SOURCE.rglob("*") if path.is_dir()]


def is_there(name: str, path: Path) -> bool:
    """Whether a name in a module is that of something in it, beside it, or that all can see."""
    first, *rest = name.split(".")
    if first == "lacunet":
        return _resolves(name)
    # A module, or what is in one, by the end of its path: `recover.chain`.
    owner = ".".join([first, *rest[:-1]])
    for module in MODULES:
        if module == name or module.endswith(f".{name}"):
            return True
        if rest and (module == owner or module.endswith(f".{owner}")):
            return _resolves(f"lacunet.{module}:{rest[-1]}")
    if first in lc.__all__:
        return _resolves(f"lacunet:{name}")
    beside = set[str]().union(*(NAMES_IN[other] for other in path.parent.glob("*.py")))
    if {first, *rest} <= beside or hasattr(builtins, first):
        return True
    return first in OF_OTHER_PROGRAMS or (bool(rest) and find_spec(first) is not None)


def _resolves(name: str) -> bool:
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def docstrings_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def comments_of(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def test_what_docstrings_name_is_there() -> None:
    dead = {
        (str(path.relative_to(SOURCE)), name)
        for path, tree in TREES.items()
        for text in docstrings_of(tree)
        for name in NAMED.findall(text)
        if not is_there(name, path)
    }
    assert dead == set()


def test_what_comments_name_by_a_path_is_there() -> None:
    dead = {
        (str(path.relative_to(SOURCE)), name)
        for path in TREES
        for text in comments_of(path.read_text(encoding="utf-8"))
        for name in NAMED.findall(text)
        if "." in name and not is_there(name, path)
    }
    assert dead == set()


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_files_that_contributors_are_sent_to_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = [name for name in IN_DOCS.findall(text) if "NAME" not in name]
    assert named
    dead = [name for name in named if not any([*SOURCE.glob(name), *ROOT.glob(name)])]
    assert dead == []


def test_scripts_that_are_named_are_there_and_do_something() -> None:
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md"), ROOT / "Makefile"]
    named = {name for page in pages for name in SCRIPTS.findall(page.read_text(encoding="utf-8"))}
    assert "benchmarks/run.py" in named  # make bench
    dead = [name for name in named if not (ROOT / name).read_text(encoding="utf-8").strip()]
    assert dead == []


def test_the_map_of_the_rooms_has_every_file() -> None:
    """`python scripts/map_files.py` writes it."""
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    assert page == f"{HEADING}\n{file_map()}"
    assert {*ROOMS} == {path.parent.name for path in SOURCE.glob("*/__init__.py")}
