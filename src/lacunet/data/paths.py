"""Which files of data are meant: paths, folders of parts and patterns."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path

from lacunet.data.errors import DataError
from lacunet.data.select import without_secrets
from lacunet.network.edge_texts import DATA_ALONE, is_edges
from lacunet.text import near_files

STDIN = "-"
DATABASES = (".db", ".sqlite", ".sqlite3", ".duckdb")
ADDRESS = re.compile(r"(postgres|sqlite|duckdb|mysql|mariadb|mssql|oracle)[\w+]*:")
QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)
ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".arrow", ".feather")


def files_of(path: str) -> list[Path]:
    """The files that a path, a folder or a pattern stands for."""
    if path == STDIN:
        return [Path(STDIN)]
    _refuse_database(path)
    if os.path.isdir(path):
        return _in_folder(Path(path))
    if os.path.exists(path):
        return [Path(path)]
    if glob.has_magic(path):
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise DataError(f"no file matches {path!r}.", "check the pattern and the folder.")
        # What a folder holds is matched by itself where it should be, as in **.
        files = [Path(name) for name in matches if os.path.isfile(name)]
        return files or [file for name in matches for file in files_of(name)]
    if is_edges(path):
        raise DataError(f"{path!r} looks like edges, where data are taken.", DATA_ALONE)
    raise DataError(f"there is no file or folder {path!r}.", near_files(path) or "check the path.")


def _refuse_database(path: str) -> None:
    """Refuse a query, or a database, in place of files of data."""
    is_database = path.lower().endswith(DATABASES) or ADDRESS.match(path) is not None
    if is_database or (QUERY.match(path) and not os.path.exists(path)):
        label = without_secrets(re.sub(r"^(sqlite|duckdb):(///)?", "", path))
        query, database = ("select ...", repr(label)) if is_database else (label, "...")
        raise DataError(
            f"{label!r} is a {'database' if is_database else 'query'}, not a file of data.",
            f"give lacunet.Data(query={query!r}, database={database}) in its place (on the command "
            "line --sql and --database).",
        )


def _in_folder(folder: Path) -> list[Path]:
    """The data files of a folder and below, without hidden ones and markers like _SUCCESS."""
    files = [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and file.name.lower().endswith(ENDINGS)
        and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    ]
    if not files:
        raise DataError(
            f"the folder {str(folder)!r} holds no data file.",
            f"data files end in {', '.join(ENDINGS)}.",
        )
    return files
