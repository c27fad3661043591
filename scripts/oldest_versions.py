"""Print the oldest version of every dependency that pyproject.toml allows, one for each line.

    pip install -e . -r <(python scripts/oldest_versions.py plots sklearn test)

Names of extras add theirs. A dependency without a lower bound is printed by its name alone.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def oldest(extras: list[str]) -> list[str]:
    """Requirements with ``>=`` made ``==``."""
    path = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"]]
    for extra in extras:
        needed += project["optional-dependencies"][extra]
    return sorted({re.sub(r">=", "==", one) for one in needed})


if __name__ == "__main__":
    print("\n".join(oldest(sys.argv[1:])))
