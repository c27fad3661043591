"""``lacunet versions``: what a bug report should say about the machine and the libraries."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.options import add_shared

HELP = "print the versions of lacunet, Python and the libraries, for a bug report"
EXAMPLE = """examples:
  lacunet versions
  lacunet versions --json
"""
CORE = ("numpy", "scipy", "networkx", "lazy_loader", "narwhals", "pyarrow", "tqdm")
FRAMES = ("pandas", "polars", "duckdb", "pyspark")
OPTIONAL = (*FRAMES, "scikit-learn", "matplotlib", "pgmpy", "pyagrum")


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_shared(command, "--json")


def run(options: Namespace) -> None:
    """Print the versions; nothing about the user, the files or the network is among them."""
    versions = versions_here()
    if options.json:
        print(json.dumps(versions))
    else:
        width = max(map(len, versions))
        for name, version in versions.items():
            print(f"{name:{width}}  {version or 'not installed'}")


def versions_here() -> dict[str, str | None]:
    """Name and version of all that matters; None for what is not installed."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    import lacunet

    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    return {
        "lacunet": lacunet.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        **{name: installed(name) for name in (*CORE, *OPTIONAL)},
    }
