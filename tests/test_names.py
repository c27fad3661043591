"""Names in the code: what one name means does not depend on the room."""

import ast
from collections import defaultdict
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
