"""What a result knows beyond its network, as JSON and back.

Values are written by their class and fields, arrays by their bytes, so that every number comes
back to the last bit. Only the classes listed here are made when a file is read, and the file says
by a hash whether it was changed since: numbers that no longer belong together are refused.

Formulas come back as the words that they are written in, in every notation; networks by their
tables, each structure once.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np

from lacunet.counts.counts import Counts, Tally
from lacunet.counts.em_problems.cell_layout import Layout, layout_of
from lacunet.data.donors import Donors
from lacunet.learning.alternatives import Alternative, Alternatives
from lacunet.learning.closed_forms.influence import RowInfluence
from lacunet.learning.dense.dense_network import DenseNetwork
from lacunet.learning.dense.log_linear import LogLinearForm, Parameters
from lacunet.learning.dense.residual_tables import ResidualTable
from lacunet.learning.dense.scales import Scale
from lacunet.learning.family_reports import FamilyReport, Warned
from lacunet.learning.interval_recipes import Uncertainty
from lacunet.learning.plan import Ended, Estimated
from lacunet.learning.pseudo_counts import PseudoCounts
from lacunet.learning.uncertainty.cpt_intervals import Spread
from lacunet.learning.uncertainty.frequencies import Uncorrelated
from lacunet.learning.uncertainty.jackknife import Replicates
from lacunet.learning.uncertainty.posterior import DirichletPosterior, EmPosterior, PosteriorSpread
from lacunet.learning.uncertainty.rate_matrix import Direction, EmSpreads, Free, FreeShape
from lacunet.missingness.formulas.notation import LATEX, MATHML, PLAIN_TEXT, Notation
from lacunet.network.cpt import Cpt
from lacunet.network.formats.errors import FormatError
from lacunet.network.formats.lacunet_json import parse, render
from lacunet.network.formats.source import Source
from lacunet.network.network import Network, Scope

RESULT_VERSION = 1
NOTATIONS: Mapping[str, Notation] = {"text": PLAIN_TEXT, "latex": LATEX, "mathml": MATHML}


@dataclass(frozen=True)
class WrittenFormula:
    """A formula as it was written."""

    text: str
    latex: str
    mathml: str
    given: Scope

    def written(self, notation: Notation) -> str:
        """In plain text, LaTeX or MathML."""
        name = next(name for name, known in NOTATIONS.items() if known is notation)
        return str(getattr(self, name))


REPORTS = (
    Alternative,
    Alternatives,
    Counts,
    Cpt,
    Donors,
    Ended,
    FamilyReport,
    PseudoCounts,
    Tally,
)
SPREADS = (
    Direction,
    DirichletPosterior,
    EmPosterior,
    EmSpreads,
    Estimated,
    Free,
    FreeShape,
    PosteriorSpread,
    Replicates,
    RowInfluence,
    Spread,
    Uncertainty,
    Uncorrelated,
)
DENSE = (DenseNetwork, LogLinearForm, Parameters, ResidualTable, Scale)
# By the names that files have. Of a formula only its words are kept.
CLASS_OF_NAME: dict[str, type] = {
    kind.__name__: kind for kind in (*REPORTS, *SPREADS, *DENSE, WrittenFormula)
}
NAME_OF: Mapping[type, str] = {kind: name for name, kind in CLASS_OF_NAME.items()}


def as_json(network: Network, known: Mapping[str, object]) -> str:
    """What is known beyond a network, with a hash over both.

    Parameters
    ----------
    known
        Numbers, strings, arrays, networks, values of the `CLASS_OF_NAME`, and mappings and
        sequences of these.
    """
    structures: dict[str, int] = {}
    content = _written(known, structures)
    data = {"version": RESULT_VERSION, "structures": [*structures], "known": content}
    whole = json.loads(render(network, json.dumps(data)))
    return json.dumps({"sha256": _digest(whole), **data})


def from_json(name: str, text: str) -> dict[str, Any] | None:
    """What the text of a network's file knows beyond the network, None where that is nothing.

    Raises
    ------
    FormatError
        It is of another version, or was changed after it was written.
    """
    whole = json.loads(text)
    learned = whole.get("learned")
    if learned is None:
        return None
    digest = learned.pop("sha256", None) if isinstance(learned, dict) else None
    if digest != _digest(whole) or learned.get("version") != RESULT_VERSION:
        raise FormatError(
            f"{name}: the file was changed after it was written, or by another version of lacunet: "
            "what it says about intervals and counts may not belong to its CPTs.",
            f"learn again, or keep the network alone: lacunet convert {name} network.json.",
        )
    try:
        structures = [parse(Source.of(name, text)) for text in learned["structures"]]
        return dict(_read(learned["known"], structures))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise FormatError.unsound(name, "result", error) from None


def _digest(whole: Mapping[str, Any]) -> str:
    """A hash of what a file says, however it is laid out."""
    return sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _written(value: Any, structures: dict[str, int]) -> Any:
    """A value as JSON has it; objects say in ``is`` what they are.

    The structure of a network is written once: ``structures`` has the index of each.
    """
    written = partial(_written, structures=structures)
    match value:
        case None | bool() | str():
            parts = value.__getnewargs__() if isinstance(value, Warned) else ()
            encoded: Any = {"is": "warning", "of": [*map(written, parts)]} if parts else value
        case int() | np.integer():
            encoded = int(value)
        case float() | np.floating():
            encoded = {"is": "float", "value": float(value).hex()}
        case np.ndarray():
            plain = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
            encoded = {
                "is": "array",
                "type": plain.dtype.str,
                "shape": list(value.shape),
                "bytes": base64.b64encode(plain.tobytes()).decode("ascii"),
            }
        case _ if type(value) in NAME_OF:
            kept = [field.name for field in fields(value) if field.metadata.get("kept", True)]
            content = {name: written(getattr(value, name)) for name in kept}
            encoded = {"is": NAME_OF[type(value)], "fields": content}
        case Mapping():
            encoded = {"is": "map", "of": [[key, written(part)] for key, part in value.items()]}
        case tuple() | list():
            encoded = [*map(written, value)]
        case Network():
            structure = value.with_tables(None).with_bootstrap(None)  # the result's network has it
            index = structures.setdefault(render(structure), len(structures))
            encoded = {"is": "network", "structure": index, "tables": written(value.tables_of)}
        case Layout():
            encoded = {"is": "layout", "network": written(value.network)}
        case _:  # a formula
            words = {name: value.written(notation) for name, notation in NOTATIONS.items()}
            encoded = written(WrittenFormula(**words, given=tuple(value.given)))
    return encoded


def _read(data: Any, structures: Sequence[Network]) -> Any:
    """The value that was written."""
    read = partial(_read, structures=structures)
    if isinstance(data, list):
        return tuple(map(read, data))
    if not isinstance(data, dict):
        return data
    match data["is"]:
        case "float":
            value: Any = float.fromhex(data["value"])
        case "array":
            value = _array(data)
        case "map":
            value = {key: read(part) for key, part in data["of"]}
        case "network":
            tables = read(data["tables"])
            value = structures[data["structure"]]
            value = value if tables is None else value.with_tables(tables)
        case "layout":
            value = layout_of(read(data["network"]))
        case "warning":
            value = Warned(*read(data["of"]))
        case kind:
            known = {name: read(part) for name, part in data["fields"].items()}
            value = CLASS_OF_NAME[kind](**known)  # refuses fields that it does not have
    return value


def _array(data: Mapping[str, Any]) -> Any:
    kind = np.dtype(data["type"])
    if kind.kind not in "biuf":
        raise ValueError(f"an array of {kind} is not known")
    content = base64.b64decode(data["bytes"], validate=True)
    array = np.frombuffer(content, kind).reshape(data["shape"])
    return array.astype(kind.newbyteorder("="))
