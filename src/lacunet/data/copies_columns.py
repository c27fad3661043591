"""Tables of distinct rows, as `lacunet.count` makes them: what they say of their own columns.

Such a table is an ordinary one: a column of text for each variable, and numbers beside it. The
metadata of its schema, which Arrow and Parquet keep, say which column holds what. So data that were
counted are read as what they are, without an option.
"""

from __future__ import annotations

import filecmp
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from lacunet.data.errors import DataError, short_list
from lacunet.data.paths import STDIN, files_of

KEY = b"lacunet"  # of the entry in the metadata; its value is JSON
COUNTED_FROM = "counted_from"  # the names of the files that were counted
PARQUET = (".parquet",)
ARROW_ENDINGS = (".arrow", ".feather")
VARIABLES_KEY = "variables"  # the columns that hold their states
COLUMN_NAMES = {  # of columns that say something of rows, where the data had none for them
    "counts": "copies",
    "weight": "weight",
    "squared_weight": "squared weight",
    "strata": "stratum",
    "cluster": "cluster",
}
COLUMNS = (*COLUMN_NAMES,)  # as `Data` calls them


def with_description(table: Any, description: Mapping[str, Any]) -> Any:
    """An Arrow table that says of its columns what they hold."""
    return table.replace_schema_metadata({KEY: json.dumps(description)})


def roles_in_schema(schema: Any) -> dict[str, Any]:
    """What the schema of an Arrow table says of its columns; nothing of one that was not counted.

    Raises
    ------
    DataError
        It says something that `lacunet.count` does not write.
    """
    text = (schema.metadata or {}).get(KEY)
    if text is None:
        return {}
    try:
        description = json.loads(text)
    except ValueError:
        description = None
    if not isinstance(description, dict) or not _is_sound(description):
        raise DataError(
            "what the table says of its columns is damaged.",
            f"count the data again, or drop the entry {KEY.decode()!r} of the schema's metadata "
            "and name the columns: lacunet.Data(..., counts=...).",
        )
    _refuse_mixed(schema.names, description)
    return description


def _refuse_mixed(columns: Sequence[str], description: Mapping[str, Any]) -> None:
    """Refuse counted parts of different kinds in one table, which describes the first alone."""
    described = {description[option] for option in COLUMNS if option in description}
    described |= {*description.get(VARIABLES_KEY, ())}
    if VARIABLES_KEY not in description:
        return
    if other := [
        name for name in COLUMN_NAMES.values() if name in columns and name not in described
    ]:
        raise DataError(
            f"a table of counted rows has the columns {short_list(other)}, of which it does not "
            "say what they hold: some of its parts seem to be counted with weights or a design, "
            "others without.",
            "count all parts with the same options, and give them as a list: [here, there]; or "
            "drop these columns.",
        )


def _is_sound(description: dict[str, Any]) -> bool:
    """Whether everything that is said has the type that it should have."""
    names = [description[option] for option in COLUMNS if option in description]
    replicates = description.get("replicate_weights", {"columns": [], "factors": []})
    if not isinstance(replicates, dict) or {*replicates} != {"columns", "factors"}:
        return False
    factors = replicates["factors"]
    lists_of_names = [replicates["columns"]]
    lists_of_names += [description.get(key, []) for key in ("latent", COUNTED_FROM, VARIABLES_KEY)]
    mappings = [description.get("codes", {}), description.get("not_asked", {})]
    if not all(isinstance(each, list) for each in [factors, *lists_of_names]):
        return False
    if not all(isinstance(each, dict) for each in mappings):
        return False
    names += chain.from_iterable(lists_of_names)
    are_names = all(isinstance(name, str) for name in names)
    are_numbers = all(isinstance(factor, float | int) for factor in factors)
    return are_names and are_numbers


def roles_in_data(source: Any) -> dict[str, Any]:
    """What data say of their own columns before they are read: the first part stands for all.

    What is wrong with a file is told when it is read.
    """
    several = source if isinstance(source, list | tuple) else [source]
    first = several[0] if several else None
    if isinstance(first, str | os.PathLike):
        from pyarrow import ArrowException

        with suppress(OSError, ValueError, ArrowException):  # also of names that are not UTF-8
            return _said_in_file(os.fspath(first))
        return {}
    is_arrow = type(first).__module__.partition(".")[0] == "pyarrow"
    schema = getattr(first, "schema", None) if is_arrow else None
    return {} if schema is None else roles_in_schema(schema)


def _said_in_file(path: str) -> dict[str, Any]:
    if path == STDIN:
        return {}
    file = files_of(path)[0]
    name = file.name.lower()
    if not name.endswith(PARQUET + ARROW_ENDINGS) or not file.is_file():
        return {}
    if name.endswith(PARQUET):
        from pyarrow import parquet

        return roles_in_schema(parquet.read_schema(file))
    import pyarrow as pa

    with pa.memory_map(str(file)) as opened:
        try:
            return roles_in_schema(pa.ipc.open_file(opened).schema)
        except pa.ArrowInvalid:
            return roles_in_schema(pa.ipc.open_stream(opened).schema)


def refuse_copies(files: Sequence[Path]) -> None:
    """Refuse two files of one count: their rows would count twice.

    Raises
    ------
    DataError
        Two files that say which data they were counted from hold the same bytes.
    """
    by_size: dict[int, list[Path]] = {}
    for file in files:
        if not file.is_file() or not _said_in_file(str(file)).get(COUNTED_FROM):
            continue
        alike = by_size.setdefault(file.stat().st_size, [])
        for other in alike:
            if filecmp.cmp(other, file, shallow=False):
                raise DataError(
                    f"{str(other)!r} and {str(file)!r} hold the same rows, counted from files of "
                    "the same name: they would count twice.",
                    "leave one out. If they are two places' rows that happen to be equal, count "
                    "them from files of different names.",
                )
        alike.append(file)
