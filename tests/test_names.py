"""Names in the code: what one name means does not depend on the room."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import lacunet

SOURCE = Path(lacunet.__file__).parent


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.ClassDef):
                places[statement.name].append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_two_modules_have_one_name() -> None:
    """But for those of every room, and for commands, which are called like what they run."""
    modules = [path for path in SOURCE.rglob("*.py") if not path.name.startswith("__")]
    places = defaultdict(list)
    for path in sorted(modules):
        room = path.relative_to(SOURCE).parts[0]
        if room != "cli" and path.stem not in {"errors", "limits"}:
            places[path.stem].append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


# Words that could name any value, so they name none; docs/glossary.md has the terms. `how` is an
# option of `impute`.
SAY_NOTHING = {
    "at",
    "begun",
    "found",
    "heard",
    "made",
    "met",
    "one",
    "own",
    "place",
    "said",
    "sure",
    "told",
}


def _bound(tree: ast.AST) -> Iterator[str]:
    """The names of variables and parameters; those of fields may be read in files of results."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(tree, ast.ClassDef) and isinstance(node, ast.AnnAssign):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        yield from _bound(node)


def test_variables_and_parameters_are_named_for_what_they_are() -> None:
    bound = {
        (str(path.relative_to(SOURCE)), name)
        for path in SOURCE.rglob("*.py")
        for name in _bound(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert {(path, name) for path, name in bound if name in SAY_NOTHING} == set()
