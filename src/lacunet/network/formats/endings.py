"""How the names of files end, of networks and of data: known before a reader is loaded."""

from __future__ import annotations

from collections.abc import Mapping

# The module of each, with parse(source) -> Network and render(network) -> str.
FORMATS: Mapping[str, str] = {
    ".bif": "bif",
    ".xmlbif": "xmlbif",
    ".bifxml": "xmlbif",  # the same format under the name that pyAgrum gives it
    ".xml": "xmlbif",
    ".net": "net",
    ".dsc": "dsc",
    ".xdsl": "xdsl",
    ".uai": "uai",
    ".json": "lacunet_json",
}

# Formats that are read, but not written: of programs that have others by now, or read others too.
READ_ONLY: Mapping[str, str] = {".dne": "dne", ".dsl": "dsl"}
READABLE_FORMATS: Mapping[str, str] = {**FORMATS, **READ_ONLY}

OF_DATA = (".csv", ".tsv", ".parquet", ".arrow", ".feather")  # those of `lacunet.data.data_files`
