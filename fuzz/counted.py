"""Damaged and forged files of statistics, held against a reader that uses none of our code.

A third of the files have damaged bytes, a third a changed header, a third changed contents. Half of
the changes are forged well: all hashes are made to fit, so that only sense can tell them.
"""

from __future__ import annotations

import json
import math
import random
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import lacunet as lc
from damage import damaged
from lacunet.errors import LacunetError
from lacunet.estimate.count import merge_into
from lacunet.statistics.saved.soundness import Digest, seal

NETWORK = lc.Network(
    {"A": ["no", "yes"], "B": ["low", "middle", "high"], "C": ["no", "yes"]},
    {"B": ["A"], "C": ["A", "B"]},
)
METHODS = ("direct-mcar", "listwise", "em")
NUMBERS = ("lacunet:rows", "lacunet:weight", "lacunet:squares")
ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 0.5, -0.5, 1e308, 10**30, "", "A", "B", "yes", "rows", "em",
    "families", [], {}, ["A"], [["A"]], {"A": 1}, float("nan"), float("inf"),
)  # fmt: skip


def prepared(seed: int) -> Callable[[int], str]:
    """What reads the file of a number: all bases are written beforehand."""
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="lacunet-fuzz-"))
    bases = _bases(folder)

    def check(number: int) -> str:
        rng = random.Random(f"{seed} {number}")
        base = rng.choice(bases)
        path = folder / "rows.stats"
        way = rng.randrange(3)
        if way == 0:
            path.write_bytes(damaged(base.read_bytes(), rng))
        else:
            _forge(base, path, rng, rng.random() < 0.5, in_header=way == 1)
        try:
            found = lc.learn(NETWORK, path, "direct-mcar", prior=1)
        except LacunetError as error:
            assert path.name in str(error), f"no place: {error}"
            return "refused"
        _hold(found, path)
        return "read"

    return check


def _bases(folder: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    paths = []
    for method in METHODS:
        for weight in (None, "w"):
            parts = []
            for day in range(2):
                rows: dict[str, Any] = {
                    name: [
                        None if code == len(states) else states[code]
                        for code in rng.integers(0, len(states) + (name != "A"), 30)
                    ]
                    for name, states in NETWORK.states_of.items()
                }
                rows["w"] = rng.uniform(0.5, 2, 30).tolist()
                given: dict[str, Any] = {"weight": weight, "cluster": None}
                if weight is not None and day:  # what files say that they do not keep
                    given["cluster"] = [number % 5 for number in range(30)]
                    given["codes"] = {} if method == "em" else {"B": {"rest": ["middle", "high"]}}
                    rows["B"][:3] = [None] * 3 if method == "em" else ["rest"] * 3
                path = folder / f"{method}-{weight}-{day}.stats"
                lc.count(NETWORK, lc.Data(rows, **given), method, part=str(day)).write(path)
                parts.append(path)
            paths += parts
            for summing in (False, True):
                path = folder / f"{method}-{weight}-{summing}.stats"
                merge_into(path, parts, summing=summing)
                paths.append(path)
    return paths


def _forge(base: Path, path: Path, rng: random.Random, fits: bool, in_header: bool) -> None:
    """Write the file with something changed; all hashes fit if it is to be believed."""
    with parquet.ParquetFile(base) as file:
        table, told = file.read(), json.loads(file.metadata.metadata[b"lacunet"])
    for _ in range(rng.choice((1, 1, 2))):
        if in_header:
            told = _changed(told, rng)
        else:
            table = _with_other_contents(table, rng)
    if fits and isinstance(told, dict):
        if not in_header and rng.random() < 0.8:
            _fit_numbers(told, table, rng)
        told["data"] = _digest(table)
        told["seal"] = seal(told)
    with parquet.ParquetWriter(path, table.schema, write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"lacunet": json.dumps(told)})


def _changed(value: Any, rng: random.Random) -> Any:
    """The value with something in it, at any depth, deleted, replaced, doubled or renamed."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        way = rng.random()
        if way < 0.15:
            return {name: own for name, own in value.items() if name != key}
        if way < 0.25:
            return {**value, str(rng.choice(ODD)): value[key]}
        return {**value, key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        way = rng.random()
        if way < 0.2:
            return value[:at] + value[at + 1 :]
        if way < 0.4:
            return [*value, value[at]]
        return [*value[:at], _changed(value[at], rng), *value[at + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.6:
        return rng.choice((value + 1, value - 1, -value, value * 2, value / 2, value + 1e-6))
    return rng.choice(ODD)


def _with_other_contents(table: pa.Table, rng: random.Random) -> pa.Table:
    """The table with a column or rows more, fewer, of another type, or with other values."""
    place = rng.randrange(table.num_columns)
    name, column = table.column_names[place], table.column(place)
    way = rng.randrange(8)
    if way == 0:
        return table.remove_column(place)
    if way == 1:
        return table.append_column(rng.choice((name, "more")), column)
    if way == 2:
        rows = [rng.randrange(table.num_rows) for _ in range(table.num_rows)]
        return table.take(sorted(rows) if rng.random() < 0.5 else rows)
    if way == 3:
        kind = rng.choice((pa.string(), pa.int32(), pa.float64(), pa.int64(), pa.bool_()))
        try:
            return table.set_column(place, name, column.cast(pa.string()).cast(kind))
        except pa.ArrowException:
            return table
    if way == 4:
        return table.slice(rng.randrange(table.num_rows))
    values = column.to_pylist()
    for _ in range(rng.choice((1, 1, 5))):
        at = rng.randrange(len(values))
        values[at] = _other(values[at], rng)
    kind = getattr(column.type, "value_type", column.type)
    try:
        return table.set_column(place, name, pa.array(values, kind))
    except pa.ArrowException:
        return table


def _other(old: Any, rng: random.Random) -> Any:
    if isinstance(old, bool):
        return rng.choice((None, not old))
    if isinstance(old, float):
        return rng.choice((None, -old, old + 1, old * 2, 0.0, math.nan, math.inf, 1e300))
    if isinstance(old, int):
        return rng.choice((None, -old, old + 1, old * 2 % 2**30, 0, 2**30, old - 1))
    return rng.choice((None, "yes", "no", "low", "A", "C", "other"))


def _fit_numbers(told: dict[str, Any], table: pa.Table, rng: random.Random) -> None:
    """Make the header say what the contents have, as far as they can be added up."""
    try:
        rows = table.to_pylist()
        own = [row for row in rows if row.get("family", "A") == "A" and not row.get("complete")]
        told["rows"] = sum(row[NUMBERS[0]] for row in own)
        told["total"] = sum(row[NUMBERS[1]] for row in own)
        parts = [part for block in told["parts"] for part in block]
        if rng.random() < 0.5:
            told["parts"] = [[{**parts[0], "rows": told["rows"]}]]
        if told["kind"] == "rows":
            told["missing"] = {
                name: sum(row[NUMBERS[0]] for row in rows if row[name] is None)
                for name in NETWORK.variables
            }
            told["fully_observed"] = [v for v, number in told["missing"].items() if not number]
    except (TypeError, KeyError):
        return


def _digest(table: pa.Table) -> str:
    """The hash that the contents should have, where they have one."""
    digest = Digest()
    try:
        for place, name in enumerate(table.column_names):
            values = table.column(place).to_pylist()
            if name in NETWORK.states_of:
                states = [*NETWORK.states(name), None]
                array = np.array([states.index(value) for value in values], dtype=np.uint8)
            elif name == "family":
                array = np.array([NETWORK.variables.index(v) for v in values], dtype=np.int32)
            else:
                kind = table.column(place).type.to_pandas_dtype()
                array = np.array(values, dtype=kind)
            digest.add({name: array})
    except (ValueError, TypeError, OverflowError, NotImplementedError):
        return "none"
    return digest.text()


def _hold(found: lc.Result, path: Path) -> None:
    """Compare with what a plain reader makes of the contents."""
    # `read_table` refuses sound rows where the footer says a type twice, once damaged
    rows = parquet.ParquetFile(path).read().to_pylist()
    for row in rows:
        assert row[NUMBERS[0]] >= 1, "rows that do not exist"
        assert 0 <= row[NUMBERS[1]] < math.inf, "weights that cannot be"
        assert 0 <= row[NUMBERS[2]] < math.inf, "squares that cannot be"
    for child in NETWORK.variables:
        family = NETWORK.family(child)
        weight: dict[tuple[int, ...], float] = defaultdict(float)
        number = 0
        for row in rows:
            cell = _cell(row, family)
            if cell is not None:
                number += row[NUMBERS[0]]
                if all(code < NETWORK.cardinality(v) for code, v in zip(cell, family, strict=True)):
                    weight[cell] += row[NUMBERS[1]]
        assert number == found.rows, f"{number} rows, and {found.rows} are told"
        table = found.network.cpt(child).table
        for given in {cell[:-1] for cell, own in weight.items() if own > 0}:
            own = np.array([weight[(*given, at)] for at in range(NETWORK.cardinality(child))])
            assert np.allclose(table[given], own / own.sum(), rtol=1e-9, atol=1e-12), "other CPTs"


def _cell(row: dict[str, Any], family: tuple[str, ...]) -> tuple[int, ...] | None:
    """The codes that an entry shows of a family, None if it is of another."""
    if "family" not in row:
        return tuple([*NETWORK.states(v), None].index(row[v]) for v in family)
    if row["family"] != family[-1] or row["complete"]:
        return None
    codes, rest = [], row["cell"]
    for variable in reversed(family):
        rest, code = divmod(rest, NETWORK.cardinality(variable) + 1)
        codes.append(code)
    return tuple(reversed(codes))
