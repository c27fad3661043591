"""Panels on a Spark cluster: rows of units in waves become one row for each unit, over there.

What `lacunet.data.panels` does with rows in memory is said in SQL. What comes back are the first
and the last wave, and an example of whatever is wrong. The network has to be known: its states
cannot be found in rows that stay where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lacunet.data.data import Data
from lacunet.data.errors import DataError, short_list
from lacunet.data.frames import frame_part
from lacunet.data.matching import MISSING_TOKENS
from lacunet.data.panels import LongPanel, WidePanel, in_waves
from lacunet.data.source_parts import source_of
from lacunet.network.spelling import spelled
from lacunet.network.waves import MOST_WAVES, in_time, wave_name

WHAT_IS_WRONG = "number the waves: 0, 1, 2 and so on."


def units_on_spark(data: Data, variables: Collection[str]) -> Data:
    """The same with a row for each unit, for a network of these variables.

    Raises
    ------
    DataError
        The rows are not those of units in waves; the message has an example.
    """
    source = source_of([frame_part(data.source)])
    panel: Any
    if data.waves is not None:
        panel = WidePanel(source, data.waves)
        frame = data.source.selectExpr(*_wide_columns(panel, variables))
    else:
        LongPanel(source, str(data.unit), str(data.time))  # that its columns are there
        panel = SparkPanel(data.source, str(data.unit), str(data.time), data)
        frame = panel.units(variables)
    plain = in_waves(data, panel, variables)
    return replace(plain, source=frame, unit=None, time=None, waves=None, held_panel={})


@dataclass(frozen=True, eq=False)
class SparkPanel:
    """Rows that each hold one unit in one wave, on a cluster."""

    frame: Any
    unit: str
    time: str
    data: Data  # which says what is missing

    @property
    def varying(self) -> list[str]:
        """The columns that may differ from wave to wave."""
        return [name for name in self.frame.columns if name not in (self.unit, self.time)]

    @property
    def waves(self) -> range:
        """The waves, from the first that is seen to the last."""
        wave, unit, time = self._wave, _quoted(self.unit), _quoted(self.time)
        if self._first(f"SELECT 1 FROM {{rows}} WHERE {unit} IS NULL"):
            raise DataError(
                f"the column {self.unit!r} is empty in some row, and unit= names it.",
                "every row says which unit it is of, and in which wave.",
            )
        is_wrong = f"{wave} IS NULL OR {wave} <> floor({wave})"
        for (value,) in self._first(f"SELECT {time} FROM {{rows}} WHERE {is_wrong}"):
            raise DataError(
                f"{value!r} in the column {self.time!r} is not a whole number, and time= names it.",
                WHAT_IS_WRONG,
            )
        ends = self._first(f"SELECT min({wave}), max({wave}) FROM {{rows}}")[0]
        if ends[0] is None:
            raise DataError.no_rows("the Spark DataFrame")
        waves = range(int(ends[0]), int(ends[1]) + 1)
        if len(waves) > MOST_WAVES:
            raise DataError(
                f"the column {self.time!r} has waves from {waves[0]:,} to {waves[-1]:,}, more than "
                f"{MOST_WAVES:,}.",
                WHAT_IS_WRONG,
            )
        return waves

    def units(self, variables: Collection[str]) -> Any:
        """A row for each unit, with the columns that a network of these variables wants."""
        unit, wave, waves = _quoted(self.unit), self._wave, self.waves
        twice = f"SELECT {unit}, {wave} FROM {{rows}} GROUP BY {unit}, {wave} HAVING count(*) > 1"
        for name, number in self._first(twice):
            raise DataError(
                f"unit {spelled(name)!r} is in wave {int(number)} twice.",
                "a unit has one row in a wave: drop the other, or number the waves anew.",
            )
        columns = [unit]
        beside = [name for name in self.data.beside if name in self.frame.columns]
        for name in dict.fromkeys((*variables, *beside)):
            node = in_time(name)
            if name in self.frame.columns:
                columns.append(f"{self._constant(name)} AS {_quoted(name)}")
            elif node.wave in waves and node.name in self.varying:
                cell = f"CASE WHEN {wave} = {node.wave} THEN {_quoted(node.name)} END"
                columns.append(f"max({cell}) AS {_quoted(name)}")
        return self._sql(f"SELECT {', '.join(columns)} FROM {{rows}} GROUP BY {unit}")

    def _constant(self, name: str) -> str:
        """What is the same in all rows of a unit."""
        unit, column = _quoted(self.unit), _quoted(name)
        spelling = f"CAST({column} AS STRING)"
        codes = self.data.codes_in(name)
        missing = {*MISSING_TOKENS, *map(spelled, self.data.missing.get(None, ()))}
        missing |= {code for code, state in codes.items() if state is None}
        missing -= {code for code, state in codes.items() if state is not None}
        shown = f"CASE WHEN {spelling} NOT IN ({', '.join(map(_text, sorted(missing)))}) "
        states = [
            f"WHEN {_text(code)} THEN {_text(str(state))}"
            for code, state in codes.items()
            if state is not None
        ]
        spoken = f"CASE {spelling} {' '.join(states)} ELSE {spelling} END" if states else spelling
        meant = f"{shown} THEN {spoken} END"
        query = (
            f"SELECT {unit}, min_by({column}, {meant}), max_by({column}, {meant}) "
            f"FROM {{rows}} GROUP BY {unit} HAVING min({meant}) <> max({meant})"
        )
        for label, first, other in self._first(query):
            raise DataError(
                f"{name!r} of unit {spelled(label)!r} is {spelled(first)!r} in one row and "
                f"{spelled(other)!r} in another.",
                f"without a wave it is the same in all rows of a unit; else write {name}[t].",
            )
        return f"max({shown} THEN {column} END)"

    @property
    def _wave(self) -> str:
        return f"try_cast({_quoted(self.time)} AS DOUBLE)"

    def _sql(self, text: str) -> Any:
        return self.frame.sparkSession.sql(text, rows=self.frame)

    def _first(self, text: str) -> list[Any]:
        """The first row of a query, if there is one."""
        return list(self._sql(f"{text} LIMIT 1").collect())


def _wide_columns(panel: WidePanel, variables: Collection[str]) -> Iterator[str]:
    """The columns of waves under the names of the network, and all others as they are."""
    taken = {column for columns in panel.columns_of.values() for column in columns}
    for name in panel.rows.columns:
        if name not in taken:
            yield _quoted(name)
    for variable, columns in panel.columns_of.items():
        for wave, column in zip(panel.waves, columns, strict=True):
            node = wave_name(variable, wave)
            if node in variables:
                cell = "CAST(NULL AS STRING)" if column is None else _quoted(column)
                yield f"{cell} AS {_quoted(node)}"


def _quoted(name: str) -> str:
    """A name as SQL has it, within a text whose braces are filled in."""
    if "{" in name or "}" in name:
        raise DataError(
            f"columns of panels on Spark are named without braces: {short_list([name])}."
        )
    return f"`{name.replace('`', '``')}`"


def _text(text: str) -> str:
    """A string as SQL has it, within a text whose braces are filled in."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped.replace('{', '{{').replace('}', '}}')}'"
