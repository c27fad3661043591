"""What a reader of the package meets: its face, the walks of common calls, how dense the code is.

python scripts/measure_house.py [FOLDER OF ANOTHER CHECKOUT'S SRC]

A walk is one call, made a second time so that imports are warm: the functions of the package that
it enters, the files and rooms that they are in, and the pairs of caller and called that are in
different rooms. Densities are per thousand lines of code as `count_lines.py` counts them. The
numbers are read beside what readers say of the code; none is a target.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import random
import sys
import tempfile
import threading
import tokenize
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from count_lines import code_lines

SOURCE = Path(sys.argv[1] if len(sys.argv) > 1 else "src").resolve()
PACKAGE = SOURCE / "lacunet"

EDGES = [("Age", "Ill"), ("Ill", "Test")]
ROWS = 500


# ---- walks


def table(missing: float) -> dict[str, list[str | None]]:
    """Rows of Age -> Ill -> Test, cells left out at random."""
    source = random.Random(1)
    columns: dict[str, list[str | None]] = {"Age": [], "Ill": [], "Test": []}
    for _ in range(ROWS):
        old = source.random() < 0.4
        ill = source.random() < (0.5 if old else 0.2)
        positive = source.random() < (0.9 if ill else 0.1)
        for name, value in (("Age", old), ("Ill", ill), ("Test", positive)):
            hidden = source.random() < missing
            columns[name].append(None if hidden else ("yes" if value else "no"))
    return columns


def walks(folder: Path) -> dict[str, Callable[[], object]]:
    """The calls that are followed, by what they are."""
    import pandas

    import lacunet as lc
    from lacunet.cli import main

    complete, incomplete = pandas.DataFrame(table(0)), pandas.DataFrame(table(0.2))
    csv, bif = folder / "rows.csv", folder / "net.bif"
    incomplete.to_csv(csv, index=False)
    network = lc.learn(EDGES, complete, method="direct-mcar").network
    write = getattr(network, "write", None) or (lambda path: lc.write_network(network, path))
    write(bif)

    def shell() -> None:
        words = ["learn", str(bif), str(csv), "--method", "factored-mar", "--intervals"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main([*words, "-o", str(folder / "learned.json")])

    def graph() -> object:
        missingness = lc.MissingnessGraph.parse("R[Age]; Age -> R[Ill]; Ill -> R[Test]", network)
        return missingness.recover("P(Ill | Test)").estimate(incomplete)

    def structure() -> object:
        found = lc.learn_structure(incomplete, rng=0)
        result = lc.learn(getattr(found, "network", found), incomplete, intervals=True)
        query = getattr(result, "query", None) or (lambda *words: lc.query(result, *words))
        return query("Ill", {"Test": "yes"})

    return {
        "learn(edges, frame)": lambda: lc.learn(EDGES, incomplete),
        "the same, complete rows, direct-mcar": lambda: lc.learn(
            EDGES, complete, method="direct-mcar"
        ),
        "lacunet learn net.bif rows.csv --method factored-mar --intervals": shell,
        "graph, verdict, estimate": graph,
        "structure, learn, query with interval": structure,
    }


def followed(call: Callable[[], object]) -> tuple[int, int, int, int]:
    """The functions, files, rooms and calls between rooms of one walk."""
    functions: set[CodeType] = set()
    crossings: set[tuple[CodeType, CodeType]] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not room(frame.f_code) or frame.f_code.co_name.startswith("<"):
            return  # comprehensions and lambdas belong to the function that they stand in
        functions.add(frame.f_code)
        caller = frame.f_back
        while caller is not None and not room(caller.f_code):
            caller = caller.f_back
        if caller is not None and room(caller.f_code) != room(frame.f_code):
            crossings.add((caller.f_code, frame.f_code))

    call()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    files = {function.co_filename for function in functions}
    return (
        len(functions),
        len(files),
        len({room(function) for function in functions}),
        len(crossings),
    )


def room(function: CodeType) -> str:
    """The folder, or file, of the package that a function is in; "" outside the package."""
    start = f"{PACKAGE}/"
    return (
        function.co_filename.removeprefix(start).split("/")[0]
        if function.co_filename.startswith(start)
        else ""
    )


# ---- the face


def face() -> dict[str, int]:
    """The public names, parameters of the two largest functions, commands and their options."""
    import lacunet as lc
    from lacunet.cli.parsing import COMMANDS, command_parser

    options = [action for name in COMMANDS for action in command_parser(name)._actions]
    return {
        "public names": len(lc.__all__),
        "parameters of learn": len(inspect.signature(lc.learn).parameters),
        "parameters of learn_structure": len(inspect.signature(lc.learn_structure).parameters),
        "commands": len(COMMANDS),
        "option slots of commands": sum(bool(action.option_strings) for action in options),
    }


# ---- densities


def counted(sources: list[str]) -> dict[str, float]:
    """Comment lines, and per thousand lines of code what makes lines dense."""
    lines = sum(map(code_lines, sources))
    comments = ternaries = comprehensions = pairs = records = replacements = 0
    for source in sources:
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        comments += sum(
            token.type == tokenize.COMMENT and token.line.strip().startswith("#")
            for token in tokens
        )
        for node in ast.walk(ast.parse(source)):
            ternaries += isinstance(node, ast.IfExp)
            comprehensions += isinstance(
                node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
            )
            pairs += (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Tuple)
                and isinstance(node.value, ast.Tuple)
            )
            if isinstance(node, ast.ClassDef):
                marks = [ast.unparse(mark) for mark in [*node.decorator_list, *node.bases]]
                records += any("dataclass" in mark or "NamedTuple" in mark for mark in marks)
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            replacements += is_call and node.func.id == "replace"  # type: ignore[attr-defined]
    return {
        "lines of code": lines,
        "files": len(sources),
        "comment lines": comments,
        "calls of replace()": replacements,
        "ternaries per 1,000": 1000 * ternaries / lines,
        "comprehensions per 1,000": 1000 * comprehensions / lines,
        "a, b = x, y per 1,000": 1000 * pairs / lines,
        "dataclasses and NamedTuples per 1,000": 1000 * records / lines,
    }


def main() -> None:
    """Print the walks and the densities."""
    sys.path.insert(0, str(SOURCE))
    print(f"{'walk':66} functions files rooms crossings")
    with tempfile.TemporaryDirectory() as folder:
        for name, call in walks(Path(folder)).items():
            functions, files, rooms, crossings = followed(call)
            print(f"{name:66} {functions:9} {files:5} {rooms:5} {crossings:9}")
    print()
    for name, count in face().items():
        print(f"{name:66} {count:9,}")
    print()
    sources = [path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))]
    for name, value in counted(sources).items():
        print(f"{name:66} {value:9,.{0 if value == int(value) else 1}f}")


if __name__ == "__main__":
    main()
