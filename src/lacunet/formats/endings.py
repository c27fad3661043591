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

STATISTICS = ".stats"
OF_DATA = (".csv", ".tsv", ".parquet", ".arrow", ".feather")  # those of `lacunet.data.files`
