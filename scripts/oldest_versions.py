"""Print the oldest versions that pyproject.toml allows, as requirements, one on each line.

    python scripts/oldest_versions.py plots sklearn pandas

gives those of the dependencies, of the extras named, and of packages named that any extra has.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def oldest(names: list[str]) -> list[str]:
    """Requirements with ``>=`` made ``==``."""
    path = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    every = {re.split(r"[>=<]", one)[0]: one for group in extras.values() for one in group}
    needed = set(project["dependencies"])
    for name in names:
        needed |= set(extras.get(name) or [every[name]])
    return sorted(one.replace(">=", "==") for one in needed)


if __name__ == "__main__":
    print("\n".join(oldest(sys.argv[1:])))
