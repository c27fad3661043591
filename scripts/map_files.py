"""Write docs/files.md: what each file is about, the first line of its docstring.

python scripts/map_files.py
"""

from __future__ import annotations

import argparse
import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "lacunet"
PAGE = ROOT / "docs" / "files.md"
HEADING = "# Every file\n"
# As imports point: each room sits on those above it.
ROOMS = [
    "network",
    "data",
    "counts",
    "missingness",
    "inference",
    "learning",
    "ask",
    "structure",
    "simulation",
    "show",
    "cli",
]


def file_map() -> str:
    """The list of all files, room by room."""
    lines = ["Written by `python scripts/map_files.py`: the first line of each file's docstring."]
    for room in ROOMS:
        lines += ["", f"## `{room}/`", ""]
        lines += [_entry(path) for path in sorted((PACKAGE / room).rglob("*.py"), key=_by_folder)]
    lines += ["", "## Beside the rooms", ""]
    lines += [_entry(path) for path in sorted(PACKAGE.glob("*.py"))]
    return "\n".join(line for line in lines if "__init__.py" not in line) + "\n"


def _by_folder(path: Path) -> tuple[Path, str]:
    return path.parent, path.name


def _entry(path: Path) -> str:
    return f"- `{path.relative_to(PACKAGE).as_posix()}`: {_idea(path)}"


def _idea(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    idea = docstring.partition("\n")[0].replace("``", "`")
    return re.sub(r":math:`([^`]*)`", r"$\1$", idea)


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    PAGE.write_text(f"{HEADING}\n{file_map()}", encoding="utf-8")


if __name__ == "__main__":
    main()
