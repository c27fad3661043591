"""Look into a wheel and an sdist before they are published.

    python scripts/check_release.py dist

One version everywhere (file names, package, citation, changelog), all data files in the wheel,
nothing but the package in it, and in the sdist what its tests need.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def version_in(path: str, pattern: str) -> str:
    """The version that a file of the repository names."""
    match = re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)
    return match[1] if match else "none"


def problems(folder: Path) -> list[str]:
    """What is wrong with the files in ``folder``, in words."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        return [f"{folder} has {len(wheels)} wheels and {len(sdists)} sdists, not one of each"]
    versions = {
        "pyproject.toml": version_in("pyproject.toml", r'^version = "(.+)"$'),
        "src/lacunet/__init__.py": version_in("src/lacunet/__init__.py", r'^__version__ = "(.+)"$'),
        "CITATION.cff": version_in("CITATION.cff", r"^version: (.+)$"),
        "CHANGELOG.md": version_in("CHANGELOG.md", r"^## \[([0-9][^]]*)\]"),
        wheels[0].name: wheels[0].name.split("-")[1],
        sdists[0].name: sdists[0].name.removesuffix(".tar.gz").split("-")[1],
    }
    found = []
    if len(set(versions.values())) > 1:
        found.append(f"versions differ: {versions}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        inside = set(wheel.namelist())
    package = ROOT / "src" / "lacunet"
    for path in package.rglob("*"):
        name = str(path.relative_to(package.parent))
        if path.is_file() and "__pycache__" not in name and name not in inside:
            found.append(f"the wheel lacks {name}")
    strangers = {name.split("/")[0] for name in inside} - {"lacunet"}
    if any(not name.endswith(".dist-info") for name in strangers):
        found.append(f"the wheel has more than the package: {sorted(strangers)}")
    with tarfile.open(sdists[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    found += [
        f"the sdist lacks {name}"
        for name in (
            "LICENSE",
            "NOTICE",
            "README.md",
            "Makefile",
            "tests/examples.py",
            "docs/index.md",
        )
        if name not in names
    ]
    return found


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    print("\n".join(wrong) or "wheel and sdist are whole")
    sys.exit(bool(wrong))
