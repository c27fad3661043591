"""Code lines of the package by room: no blank lines, comments, docstrings or imports.

python scripts/count_lines.py [FOLDER]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

SILENT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def code_lines(source: str) -> int:
    r"""The number of lines that hold code.

    >>> code_lines("import os\n\n# why\nx = 1\n")
    1
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        is_words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_import or (is_words and isinstance(node.value.value, str)):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def main(folder: Path) -> None:
    """Print the lines of each room, and of all."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.py")):
        room = path.relative_to(folder).parts[0]
        lines[room] += code_lines(path.read_text(encoding="utf-8"))
        files[room] += 1
    for room, number in lines.most_common():
        print(f"{number:7,} {files[room]:4} {room}")
    print(f"{lines.total():7,} {files.total():4} all")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "src/lacunet"))
