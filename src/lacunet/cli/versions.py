"""What a bug report should say about the machine and the libraries: ``--version --verbose``."""

from __future__ import annotations

CORE = ("numpy", "scipy", "networkx", "lazy_loader", "narwhals", "pyarrow", "threadpoolctl", "tqdm")
FRAMES = ("pandas", "polars", "duckdb", "pyspark")
OPTIONAL = (*FRAMES, "scikit-learn", "matplotlib", "pgmpy", "pyagrum")


def versions_as_text() -> str:
    """One line for each; nothing about the user, the files or the network is among them."""
    versions = versions_here()
    width = max(map(len, versions))
    return "\n".join(
        f"{name:{width}}  {version or 'not installed'}" for name, version in versions.items()
    )


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
